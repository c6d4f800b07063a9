//! Complete: the task is over, what follows from it begins, in one commit.

use super::enqueue::{self, Enqueue, Enqueued};
use super::write::{self, Write};
use super::{ClaimRef, purge};
use crate::blob::Blob;
use crate::change::Removal;
use crate::error::{Error, Outcome, Refusal};
use crate::guard;
use crate::id::Millis;
use crate::limits::BATCH_ITEMS_MAX;
use crate::rights::{Realm, Right};
use crate::task::{Task, TaskRow};
use crate::txn::Txn;

#[derive(Clone, Debug)]
pub struct Completion<'a> {
    pub claim: ClaimRef<'a>,
    pub result: Option<Blob>,
    pub follow_ups: Vec<Enqueue<'a>>,
    pub writes: Vec<Write<'a>>,
}

/// What became of the follow-ups; a duplicate is no failure.
pub type Completed = Vec<Enqueued>;

/// # Errors
/// `PAYLOAD_TOO_LARGE`, `LIMIT_EXCEEDED`, `PERMISSION_DENIED`, `INVALID_ARGUMENT`.
pub fn complete(txn: &mut Txn<'_>, request: Completion<'_>) -> Result<Outcome<Completed>, Error> {
    require_valid(txn, &request)?;
    let claim = request.claim;
    let task = match guard::claim(txn, claim.queue, claim.id, claim.token) {
        Ok(task) => task,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Err(check) = write::require_checks(txn, &request.writes) {
        return Ok(Err(Refusal::Changed(check)));
    }
    // The follow-ups come between, so that one of them may take over the key.
    let settled = settle_without_key(txn, &task, request.result);
    let mut completed = Vec::with_capacity(request.follow_ups.len());
    for follow_up in request.follow_ups {
        completed.push(enqueue::place(txn, follow_up)?);
    }
    settle_key(txn, &task, settled, &completed);
    write::apply(txn, request.writes);
    Ok(Ok(completed))
}

/// How many of the claims were still held, and are completed now.
///
/// # Errors
/// `LIMIT_EXCEEDED` for more than 10 000, `PERMISSION_DENIED`.
pub fn complete_many(txn: &mut Txn<'_>, claims: &[ClaimRef<'_>]) -> Result<usize, Error> {
    if claims.len() > BATCH_ITEMS_MAX {
        let (size, limit) = (claims.len() as u64, BATCH_ITEMS_MAX as u64);
        return Err(Error::LimitExceeded { what: "tasks", size, limit });
    }
    for claim in claims {
        txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    }
    let mut landed = 0;
    for claim in claims {
        if let Ok(task) = guard::claim(txn, claim.queue, claim.id, claim.token) {
            let settled = settle_without_key(txn, &task, None);
            settle_key(txn, &task, settled, &[]);
            landed += 1;
        }
    }
    Ok(landed)
}

fn require_valid(txn: &Txn<'_>, request: &Completion<'_>) -> Result<(), Error> {
    if let Some(result) = &request.result {
        write::require_size("result", result.len(), txn.payload_bytes_max)?;
    }
    if request.follow_ups.len() > BATCH_ITEMS_MAX {
        let (size, limit) = (request.follow_ups.len() as u64, BATCH_ITEMS_MAX as u64);
        return Err(Error::LimitExceeded { what: "followUps", size, limit });
    }
    txn.require(Right::Settle, Realm::Queue, request.claim.queue)?;
    write::require_allowed(txn, &request.writes)?;
    enqueue::require_all_valid(txn, "followUps", &request.follow_ups)
}

/// The completed row, when results are kept. Its key is free for the moment.
fn settle_without_key(txn: &mut Txn<'_>, task: &Task, result: Option<Blob>) -> Option<Task> {
    if task.spec.stamps.result_retention == Millis::ZERO {
        txn.remove_task(task.id, task.queue, Removal::Completed);
        return None;
    }
    let row = TaskRow { holds_key: false, ..task.completed(txn.now) };
    let mut settled = Task { row, ..task.clone() };
    txn.put_row(settled.clone());
    if result.is_some() {
        settled.result = result;
        txn.put_result(settled.clone());
    }
    Some(settled)
}

/// The key stays taken by the completed task unless a follow-up took it over.
fn settle_key(txn: &mut Txn<'_>, task: &Task, settled: Option<Task>, follow_ups: &[Enqueued]) {
    let Some(key) = task.held_key() else {
        return;
    };
    // Without follow-ups nobody can have taken it: the task held it until now.
    if !follow_ups.is_empty() && txn.key_holder(task.queue, key.as_str()).is_some() {
        return;
    }
    match settled {
        Some(mut done) => {
            done.row.holds_key = true;
            txn.put_row(done);
        }
        None => purge::keep_key(txn, task, txn.now),
    }
}
