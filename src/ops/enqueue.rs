//! Enqueue: a new task, or the one that already holds its key.

use super::write::{self, Write};
use crate::blob::Blob;
use crate::change::Removal;
use crate::error::Error;
use crate::id::{Instant, Millis, Priority, Seq, TaskId};
use crate::limits::BATCH_ITEMS_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::{Phase, Stamps, Task, TaskRow, TaskSpec, TaskState};
use crate::txn::{KeyHolder, Txn};

/// A task to be.
#[derive(Clone, Debug)]
pub struct Enqueue<'a> {
    pub queue: NameRef<'a>,
    pub payload: Blob,
    /// Wins over `run_at`.
    pub delay: Option<Millis>,
    /// Kept as it is when it is in the past. Neither: due now.
    pub run_at: Option<Instant>,
    pub priority: Priority,
    pub key: Option<NameRef<'a>>,
    pub codec: Option<NameRef<'a>>,
    pub boundary: Option<Instant>,
    /// From now; more than 0.
    pub expires_in: Option<Millis>,
    pub stamps: Stamps,
    pub writes: Vec<Write<'a>>,
}

/// The task that an enqueue made or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    pub id: TaskId,
    pub seq: Seq,
    /// False: another task holds the key, and nothing was written.
    pub created: bool,
    pub phase: EnqueuedPhase,
}

/// What an enqueue may tell of the task's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueuedPhase {
    Known(Phase),
    /// The caller may not inspect the queue that the other task is in.
    Hidden,
}

impl<'a> Enqueue<'a> {
    /// A task with the default options, due now.
    pub fn new(queue: NameRef<'a>, payload: Blob) -> Self {
        Self {
            queue,
            payload,
            delay: None,
            run_at: None,
            priority: Priority::default(),
            key: None,
            codec: None,
            boundary: None,
            expires_in: None,
            stamps: Stamps::default(),
            writes: Vec::new(),
        }
    }
}

/// # Errors
/// `INVALID_ARGUMENT`, `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`, `CHECK_FAILED`.
pub fn enqueue(txn: &mut Txn<'_>, request: Enqueue<'_>) -> Result<Enqueued, Error> {
    require_valid(txn, &request)?;
    place(txn, request)
}

/// All or nothing.
///
/// # Errors
/// As [`enqueue`], and `LIMIT_EXCEEDED` for more than 10 000.
pub fn enqueue_many(txn: &mut Txn<'_>, requests: Vec<Enqueue<'_>>) -> Result<Vec<Enqueued>, Error> {
    if requests.len() > BATCH_ITEMS_MAX {
        let (size, limit) = (requests.len() as u64, BATCH_ITEMS_MAX as u64);
        return Err(Error::LimitExceeded { what: "items", size, limit });
    }
    require_all_valid(txn, "items", &requests)?;
    requests.into_iter().map(|request| place(txn, request)).collect()
}

pub(super) fn require_all_valid(
    txn: &Txn<'_>,
    list: &'static str,
    requests: &[Enqueue<'_>],
) -> Result<(), Error> {
    for (index, request) in requests.iter().enumerate() {
        require_valid(txn, request).map_err(|error| error.within(list, index))?;
    }
    Ok(())
}

/// Arguments and rights.
fn require_valid(txn: &Txn<'_>, request: &Enqueue<'_>) -> Result<(), Error> {
    write::require_size("payload", request.payload.len(), txn.payload_bytes_max)?;
    require_lasting(&request.stamps, request.expires_in)?;
    txn.require(Right::Enqueue, Realm::Queue, request.queue)?;
    write::require_allowed(txn, &request.writes)
}

/// Whether a task with these can be claimed at all.
pub(super) fn require_lasting(stamps: &Stamps, expires_in: Option<Millis>) -> Result<(), Error> {
    let refuse = |argument, got: u64| {
        let expected = "a whole number from 1 on";
        Err(Error::InvalidArgument { argument, expected, got: got.to_string() })
    };
    if stamps.attempts_max < 1 {
        return refuse("maxAttempts", stamps.attempts_max);
    }
    match expires_in {
        Some(Millis::ZERO) => refuse("expiresIn", 0),
        _ => Ok(()),
    }
}

/// Stages a valid request.
pub(super) fn place(txn: &mut Txn<'_>, request: Enqueue<'_>) -> Result<Enqueued, Error> {
    if let Some(found) = find_holder(txn, &request) {
        return Ok(found);
    }
    write::require_checks(txn, &request.writes).map_err(Error::CheckFailed)?;
    let queue = txn.queue_or_new(request.queue);
    let now = txn.now;
    let (id, seq) = txn.take_numbers(queue)?;
    let run_at = match request.delay {
        Some(delay) => now.after(delay),
        None => request.run_at.unwrap_or(now),
    };
    let row = TaskRow {
        run_at,
        expires_at: request.expires_in.map_or(Instant::NEVER, |wait| now.after(wait)),
        updated_at: now,
        attempt: 0,
        holds_key: request.key.is_some(),
        former_owner: None,
        state: TaskState::Waiting,
    };
    let spec = TaskSpec {
        seq,
        priority: request.priority,
        created_at: now,
        stamps: request.stamps,
        key: request.key.map(NameRef::to_name),
        codec: request.codec.map(NameRef::to_name),
        boundary: request.boundary,
        payload: request.payload,
    };
    txn.create_task(id, queue, spec, row);
    write::apply(txn, request.writes);
    let phase = if run_at <= now { Phase::Ready } else { Phase::Scheduled };
    Ok(Enqueued { id, seq, created: true, phase: EnqueuedPhase::Known(phase) })
}

/// Who holds the key now. A holder that is over is removed on the way: its row must not stand
/// beside the new one's key. One that this very transaction completed gives it up, as it does to
/// a follow-up.
fn find_holder(txn: &mut Txn<'_>, request: &Enqueue<'_>) -> Option<Enqueued> {
    let (key, queue) = (request.key?, txn.queue_id(request.queue)?);
    let (id, seq, phase) = match txn.key_holder(queue, key.as_str())? {
        KeyHolder::Kept(kept)
            if kept.until <= txn.now || txn.staged.has_kept(queue, key.as_str(), txn.began) =>
        {
            txn.free_key(queue, key.to_name());
            return None;
        }
        KeyHolder::Kept(kept) => (kept.id, kept.seq, Phase::Done),
        KeyHolder::Task(id) => {
            let task = txn.task(id).expect("the index names rows that exist");
            // The row of a completed task may be gone while its key is kept longer.
            let kept = task.key_kept_until().filter(|until| *until > txn.now);
            if task.key_kept_until().is_some() && txn.has_completed(id) {
                let task = task.clone();
                txn.put_row(Task { row: TaskRow { holds_key: false, ..task.row.clone() }, ..task });
                return None;
            }
            match task.phase(txn.now).or(kept.map(|_| Phase::Done)) {
                Some(phase) => (id, task.spec.seq, phase),
                None => {
                    txn.remove_task(id, queue, Removal::Purged);
                    return None;
                }
            }
        }
    };
    let phase = match txn.may(Right::Inspect, Realm::Queue, request.queue) {
        true => EnqueuedPhase::Known(phase),
        false => EnqueuedPhase::Hidden,
    };
    Some(Enqueued { id, seq, created: false, phase })
}
