//! Sweep: bury what expired or lapsed for good, purge what is past its retention.

use super::{purge, text};
use crate::change::Removal;
use crate::error::Error;
use crate::id::{Millis, QueueId};
use crate::index::Order;
use crate::limits::SWEEP_ROWS_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::{DeadReason, EXHAUSTED_TEXT, EXPIRED_TEXT, FAILED_TEXT, Task};
use crate::txn::Txn;
use std::ops::Bound;
use std::sync::Arc;

/// What one sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows it made dead.
    pub expired: usize,
    /// Rows it removed; a task that was not to be kept counts in both.
    pub purged: usize,
    /// Keys it freed that had outlived their task.
    pub freed: usize,
    /// Whether the limit of one commit was reached: sweep again.
    pub more: bool,
}

/// One commit's worth of one queue.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn sweep(txn: &mut Txn<'_>, name: NameRef<'_>) -> Result<Swept, Error> {
    txn.require(Right::Manage, Realm::Queue, name)?;
    Ok(match txn.queue_id(name) {
        Some(queue) => sweep_queue(txn, queue, SWEEP_ROWS_MAX),
        None => Swept::default(),
    })
}

/// At most `max` rows and keys.
pub(super) fn sweep_queue(txn: &mut Txn<'_>, queue: QueueId, max: usize) -> Swept {
    let mut swept = bury(txn, queue, max);
    let left = max - swept.expired;
    let past = txn.first(Order::Retention, queue, Bound::Unbounded, left);
    let past: Vec<_> = past.into_iter().take_while(|(place, _)| place.at <= txn.now).collect();
    let left = left - past.len();
    swept.purged += past.len();
    for (_, id) in past {
        purge::remove(txn, id, Removal::Purged, queue);
    }
    for key in kept_past(txn, queue, left) {
        txn.free_key(queue, key);
        swept.freed += 1;
    }
    swept.more = swept.freed == left;
    swept
}

/// Keys that outlived their task long enough.
fn kept_past(txn: &Txn<'_>, queue: QueueId, max: usize) -> Vec<crate::name::Name> {
    let Some(rows) = txn.state.queues.get(queue.0 as usize) else {
        return Vec::new();
    };
    let past = rows.kept_keys().take_while(|(_, kept)| kept.until <= txn.now);
    past.filter(|(key, kept)| {
        let staged = txn.staged.kept_key(queue, key.as_str());
        staged.is_none_or(|row| row.is_some_and(|staged| staged.place() == kept.place()))
    })
    .take(max)
    .map(|(key, _)| key.clone())
    .collect()
}

/// Makes dead what expired, and what lapsed with its attempts used up.
pub(super) fn bury(txn: &mut Txn<'_>, queue: QueueId, max: usize) -> Swept {
    let doomed = txn.first(Order::Doomed, queue, Bound::Unbounded, max);
    let mut swept = Swept { expired: doomed.len(), ..Swept::default() };
    for (_, id) in doomed {
        let task = txn.task(id).expect("the index names rows that exist").clone();
        let reason = task.doom(txn.now).expect("the index names doomed rows");
        let words = match reason {
            DeadReason::Expired => EXPIRED_TEXT,
            DeadReason::Exhausted => EXHAUSTED_TEXT,
            DeadReason::Failed => FAILED_TEXT,
        };
        swept.purged += usize::from(lay_to_rest(txn, task, reason, Some(text::bounded(words))));
    }
    swept
}

/// Stages a death, or the removal where dead tasks are not kept; true for a removal.
pub(super) fn lay_to_rest(
    txn: &mut Txn<'_>,
    task: Task,
    reason: DeadReason,
    last_error: Option<Arc<str>>,
) -> bool {
    if task.spec.stamps.dead_retention == Millis::ZERO {
        txn.remove_task(task.id, task.queue, Removal::Buried { reason });
        return true;
    }
    let dead = Task { row: task.buried(reason, txn.now), ..task };
    txn.put_row(dead.clone());
    txn.put_error(Task { last_error, ..dead });
    false
}
