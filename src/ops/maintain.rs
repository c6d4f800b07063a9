//! What the store does for itself: founding a log, enforcing retention, bringing time back.

use super::schedule;
use super::sweep::{Swept, sweep_queue};
use crate::change::Change;
use crate::error::Error;
use crate::id::{Instant, Millis, QueueId, Token};
use crate::lease::{LeaseRow, LeaseState};
use crate::limits::{SWEEP_ROWS_MAX, TOKENS_PER_MS};
use crate::name::Name;
use crate::table::Table;
use crate::task::{Claim, Task, TaskRow, TaskState};
use crate::txn::Txn;

/// The first command of a log. Tokens start a second ahead, above those of a log that was just
/// lost.
pub fn found(txn: &mut Txn<'_>, store: Name) {
    begin_tokens(txn);
    txn.staged.note(Change::Founded { store, rows: None });
}

/// The same for a log whose rows are those of a snapshot.
pub fn found_restoring(txn: &mut Txn<'_>, store: Name) {
    begin_tokens(txn);
    txn.staged.note(Change::Restoring { store });
}

fn begin_tokens(txn: &mut Txn<'_>) {
    let ahead = txn.now.after(Millis::saturating(1_000)).get() * TOKENS_PER_MS;
    txn.staged.counters.token = txn.staged.counters.token.max(Token::saturating(ahead));
}

/// Sweeps all queues and removes old lease records, one commit's worth.
pub fn maintain(txn: &mut Txn<'_>) -> Result<Swept, Error> {
    let mut total = Swept::default();
    for queue in 0..txn.state.queues.len() + txn.staged.new_queues() {
        let done = total.expired + total.purged + total.freed;
        let left = SWEEP_ROWS_MAX.saturating_sub(done);
        if left == 0 {
            total.more = true;
            break;
        }
        let swept = sweep_queue(txn, QueueId(queue as u32), left);
        total.expired += swept.expired;
        total.purged += swept.purged;
        total.freed += swept.freed;
        total.more |= swept.more;
    }
    let (state, now) = (txn.state, txn.now);
    let gone = state.leases_gone.iter().take_while(|(place, _)| place.at <= now);
    for (_, name) in gone.take(SWEEP_ROWS_MAX) {
        if txn.staged.lease(name.as_str()).is_none() {
            txn.remove_lease(name.clone());
        }
    }
    Ok(total)
}

/// Brings the log's time back to `txn.now`. Claims and leases that would end later than their own
/// present length from now are cut to it, schedules get their next boundary on their grid after it
/// (`crons`: those that only the host can work out); nothing else is touched.
pub fn repair_clock(txn: &mut Txn<'_>, crons: &Table<Instant>) -> Result<(), Error> {
    let (state, now) = (txn.state, txn.now);
    for task in state.tasks() {
        let TaskState::Inflight(claim) = &task.row.state else { continue };
        // The row was last written by the claim or by its newest extension.
        let latest = now.after(task.row.updated_at.until(claim.deadline));
        if claim.deadline > latest {
            let claim = Claim { deadline: latest, ..claim.clone() };
            let state = TaskState::Inflight(claim);
            let row = TaskRow { state, updated_at: now, ..task.row.clone() };
            txn.put_row(Task { row, ..task.clone() });
        }
    }
    for (name, row) in state.leases.iter() {
        let LeaseState::Held { owner, until } = &row.state else { continue };
        let latest: Instant = now.after(row.ttl);
        if *until > latest {
            let state = LeaseState::Held { owner: owner.clone(), until: latest };
            txn.put_lease(name.clone(), LeaseRow { state, ..row.clone() });
        }
    }
    schedule::repair(txn, crons);
    txn.staged.note(Change::ClockRepaired);
    Ok(())
}
