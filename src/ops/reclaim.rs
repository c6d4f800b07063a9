//! Reclaim: end everything that was granted after a token, since nobody is left who holds it.
//!
//! A claim ends as if it had lapsed: the task is back in its old place, without backoff, the
//! attempt stays counted, and the token is worth nothing. A lease is released.

use crate::error::Error;
use crate::id::{QueueId, Token};
use crate::index::Order;
use crate::limits::SWEEP_ROWS_MAX;
use crate::name::Name;
use crate::task::Task;
use crate::txn::Txn;
use std::ops::Bound;

/// What one commit of it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    pub claims: usize,
    pub leases: usize,
    /// Whether the limit of one commit was reached: reclaim again.
    pub more: bool,
}

/// One commit's worth of what was granted under a later token than `since`.
pub fn reclaim(txn: &mut Txn<'_>, since: Token) -> Result<Reclaimed, Error> {
    let mut done = Reclaimed::default();
    for queue in 0..txn.state.queues.len() + txn.staged.new_queues() {
        done.claims +=
            abandon_after(txn, since, QueueId(queue as u32), SWEEP_ROWS_MAX - done.claims);
    }
    done.leases = release_after(txn, since, SWEEP_ROWS_MAX - done.claims);
    done.more = done.claims + done.leases == SWEEP_ROWS_MAX;
    Ok(done)
}

fn abandon_after(txn: &mut Txn<'_>, since: Token, queue: QueueId, max: usize) -> usize {
    let running = txn.first(Order::Inflight, queue, Bound::Unbounded, usize::MAX);
    let tasks = running.into_iter().filter_map(|(_, id)| txn.task(id).cloned());
    let held = |task: &Task| task.claim().is_some_and(|claim| claim.token > since);
    let tasks: Vec<Task> = tasks.filter(held).take(max).collect();
    let count = tasks.len();
    for task in tasks {
        let claim = task.claim().expect("the index names claims that run").clone();
        let row = task.lapsed(&claim, txn.now);
        txn.put_row(Task { row, ..task });
    }
    count
}

fn release_after(txn: &mut Txn<'_>, since: Token, max: usize) -> usize {
    let leases = &txn.state.leases;
    let merged = leases.iter().map(|(name, _)| name);
    let staged = txn.staged.leases.iter().map(|(name, _)| name);
    let staged = staged.filter(|name| leases.get(name.as_str()).is_none());
    let held = |name: &Name| {
        let row = txn.lease(name.into());
        row.is_some_and(|row| row.token > since && row.holder(txn.now).is_some())
    };
    let names: Vec<Name> =
        merged.chain(staged).filter(|name| held(name)).take(max).cloned().collect();
    let count = names.len();
    for name in names {
        let row = txn.lease((&name).into()).expect("it was just seen").released(txn.now);
        txn.put_lease(name, row);
    }
    count
}
