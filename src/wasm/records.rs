//! Rows as packed records. `pkg/src/records.ts` reads them, lazily, in the same order.

use super::writer::Writer;
use crate::event::{Event, Subject};
use crate::id::{Instant, TaskId, Version};
use crate::lease::{LeaseRow, LeaseState};
use crate::name::Name;
use crate::ops::{Enqueued, EnqueuedPhase, Swept};
use crate::schedule::{Schedule, When};
use crate::task::{Stamps, Task, TaskState};

/// A task as it is at `now`.
pub fn task(writer: &mut Writer, task: &Task, now: Instant) {
    writer.measured(|writer| {
        let claim = task.claim();
        let (died_at, reason, died_claimed_at) = match task.row.state {
            TaskState::Dead { at, reason, claimed_at } => (Some(at), Some(reason), claimed_at),
            _ => (None, None, None),
        };
        writer.number(task.id);
        writer.number(task.spec.seq);
        writer.float(task.spec.priority.get() as f64);
        writer.float(task.phase(now).map_or(f64::NAN, |phase| phase as u8 as f64));
        writer.number(task.row.attempt);
        writer.number(task.spec.stamps.attempts_max);
        writer.optional(claim.map(|claim| claim.token));
        writer.optional(claim.map(|claim| claim.deadline));
        writer.number(task.spec.created_at);
        writer.number(task.row.updated_at);
        writer.number(task.row.run_at);
        writer.finite(task.row.expires_at);
        writer.optional(claim.map(|claim| claim.claimed_at).or(died_claimed_at));
        writer.optional(died_at);
        writer.float(reason.map_or(f64::NAN, |reason| reason as u8 as f64));
        writer.optional(task.spec.boundary);
        writer.number(task.spec.stamps.result_retention);
        writer.float(f64::from(u8::from(task.is_lapsed(now))));
        writer.text(claim.map(|claim| claim.owner.as_str()));
        writer.text(task.last_owner().map(Name::as_str));
        writer.text(task.spec.key.as_ref().map(Name::as_str));
        writer.text(task.spec.codec.as_ref().map(Name::as_str));
        writer.text(task.last_error.as_deref());
        writer.blob(task.progress.as_deref());
        writer.blob(task.result.as_deref());
        writer.blob(Some(&task.spec.payload));
    });
}

/// What an enqueue made or found; the state is NaN where the caller may not know it.
pub fn enqueued(writer: &mut Writer, enqueued: &Enqueued) {
    writer.number(enqueued.id);
    writer.number(enqueued.seq);
    writer.flag(enqueued.created);
    writer.float(match enqueued.phase {
        EnqueuedPhase::Known(phase) => phase as u8 as f64,
        EnqueuedPhase::Hidden => f64::NAN,
    });
}

/// What a sweep did, and whether it has more to do.
pub fn swept(writer: &mut Writer, swept: &Swept) {
    writer.number(swept.expired as u64);
    writer.number(swept.purged as u64);
    writer.flag(swept.more);
}

/// A value; the version of an own write is not known yet.
pub fn value(writer: &mut Writer, version: Option<Version>, value: &[u8]) {
    writer.optional(version);
    writer.blob(Some(value));
}

/// A lease record; a lapsed one still tells who held it until when.
pub fn lease(writer: &mut Writer, name: &Name, row: &LeaseRow) {
    let (owner, until) = match &row.state {
        LeaseState::Held { owner, until } => (Some(owner.as_str()), *until),
        LeaseState::Released { .. } => (None, Instant::default()),
    };
    writer.text(Some(name.as_str()));
    writer.text(owner);
    writer.number(row.token);
    writer.number(until);
    writer.number(row.acquired_at);
    writer.blob(row.meta.as_deref());
}

/// An event; what it is not about is absent.
pub fn event(writer: &mut Writer, event: &Event) {
    let (mut queue, mut id, mut name, mut key) = (None, None::<TaskId>, None, None);
    match &event.subject {
        Subject::Task { queue: of, id: task, key: held } => {
            (queue, id, key) = (Some(of), Some(*task), held.as_ref());
        }
        Subject::Queue(of) => queue = Some(of),
        Subject::Lease(of) => name = Some(of),
        Subject::Value(of) => key = Some(of),
        Subject::Schedule { name: of, queue: job, made } => {
            (name, queue, id) = (Some(of), Some(job), *made);
        }
        Subject::Log => {}
    }
    let holder = event.holder.as_ref();
    writer.number(event.kind as u64);
    writer.number(event.version);
    writer.number(event.at);
    writer.optional(id);
    writer.optional(holder.map(|(_, token)| *token));
    for text in [queue, name, key, holder.map(|(owner, _)| owner)] {
        writer.text(text.map(Name::as_str));
    }
    writer.text(event.reason.as_deref());
}

/// A schedule: what was registered, and where it stands.
pub fn schedule(writer: &mut Writer, name: &Name, schedule: &Schedule) {
    let (row, job) = (&schedule.row, &schedule.spec.job);
    let number = match &schedule.spec.when {
        When::Every(interval) => Some(interval.get().get()),
        When::Cron { .. } => None,
        When::At(instant) => Some(instant.get()),
    };
    cron(writer, name, schedule);
    writer.optional(number);
    writer.optional(row.last_fired_at);
    writer.number(row.fired);
    writer.byte(job.catch_up as u8);
    writer.text(Some(job.queue.as_str()));
    writer.float(job.priority.get() as f64);
    writer.optional(job.expires_in);
    writer.text(job.codec.as_ref().map(Name::as_str));
    stamps(writer, &job.stamps);
    writer.blob(Some(&job.payload));
}

/// The part of a schedule that says when it fires next.
pub fn cron(writer: &mut Writer, name: &Name, schedule: &Schedule) {
    let (kind, expression, time_zone) = match &schedule.spec.when {
        When::Every(_) => (0, None, None),
        When::Cron { expression, time_zone } => (1, Some(&**expression), Some(&**time_zone)),
        When::At(_) => (2, None, None),
    };
    writer.text(Some(name.as_str()));
    writer.optional(schedule.row.next);
    writer.byte(kind);
    writer.text(expression);
    writer.text(time_zone);
}

fn stamps(writer: &mut Writer, stamps: &Stamps) {
    writer.number(stamps.lease);
    writer.number(stamps.attempts_max);
    writer.number(stamps.backoff.base);
    writer.number(stamps.backoff.max);
    writer.byte(stamps.backoff.jitter as u8);
    writer.number(stamps.dead_retention);
    writer.number(stamps.result_retention);
    writer.number(stamps.key_retention);
}
