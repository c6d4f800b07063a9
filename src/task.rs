//! A task and its lifecycle.
//!
//! ```text
//!  enqueue ──> Waiting ──claim──> Inflight ──complete──> gone, or Done while results are kept
//!                 ^  ^               │  │
//!                 │  └─fail, release─┘  ├──fail for good──────────> Dead
//!                 │                     └──expiry, used-up lapse──> Dead
//!                 └──────────────────────redrive──────────────────────┘
//! ```
//!
//! A task is three kinds of row. The [`TaskSpec`] (with payload and key) is written once. The
//! [`TaskRow`] is small and written whole by every transition, so that a claim costs tens of bytes
//! in the journal whatever the payload weighs. The notes (progress, last error, result) are written
//! when they change.
//!
//! **Invariant:** transitions are pure; they take the row as it is and give the row as it should
//! be. Time moves nothing: *ready*, *expired* and *lapsed* are what a row is at an instant. A row
//! past its retention counts as removed from that instant on.

use crate::backoff::{Backoff, Random};
use crate::blob::Blob;
use crate::error::Refusal;
use crate::id::{Instant, Millis, Priority, QueueId, Seq, TaskId, Token};
use crate::name::Name;
use std::sync::Arc;

/// What never changes about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    pub seq: Seq,
    pub priority: Priority,
    pub created_at: Instant,
    pub stamps: Stamps,
    pub key: Option<Name>,
    /// The name of the codec that made the payload; `None` is JSON.
    pub codec: Option<Name>,
    /// The boundary of the schedule that fired this task.
    pub boundary: Option<Instant>,
    pub payload: Blob,
}

/// Options resolved at enqueue; later changes of a queue's options do not reach a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// How long a claim lasts. Default 300 000 ms.
    pub lease: Millis,
    /// Claims before the task dies. Default 3, at least 1.
    pub attempts_max: u64,
    pub backoff: Backoff,
    /// How long a dead task is kept. Default for ever.
    pub dead_retention: Millis,
    /// How long a completed task and its result are kept. Default 0: removed at once.
    pub result_retention: Millis,
    /// How long the key stays taken after completion. Default 86 400 000 ms.
    pub key_retention: Millis,
}

impl Default for Stamps {
    fn default() -> Self {
        Self {
            lease: Millis::saturating(300_000),
            attempts_max: 3,
            backoff: Backoff::default(),
            dead_retention: Millis::FOREVER,
            result_retention: Millis::ZERO,
            key_retention: Millis::saturating(86_400_000),
        }
    }
}

/// What transitions change; written whole by each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// When a waiting task is due. A claimed one keeps it: it is its place in the order.
    pub run_at: Instant,
    /// Not worth running from here on; [`Instant::NEVER`] when it does not expire.
    pub expires_at: Instant,
    pub updated_at: Instant,
    /// Number of claims so far.
    pub attempt: u64,
    /// False once a follow-up took the key over.
    pub holds_key: bool,
    /// Who claimed it before; while in flight the owner is in the claim.
    pub former_owner: Option<Name>,
    pub state: TaskState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskState {
    Waiting,
    Inflight(Claim),
    Done { at: Instant },
    Dead { at: Instant, reason: DeadReason, claimed_at: Option<Instant> },
}

/// The exclusive, time-bounded right to run a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub owner: Name,
    pub token: Token,
    pub lease: Millis,
    /// The last millisecond of the claim.
    pub deadline: Instant,
    pub claimed_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadReason {
    /// Attempts used up, by failure or by lapse.
    Exhausted,
    /// Failed for good.
    Failed,
    /// Past its expiry.
    Expired,
}

/// The state that users see at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Scheduled,
    Ready,
    Inflight,
    Done,
    Dead,
}

/// A task with all its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub queue: QueueId,
    pub spec: Arc<TaskSpec>,
    pub row: TaskRow,
    pub progress: Option<Blob>,
    pub last_error: Option<Arc<str>>,
    pub result: Option<Blob>,
}

/// The engine's own words for a death by lapse or by the last failure.
pub const EXHAUSTED_TEXT: &str = "max attempts exceeded";
pub const FAILED_TEXT: &str = "failed";
pub const EXPIRED_TEXT: &str = "expired";

impl Phase {
    pub const ALL: [Self; 5] =
        [Self::Scheduled, Self::Ready, Self::Inflight, Self::Done, Self::Dead];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::Inflight => "inflight",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl DeadReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }
}

/// Questions about a task at an instant.
impl Task {
    /// `None` when the task is past its retention and only waits to be purged.
    pub fn phase(&self, now: Instant) -> Option<Phase> {
        match self.row.state {
            _ if self.gone_at() <= now => None,
            TaskState::Waiting if self.row.run_at <= now => Some(Phase::Ready),
            TaskState::Waiting => Some(Phase::Scheduled),
            TaskState::Inflight(_) => Some(Phase::Inflight),
            TaskState::Done { .. } => Some(Phase::Done),
            TaskState::Dead { .. } => Some(Phase::Dead),
        }
    }

    /// When retention ends. Tasks that wait or run stay.
    pub fn gone_at(&self) -> Instant {
        match self.row.state {
            TaskState::Waiting | TaskState::Inflight(_) => Instant::NEVER,
            TaskState::Done { at } => at.after(self.spec.stamps.result_retention),
            TaskState::Dead { at, .. } => at.after(self.spec.stamps.dead_retention),
        }
    }

    /// How long the key of a completed task stays taken.
    pub fn key_kept_until(&self) -> Option<Instant> {
        match self.row.state {
            TaskState::Done { at } => Some(at.after(self.spec.stamps.key_retention)),
            _ => None,
        }
    }

    /// Whether it waits or runs.
    pub fn is_active(&self) -> bool {
        matches!(self.row.state, TaskState::Waiting | TaskState::Inflight(_))
    }

    pub fn is_expired(&self, now: Instant) -> bool {
        self.is_active() && self.row.expires_at <= now
    }

    /// Whether its claim ran out.
    pub fn is_lapsed(&self, now: Instant) -> bool {
        matches!(&self.row.state, TaskState::Inflight(claim) if claim.deadline < now)
    }

    /// The newest claim, while the task is in flight.
    pub fn claim(&self) -> Option<&Claim> {
        match &self.row.state {
            TaskState::Inflight(claim) => Some(claim),
            _ => None,
        }
    }

    pub fn attempts_are_used_up(&self) -> bool {
        self.row.attempt >= self.spec.stamps.attempts_max
    }

    /// Why the next claim or sweep must bury it, if it must. Expiry beats exhaustion.
    pub fn doom(&self, now: Instant) -> Option<DeadReason> {
        if self.is_expired(now) {
            Some(DeadReason::Expired)
        } else if self.is_lapsed(now) && self.attempts_are_used_up() {
            Some(DeadReason::Exhausted)
        } else {
            None
        }
    }

    /// Of everything in it that is the user's and may be large.
    pub fn bytes(&self) -> usize {
        let notes = [&self.progress, &self.result];
        let notes = notes.into_iter().flatten().map(|note| note.len()).sum::<usize>();
        self.spec.payload.len() + notes + self.last_error.as_ref().map_or(0, |text| text.len())
    }

    /// The key, while this task is what takes it.
    pub fn held_key(&self) -> Option<&Name> {
        self.spec.key.as_ref().filter(|_| self.row.holds_key)
    }

    /// The most recent owner.
    pub fn last_owner(&self) -> Option<&Name> {
        match &self.row.state {
            TaskState::Inflight(claim) => Some(&claim.owner),
            _ => self.row.former_owner.as_ref(),
        }
    }

    /// The one place that decides who holds a claim. Expiry is strict: past its deadline a claim is
    /// lost even while nobody else took the task, so the answer depends on the time, never on who
    /// looked.
    pub fn require_claim(&self, token: Token, now: Instant) -> Result<&Claim, Refusal> {
        let TaskState::Inflight(claim) = &self.row.state else {
            return Err(Refusal::Settled);
        };
        if claim.token != token {
            return Err(Refusal::Fenced);
        }
        if claim.deadline < now || self.row.expires_at <= now {
            return Err(Refusal::Expired);
        }
        Ok(claim)
    }
}

/// Transitions: the row as it should be. The caller has checked that each may happen.
impl Task {
    pub fn claimed(&self, owner: Name, token: Token, lease: Millis, now: Instant) -> TaskRow {
        let claim = Claim { owner, token, lease, deadline: now.after(lease), claimed_at: now };
        TaskRow {
            attempt: self.row.attempt.saturating_add(1),
            former_owner: None,
            ..self.moved(TaskState::Inflight(claim), now)
        }
    }

    pub fn extended(&self, claim: &Claim, extend: Millis, now: Instant) -> TaskRow {
        let claim = Claim { deadline: now.after(extend), ..claim.clone() };
        TaskRow { former_owner: None, ..self.moved(TaskState::Inflight(claim), now) }
    }

    /// The claim is over since the last millisecond, and nobody has looked yet.
    pub fn lapsed(&self, claim: &Claim, now: Instant) -> TaskRow {
        let claim = Claim { deadline: now.before(), ..claim.clone() };
        TaskRow { former_owner: None, ..self.moved(TaskState::Inflight(claim), now) }
    }

    /// Back to its old place, as if it had not been claimed; or due after `delay`.
    pub fn released(&self, delay: Option<Millis>, now: Instant) -> TaskRow {
        let attempt = self.row.attempt.saturating_sub(1);
        let run_at = delay.map_or(self.row.run_at, |delay| now.after(delay));
        TaskRow { attempt, run_at, ..self.moved(TaskState::Waiting, now) }
    }

    /// Waits for another time.
    pub fn put_off(&self, run_at: Instant, now: Instant) -> TaskRow {
        TaskRow { run_at, ..self.moved(TaskState::Waiting, now) }
    }

    /// After a failed attempt, or after its last one.
    pub fn failed(
        &self,
        delay: Option<Millis>,
        is_final: bool,
        random: &mut Random,
        now: Instant,
    ) -> TaskRow {
        if is_final {
            return self.buried(DeadReason::Failed, now);
        }
        if self.attempts_are_used_up() {
            return self.buried(DeadReason::Exhausted, now);
        }
        let wait = delay.unwrap_or_else(|| self.spec.stamps.backoff.wait(self.row.attempt, random));
        TaskRow { run_at: now.after(wait), ..self.moved(TaskState::Waiting, now) }
    }

    pub fn buried(&self, reason: DeadReason, now: Instant) -> TaskRow {
        let claimed_at = match &self.row.state {
            TaskState::Inflight(claim) => Some(claim.claimed_at),
            _ => None,
        };
        self.moved(TaskState::Dead { at: now, reason, claimed_at }, now)
    }

    pub fn completed(&self, now: Instant) -> TaskRow {
        self.moved(TaskState::Done { at: now }, now)
    }

    /// Alive again, with all its attempts and without expiry, in its old place.
    pub fn redriven(&self, now: Instant) -> TaskRow {
        TaskRow { attempt: 0, expires_at: Instant::NEVER, ..self.moved(TaskState::Waiting, now) }
    }

    fn moved(&self, state: TaskState, now: Instant) -> TaskRow {
        let TaskRow { run_at, expires_at, attempt, holds_key, .. } = self.row;
        let former_owner = self.last_owner().cloned();
        TaskRow { run_at, expires_at, updated_at: now, attempt, holds_key, former_owner, state }
    }
}
