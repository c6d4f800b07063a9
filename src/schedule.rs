//! A schedule, the grid of its boundaries, and what fires once some of them have come.
//!
//! ```text
//!  schedule ──> waits for `next` ──it comes──> due ──fire──> waits for the next one in the future
//!                                                     └────> over: no boundary is left
//! ```
//!
//! A boundary is an instant at which one task is due to be made. The grid of `every` and of `at` is
//! worked out here. That of `cron` is not: the engine knows no time zones, so the host works its
//! boundaries out and hands them in as [`Passed`].
//!
//! **Invariant:** transitions are pure. A boundary fires at most once: whoever fires also moves
//! `next` beyond it, in the same commit.

use crate::blob::Blob;
use crate::id::{Instant, Millis, NotSafe, Priority};
use crate::limits::CATCH_UP_MAX;
use crate::name::Name;
use crate::task::Stamps;
use std::sync::Arc;

/// A schedule with both its rows: what was registered, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub spec: Arc<ScheduleSpec>,
    pub row: ScheduleRow,
}

/// What was registered. Written whole when somebody registers again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleSpec {
    pub when: When,
    pub job: Job,
}

/// Where it stands. Small: written by every firing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The next boundary; `None` when there is none any more.
    pub next: Option<Instant>,
    pub last_fired_at: Option<Instant>,
    /// How many tasks it has made.
    pub fired: u64,
    /// How many missed boundaries are still to be fired, after a commit that had no room for all.
    pub owed: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    Every(Interval),
    /// Opaque to the engine.
    Cron {
        expression: Arc<str>,
        time_zone: Arc<str>,
    },
    At(Instant),
}

/// A duration of at least a millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(Millis);

/// The task that each boundary makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub queue: Name,
    pub payload: Blob,
    /// The name of the codec that made the payload; `None` is JSON.
    pub codec: Option<Name>,
    pub priority: Priority,
    /// From the firing; more than 0.
    pub expires_in: Option<Millis>,
    pub catch_up: CatchUp,
    pub stamps: Stamps,
}

/// Which boundaries fire of those that have come by the time somebody fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CatchUp {
    /// Each, at most [`CATCH_UP_MAX`], the oldest first.
    #[default]
    All,
    /// The newest.
    Last,
    /// One that is the only one.
    None,
}

/// The boundaries that have come, and the one that follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// At most [`CATCH_UP_MAX`], in order.
    pub oldest: Vec<Instant>,
    pub newest: Instant,
    /// `None` when no boundary is left.
    pub next: Option<Instant>,
}

impl Interval {
    pub const SHORTEST: Self = Self(Millis::saturating(1));

    pub fn get(self) -> Millis {
        self.0
    }

    /// The first boundary after `now` on the grid that `boundary` lies on, whichever is later.
    fn first_after(self, boundary: Instant, now: Instant) -> Instant {
        let step = self.0.get();
        if boundary > now {
            let steps = (now.until(boundary).get() - 1) / step;
            return Instant::saturating(boundary.get() - steps * step);
        }
        let steps = boundary.until(now).get() / step + 1;
        boundary.after(Millis::saturating(steps.saturating_mul(step)))
    }

    fn passed(self, next: Instant, now: Instant) -> Passed {
        let step = self.0.get();
        let count = next.until(now).get() / step + 1;
        let nth = |position: u64| Instant::saturating(next.get() + position * step);
        let following = nth(count - 1).after(self.0);
        Passed {
            oldest: (0..count.min(CATCH_UP_MAX as u64)).map(nth).collect(),
            newest: nth(count - 1),
            next: (following < Instant::NEVER).then_some(following),
        }
    }
}

impl TryFrom<u64> for Interval {
    type Error = NotSafe;
    fn try_from(value: u64) -> Result<Self, NotSafe> {
        match Millis::try_from(value)? {
            Millis::ZERO => Err(NotSafe(value)),
            millis => Ok(Self(millis)),
        }
    }
}

impl When {
    /// The first boundary of a new grid. That of `cron` is known to the host only.
    pub fn first(&self, cron: Option<Instant>, now: Instant) -> Option<Instant> {
        match self {
            Self::Every(interval) => Some(now.after(interval.get())),
            Self::Cron { .. } => cron,
            Self::At(instant) => Some(*instant),
        }
    }

    /// What has come by `now`, when `next` has. `None` for `cron`.
    pub fn passed(&self, next: Instant, now: Instant) -> Option<Passed> {
        match self {
            Self::Every(interval) => Some(interval.passed(next, now)),
            Self::Cron { .. } => None,
            Self::At(_) => Some(Passed { oldest: vec![next], newest: next, next: None }),
        }
    }

    /// The next boundary after a clock that was ahead has been brought back to `now`.
    pub fn repaired(&self, next: Instant, cron: Option<Instant>, now: Instant) -> Instant {
        match self {
            Self::Every(interval) if next > now => interval.first_after(next, now),
            Self::Cron { .. } if next > now => cron.unwrap_or(next),
            _ => next,
        }
    }
}

impl Passed {
    /// Whether they are boundaries from `first` on, in order, all of which have come by `now`.
    pub fn is_sound(&self, first: Instant, now: Instant) -> bool {
        let rises = self.oldest.is_sorted_by(|one, other| one < other);
        let ends = self.oldest.last().is_some_and(|last| *last <= self.newest);
        self.oldest.first() == Some(&first)
            && rises
            && ends
            && self.oldest.len() <= CATCH_UP_MAX
            && self.newest <= now
            && self.next.is_none_or(|next| next > now)
    }
}

impl Schedule {
    /// The next boundary, once it has come.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        self.row.next.filter(|next| *next <= now)
    }

    /// The boundaries that fire, at most `room` of them, and the row as it should be then.
    pub fn fired(&self, passed: &Passed, room: usize, now: Instant) -> (Vec<Instant>, ScheduleRow) {
        assert!(room > 0, "a commit has room for one task");
        let wanted: &[Instant] = match self.spec.job.catch_up {
            CatchUp::All if self.row.owed > 0 => {
                &passed.oldest[..passed.oldest.len().min(self.row.owed as usize)]
            }
            CatchUp::All => &passed.oldest,
            CatchUp::Last => std::slice::from_ref(&passed.newest),
            CatchUp::None if passed.oldest == [passed.newest] => &passed.oldest,
            CatchUp::None => &[],
        };
        let (firing, left) = wanted.split_at(wanted.len().min(room));
        let row = ScheduleRow {
            next: left.first().copied().or(passed.next),
            last_fired_at: if firing.is_empty() { self.row.last_fired_at } else { Some(now) },
            fired: self.row.fired.saturating_add(firing.len() as u64),
            owed: left.len() as u32,
        };
        (firing.to_vec(), row)
    }
}
