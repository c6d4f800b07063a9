//! What the engine's reads tell, in the words of the model.

use super::command::queue;
use super::domain::{KEYS, LEASES, OWNERS, QUEUES, SCHEDULES, VALUES};
use super::model::reads::{PHASES, Picture, QueuePicture};
use super::model::schedules::Schedule;
use super::model::{Lease, Stamps, State, Task, Value};
use super::on_engine::known;
use super::operation::{GridWish, ScheduleWish, TaskWish};
use fencepost::engine::Engine;
use fencepost::id::{Instant, Millis, TaskId};
use fencepost::lease::{LeaseRow, LeaseState};
use fencepost::name::{Name, NameRef};
use fencepost::ops::read::{View, Way};
use fencepost::schedule::When;
use fencepost::task::{Phase, TaskState};

/// Everything that is seen at an instant.
pub fn picture(engine: &mut Engine, now: Instant) -> Picture {
    let view = engine.view(now);
    let lease = |name: &&'static str| view.lease(named(name)).unwrap().map(|row| lease(name, row));
    let held = view.leases("", None, 100).items;
    let values = view.values("", None, 100).items;
    Picture {
        queues: QUEUES.iter().map(|name| queue_picture(&view, name)).collect(),
        leases: LEASES.iter().filter_map(lease).collect(),
        held: held.iter().map(|(name, _)| constant(name, &LEASES)).collect(),
        values: values
            .iter()
            .map(|(key, row)| Value {
                key: constant(key, &VALUES),
                value: known(&row.value),
                version: row.version.get(),
            })
            .collect(),
        schedules: view.schedules().map(|(name, row)| schedule(name, row)).collect(),
    }
}

fn named(name: &'static str) -> NameRef<'static> {
    queue(name).expect("a good name")
}

/// Names come back as the constants they were.
fn constant(name: &Name, all: &[&'static str]) -> &'static str {
    all.iter().find(|one| **one == name.as_str()).expect("a known name")
}

fn queue_picture(view: &View<'_>, name: &'static str) -> QueuePicture {
    let page = view.tasks(named(name), None, (Way::Up, None), 1_000);
    let tasks = page.items.iter().map(|row| {
        let why = view.explain(named(name), row.id).unwrap().expect("a visible task");
        assert_eq!(Some(why.phase), row.phase(view.now));
        (task(name, row), why.because.as_str().to_owned())
    });
    let tasks: Vec<(Task, String)> = tasks.collect();
    assert_pages(view, name, &tasks);
    let summary = view.queues().into_iter().find(|queue| queue.name.as_str() == name);
    let counts = view.counts(named(name)).unwrap();
    let lapsed = view.lapsed(named(name)).unwrap();
    let next_due = view.next_due(named(name)).unwrap().map(Instant::get);
    if let Some(summary) = &summary {
        assert_eq!(summary.lapsed, lapsed);
        assert_eq!((summary.counts, summary.next_due.map(Instant::get)), (counts, next_due));
    }
    let oldest = |at: Option<Instant>| at.map(Instant::get);
    QueuePicture {
        name,
        tasks,
        counts: PHASES.into_iter().zip(counts).collect(),
        lapsed,
        next_due,
        listed: summary.map(|queue| (queue.paused, oldest(queue.oldest_ready_at))),
    }
}

/// Each task is in the pages of its own state, and `get` shows it as the list does.
fn assert_pages(view: &View<'_>, name: &'static str, tasks: &[(Task, String)]) {
    for phase in Phase::ALL {
        let page = view.tasks(named(name), Some(phase), (Way::Up, None), 1_000);
        let listed: Vec<u64> = page.items.iter().map(|task| task.id.get()).collect();
        let now = view.now.get();
        let expected = tasks.iter().filter(|(task, _)| task.phase(now) == phase.as_str());
        assert_eq!(listed, expected.map(|(task, _)| task.id).collect::<Vec<u64>>());
        let page = view.tasks(named(name), Some(phase), (Way::Down, None), 1_000);
        let backwards = page.items.iter().map(|task| task.id.get());
        assert!(backwards.eq(listed.into_iter().rev()));
    }
    for (expected, _) in tasks {
        let row = view.task(named(name), TaskId::saturating(expected.id)).unwrap();
        let row = row.expect("it is listed");
        assert_eq!(task(name, row), *expected);
    }
}

fn task(queue: &'static str, task: &fencepost::task::Task) -> Task {
    let owner = |name: &Name| constant(name, &OWNERS);
    let state = match &task.row.state {
        TaskState::Waiting => State::Waiting,
        TaskState::Inflight(claim) => State::Inflight {
            owner: owner(&claim.owner),
            token: claim.token.get(),
            lease: claim.lease.get(),
            deadline: claim.deadline.get(),
            claimed_at: claim.claimed_at.get(),
        },
        TaskState::Done { at } => State::Done { at: at.get() },
        TaskState::Dead { at, reason, claimed_at } => State::Dead {
            at: at.get(),
            reason: reason.as_str(),
            claimed_at: claimed_at.map(Instant::get),
        },
    };
    Task {
        id: task.id.get(),
        queue,
        seq: task.spec.seq.get(),
        key: task.spec.key.as_ref().map(|key| constant(key, &KEYS)),
        holds_key: task.row.holds_key,
        payload: known(&task.spec.payload),
        priority: task.spec.priority.get(),
        boundary: task.spec.boundary.map(Instant::get),
        stamps: known_stamps(&task.spec.stamps),
        created_at: task.spec.created_at.get(),
        updated_at: task.row.updated_at.get(),
        run_at: task.row.run_at.get(),
        expires_at: task.row.expires_at.get(),
        attempt: task.row.attempt,
        state,
        last_owner: task.last_owner().map(owner),
        progress: task.progress.as_ref().map(known),
        error: task.last_error.as_ref().map(|text| text.to_string()),
        result: task.result.as_ref().map(known),
    }
}

fn lease(name: &'static str, row: &LeaseRow) -> Lease {
    Lease {
        name,
        token: row.token.get(),
        acquired_at: row.acquired_at.get(),
        ttl: row.ttl.get(),
        meta: row.meta.as_ref().map(known),
        held: match &row.state {
            LeaseState::Held { owner, until } => Ok((constant(owner, &OWNERS), until.get())),
            LeaseState::Released { at } => Err(at.get()),
        },
    }
}

fn known_stamps(stamps: &fencepost::task::Stamps) -> Stamps {
    Stamps {
        lease: stamps.lease.get(),
        attempts_max: stamps.attempts_max,
        base: stamps.backoff.base.get(),
        max: stamps.backoff.max.get(),
        jitter: stamps.backoff.jitter,
        keep_dead: stamps.dead_retention.get(),
        keep_result: stamps.result_retention.get(),
        keep_key: stamps.key_retention.get(),
    }
}

fn schedule(name: &Name, schedule: &fencepost::schedule::Schedule) -> Schedule {
    let (row, job) = (&schedule.row, &schedule.spec.job);
    let grid = match &schedule.spec.when {
        When::Every(interval) => GridWish::Every(interval.get().get()),
        When::At(at) => GridWish::At(at.get()),
        When::Cron { expression, .. } => {
            GridWish::Cron { step: expression.parse().expect("a number"), first: 0 }
        }
    };
    let task = TaskWish {
        queue: constant(&job.queue, &QUEUES),
        payload: known(&job.payload),
        key: None,
        delay: None,
        run_at: None,
        expires_in: job.expires_in.map(Millis::get),
        priority: job.priority.get(),
        stamps: known_stamps(&job.stamps),
        writes: Vec::new(),
    };
    assert_eq!(row.owed, 0, "one commit has room for all of it");
    Schedule {
        name: constant(name, &SCHEDULES),
        grid,
        wish: ScheduleWish { task, catch_up: job.catch_up },
        next: row.next.map(Instant::get),
        last_fired_at: row.last_fired_at.map(Instant::get),
        fired: row.fired,
    }
}
