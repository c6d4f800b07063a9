//! Fail: the attempt is over; try again later, or never.

use super::sweep::lay_to_rest;
use super::write::{self, Write};
use super::{ClaimRef, text};
use crate::error::{Error, Outcome, Refusal};
use crate::guard;
use crate::id::{Instant, Millis};
use crate::rights::{Realm, Right};
use crate::task::{DeadReason, EXHAUSTED_TEXT, FAILED_TEXT, Phase, Task, TaskState};
use crate::txn::Txn;

#[derive(Clone, Debug)]
pub struct Failure<'a> {
    pub claim: ClaimRef<'a>,
    /// Cut to 4 KiB; `None` leaves the last error on a retry.
    pub text: Option<&'a str>,
    /// Instead of the backoff.
    pub delay: Option<Millis>,
    /// No further attempt.
    pub is_final: bool,
    pub writes: Vec<Write<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    pub phase: Phase,
    /// When it runs again; `None` when it is dead.
    pub run_at: Option<Instant>,
}

/// # Errors
/// `PAYLOAD_TOO_LARGE` (a write), `PERMISSION_DENIED`.
pub fn fail(txn: &mut Txn<'_>, request: Failure<'_>) -> Result<Outcome<Failed>, Error> {
    let claim = request.claim;
    txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    write::require_allowed(txn, &request.writes)?;
    let task = match guard::claim(txn, claim.queue, claim.id, claim.token) {
        Ok(task) => task,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Err(check) = write::require_checks(txn, &request.writes) {
        return Ok(Err(Refusal::Changed(check)));
    }
    let row = task.failed(request.delay, request.is_final, txn.random, txn.now);
    let words = request.text.map(text::bounded);
    let failed = if let TaskState::Dead { reason, .. } = row.state {
        let own_words = if reason == DeadReason::Failed { FAILED_TEXT } else { EXHAUSTED_TEXT };
        let words = words.unwrap_or_else(|| text::bounded(own_words));
        lay_to_rest(txn, task, reason, Some(words));
        Failed { phase: Phase::Dead, run_at: None }
    } else {
        let run_at = row.run_at;
        let waiting = Task { row, ..task };
        txn.put_row(waiting.clone());
        if words.is_some() {
            txn.put_error(Task { last_error: words, ..waiting });
        }
        let phase = if run_at <= txn.now { Phase::Ready } else { Phase::Scheduled };
        Failed { phase, run_at: Some(run_at) }
    };
    write::apply(txn, request.writes);
    Ok(Ok(failed))
}
