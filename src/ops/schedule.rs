//! Schedules: registering, firing, taking away.
//!
//! Firing makes the tasks and moves the schedule on, as one command: no boundary fires twice, and a
//! crash in between is no state that exists.

use super::enqueue::{self, Enqueue};
use super::write::require_size;
use crate::boundaries::Boundaries;
use crate::error::{Error, quoted};
use crate::id::Instant;
use crate::limits::{
    EXPRESSION_BYTES_MAX, FIRED_BYTES_MAX, FIRED_ROW_BYTES, FIRED_ROWS_MAX, NOW_MAX, SCHEDULES_MAX,
};
use crate::name::{Name, NameRef};
use crate::rights::{Realm, Right};
use crate::schedule::{Job, Passed, Schedule, ScheduleRow, ScheduleSpec, When};
use crate::table::Table;
use crate::txn::Txn;

/// A schedule to be.
#[derive(Clone, Debug)]
pub struct ScheduleRequest<'a> {
    pub name: NameRef<'a>,
    pub when: When,
    /// Of `cron`: the first boundary after now, which only the host knows.
    pub first: Option<Instant>,
    pub job: Job,
}

/// What one commit's worth of firing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// The tasks it made.
    pub tasks: usize,
    /// Whether the limit of one commit was reached: fire again.
    pub more: bool,
}

/// Registers, or registers again: with an equal `when` the next boundary stays, the job is taken
/// over.
///
/// # Errors
/// `INVALID_SCHEDULE`, `INVALID_ARGUMENT`, `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`,
/// `LIMIT_EXCEEDED`.
pub fn schedule(txn: &mut Txn<'_>, request: ScheduleRequest<'_>) -> Result<Schedule, Error> {
    let ScheduleRequest { name, when, first, job } = request;
    require_bounded(&when, txn.now)?;
    let payload_bytes_max = txn.payload_bytes_max.min(FIRED_BYTES_MAX);
    require_size("payload", job.payload.len(), payload_bytes_max)?;
    enqueue::require_lasting(&job.stamps, job.expires_in)?;
    txn.require(Right::Manage, Realm::Queue, (&job.queue).into())?;
    let former = txn.schedule(name.as_str()).cloned();
    if let Some(former) = &former {
        require_manage(txn, name, former)?;
    } else if txn.schedule_count() >= SCHEDULES_MAX {
        let (size, limit) = (SCHEDULES_MAX as u64 + 1, SCHEDULES_MAX as u64);
        return Err(Error::LimitExceeded { what: "schedules", size, limit });
    }
    let row = match former {
        Some(former) if former.spec.when == when => former.row,
        former => {
            require_first(&when, first, txn.now)?;
            let history = former.map(|former| former.row).unwrap_or_default();
            ScheduleRow { next: when.first(first, txn.now), owed: 0, ..history }
        }
    };
    let schedule = Schedule { spec: ScheduleSpec { when, job }.into(), row };
    txn.put_schedule(name.to_name(), schedule.clone());
    Ok(schedule)
}

/// Whether there was one.
///
/// # Errors
/// `PERMISSION_DENIED`, also to who may manage no queue at all.
pub fn unschedule(txn: &mut Txn<'_>, name: NameRef<'_>) -> Result<bool, Error> {
    let Some(schedule) = txn.schedule(name.as_str()).cloned() else {
        return match txn.caller {
            Some(caller) if !caller.may_somewhere(Right::Manage, Realm::Queue) => {
                Err(caller.denied(Right::Manage, name.as_str()))
            }
            _ => Ok(false),
        };
    };
    require_manage(txn, name, &schedule)?;
    txn.remove_schedule(name.to_name());
    Ok(true)
}

/// Fires what is due of the schedules whose boundaries the engine works out, one commit's worth.
///
/// # Errors
/// `LIMIT_EXCEEDED` when the ids are used up.
pub fn fire_due(txn: &mut Txn<'_>) -> Result<Fired, Error> {
    let mut room = Room::default();
    for (next, name) in due(txn).iter() {
        let schedule = txn.schedule(name.as_str()).expect("what is due is there").clone();
        let Some(passed) = schedule.spec.when.passed(next, txn.now) else { continue };
        if !fire(txn, name, &schedule, &passed, &mut room)? {
            return Ok(room.fired(true));
        }
    }
    Ok(room.fired(false))
}

/// What is due, the earliest first; of the merged ones no more than a commit fires.
fn due(txn: &Txn<'_>) -> Boundaries {
    let mut due = Boundaries::default();
    let merged = txn.state.timetable.due(txn.now);
    let merged = merged.filter(|(_, name)| txn.staged.schedule(name.as_str()).is_none());
    for (next, name) in merged.take(FIRED_ROWS_MAX) {
        due.insert(next, name.clone());
    }
    for (name, schedule) in txn.staged.schedules() {
        if let Some(next) = schedule.and_then(|schedule| schedule.due(txn.now)) {
            due.insert(next, name.clone());
        }
    }
    due
}

/// Fires a `cron` schedule whose boundaries the host worked out. Does nothing when somebody else
/// has fired or changed it since: its next boundary is not the first of them any more.
///
/// # Errors
/// `INVALID_ARGUMENT` for boundaries that are out of order or have not come; `LIMIT_EXCEEDED` when
/// the ids are used up.
pub fn fire_cron(txn: &mut Txn<'_>, name: NameRef<'_>, passed: &Passed) -> Result<Fired, Error> {
    let first = passed.oldest.first().copied();
    let found = txn.schedule(name.as_str()).cloned();
    let is_cron = |schedule: &Schedule| matches!(schedule.spec.when, When::Cron { .. });
    let Some(schedule) = found.filter(|one| is_cron(one) && one.row.next == first) else {
        return Ok(Fired::default());
    };
    if !first.is_some_and(|first| passed.is_sound(first, txn.now)) {
        return Err(Error::InvalidArgument {
            argument: "boundaries",
            expected: "instants that have come, in order, and a next one that has not",
            got: format!("{} of them", passed.oldest.len()),
        });
    }
    let mut room = Room::default();
    let all = fire(txn, &name.to_name(), &schedule, passed, &mut room)?;
    Ok(room.fired(!all))
}

/// What one commit holds already.
#[derive(Debug, Default)]
struct Room {
    tasks: usize,
    rows: usize,
    bytes: usize,
}

impl Room {
    /// How many more tasks with this payload, beside the row of their schedule. The first always
    /// fits.
    fn tasks_of(&self, payload_bytes: usize) -> usize {
        let left = FIRED_BYTES_MAX.saturating_sub(self.bytes);
        let by_size = left / (payload_bytes + FIRED_ROW_BYTES);
        let by_size = if self.rows == 0 { by_size.max(1) } else { by_size };
        by_size.min(FIRED_ROWS_MAX.saturating_sub(self.rows + 1))
    }

    fn take(&mut self, tasks: usize, payload_bytes: usize) {
        self.tasks += tasks;
        self.rows += tasks + 1;
        self.bytes += tasks * payload_bytes + (tasks + 1) * FIRED_ROW_BYTES;
    }

    fn fired(&self, more: bool) -> Fired {
        Fired { tasks: self.tasks, more }
    }
}

/// Whether all of it fired.
fn fire(
    txn: &mut Txn<'_>,
    name: &Name,
    schedule: &Schedule,
    passed: &Passed,
    room: &mut Room,
) -> Result<bool, Error> {
    let job = &schedule.spec.job;
    let payload_bytes = job.payload.len();
    let tasks_max = room.tasks_of(payload_bytes);
    if tasks_max == 0 {
        return Ok(false);
    }
    let (boundaries, row) = schedule.fired(passed, tasks_max, txn.now);
    for boundary in &boundaries {
        let task = Enqueue {
            priority: job.priority,
            codec: job.codec.as_ref().map(NameRef::from),
            boundary: Some(*boundary),
            expires_in: job.expires_in,
            stamps: job.stamps,
            ..Enqueue::new((&job.queue).into(), job.payload.clone())
        };
        enqueue::place(txn, task)?;
    }
    room.take(boundaries.len(), payload_bytes);
    let all = row.owed == 0;
    txn.move_schedule(name.clone(), schedule, row);
    Ok(all)
}

/// Brings the next boundaries back behind a clock that was ahead. `crons`: where those of `cron`
/// schedules are then; one that is not named keeps its own.
pub(super) fn repair(txn: &mut Txn<'_>, crons: &Table<Instant>) {
    let (state, now) = (txn.state, txn.now);
    for (name, schedule) in state.timetable.rows().iter() {
        let Some(next) = schedule.row.next else { continue };
        let repaired = schedule.spec.when.repaired(next, crons.get(name.as_str()).copied(), now);
        if repaired != next {
            let row = ScheduleRow { next: Some(repaired), owed: 0, ..schedule.row.clone() };
            txn.move_schedule(name.clone(), schedule, row);
        }
    }
}

fn require_bounded(when: &When, now: Instant) -> Result<(), Error> {
    match when {
        When::Every(interval) if now.after(interval.get()) > NOW_MAX => {
            let expected = "an interval that ends before the year 2200";
            invalid("when.every", expected, interval.get().to_string())
        }
        When::At(instant) if *instant > NOW_MAX => {
            invalid("when.at", "an instant before the year 2200", instant.to_string())
        }
        When::Cron { expression, .. } if expression.len() > EXPRESSION_BYTES_MAX => {
            invalid("when.cron", "at most 1024 bytes", expression.len().to_string())
        }
        When::Cron { time_zone, .. } if time_zone.len() > EXPRESSION_BYTES_MAX => {
            invalid("when.timeZone", "at most 1024 bytes", time_zone.len().to_string())
        }
        _ => Ok(()),
    }
}

/// A new grid begins after now.
fn require_first(when: &When, first: Option<Instant>, now: Instant) -> Result<(), Error> {
    match when {
        When::Cron { expression, .. } if first.is_none_or(|first| first <= now) => {
            let expected = "an expression that matches a time after now";
            invalid("when.cron", expected, quoted(expression))
        }
        _ => Ok(()),
    }
}

fn invalid(argument: &'static str, expected: &'static str, got: String) -> Result<(), Error> {
    Err(Error::InvalidSchedule { argument, expected, got })
}

/// Who may not look at the queue is told no more than the name it asked with.
fn require_manage(txn: &Txn<'_>, name: NameRef<'_>, schedule: &Schedule) -> Result<(), Error> {
    let queue = NameRef::from(&schedule.spec.job.queue);
    match txn.caller {
        Some(caller) if !txn.may(Right::Manage, Realm::Queue, queue) => {
            Err(caller.denied(Right::Manage, name.as_str()))
        }
        _ => Ok(()),
    }
}
