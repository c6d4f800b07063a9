//! Rows and changes of every kind, with numbers on both sides of where a group of bits is added.

use super::command::blob;
use fencepost::backoff::{Backoff, Jitter};
use fencepost::change::{
    Body, Change, CommitId, Counters, Entry, KeptKey, QueueRow, Removal, Rows, ValueRow,
};
use fencepost::id::{
    Instant, Millis, Priority, QueueId, SAFE_MAX, Seq, Slot, TaskId, Token, Version,
};
use fencepost::lease::{LeaseRow, LeaseState};
use fencepost::name::{Name, NameRef};
use fencepost::schedule::{CatchUp, Interval, Job, Schedule, ScheduleRow, ScheduleSpec, When};
use fencepost::task::{Claim, DeadReason, Stamps, Task, TaskRow, TaskSpec, TaskState};

pub fn name(text: &str) -> Name {
    NameRef::key(text).expect("a good name").to_name()
}

fn instant(milliseconds: u64) -> Instant {
    Instant::saturating(milliseconds)
}

fn priority(value: i64) -> Priority {
    Priority::try_from(value).expect("a safe integer")
}

fn kept_key() -> KeptKey {
    let (id, seq) = (TaskId::saturating(16_383), Seq::saturating(16_384));
    KeptKey { id, seq, until: instant(2_097_151) }
}

fn bare_spec() -> TaskSpec {
    TaskSpec {
        seq: Seq::saturating(1),
        priority: priority(0),
        created_at: instant(1_700_000_000_000),
        stamps: Stamps::default(),
        key: None,
        codec: None,
        boundary: None,
        payload: blob(""),
    }
}

fn full_spec() -> TaskSpec {
    let (base, max) = (Millis::ZERO, Millis::saturating(127));
    TaskSpec {
        seq: Seq::saturating(128),
        priority: priority(-65),
        created_at: instant(2_097_152),
        stamps: Stamps {
            lease: Millis::saturating(268_435_455),
            attempts_max: u64::MAX,
            backoff: Backoff { base, max, jitter: Jitter::Full },
            dead_retention: Millis::saturating(268_435_456),
            result_retention: Millis::saturating(34_359_738_367),
            key_retention: Millis::saturating(34_359_738_368),
        },
        key: Some(name("schlüssel")),
        codec: Some(name("c")),
        boundary: Some(instant(4_398_046_511_103)),
        payload: blob(&"p".repeat(128)),
    }
}

fn row(state: TaskState) -> TaskRow {
    TaskRow {
        run_at: instant(4_398_046_511_104),
        expires_at: Instant::NEVER,
        updated_at: instant(562_949_953_421_311),
        attempt: 0,
        holds_key: true,
        former_owner: None,
        state,
    }
}

fn claim() -> Claim {
    Claim {
        owner: name("w"),
        token: Token::saturating(1_700_000_000_000_000),
        lease: Millis::saturating(30_000),
        deadline: instant(562_949_953_421_312),
        claimed_at: instant(0),
    }
}

fn dead(reason: DeadReason, claimed_at: Option<Instant>) -> TaskState {
    TaskState::Dead { at: instant(1), reason, claimed_at }
}

fn lease(meta: Option<&str>, state: LeaseState) -> LeaseRow {
    let (token, ttl) = (Token::saturating(SAFE_MAX), Millis::saturating(5_000));
    LeaseRow { token, acquired_at: instant(7), ttl, meta: meta.map(blob), state }
}

fn held() -> LeaseState {
    LeaseState::Held { owner: name("me"), until: instant(300) }
}

fn schedule(when: When, catch_up: CatchUp, expires_in: Option<Millis>) -> ScheduleSpec {
    let backoff = Backoff { jitter: Jitter::None, ..Backoff::default() };
    let job = Job {
        queue: name("mail"),
        payload: blob("tick"),
        codec: None,
        priority: priority(64),
        expires_in,
        catch_up,
        stamps: Stamps { backoff, ..Stamps::default() },
    };
    ScheduleSpec { when, job }
}

fn every(milliseconds: u64) -> When {
    When::Every(Interval::try_from(milliseconds).expect("more than nothing"))
}

fn cron() -> When {
    When::Cron { expression: "0 9 * * *".into(), time_zone: "Europe/Rome".into() }
}

fn moved() -> ScheduleRow {
    let (next, last_fired_at) = (Some(instant(8)), Some(instant(9)));
    ScheduleRow { next, last_fired_at, fired: u64::MAX, owed: u32::MAX }
}

/// All rows of a store that has every kind of them.
fn every_row() -> Rows {
    let task = |id: u64, spec: TaskSpec, state| Task {
        id: TaskId::saturating(id),
        queue: QueueId(0),
        spec: spec.into(),
        row: row(state),
        progress: None,
        last_error: None,
        result: None,
    };
    let queue = |text: &str, paused, kept_keys: &[(&str, KeptKey)]| QueueRow {
        name: name(text),
        paused,
        last_seq: Seq::saturating(128),
        kept_keys: kept_keys.iter().map(|(key, kept)| (name(key), *kept)).collect(),
    };
    let next = KeptKey { seq: Seq::saturating(16_385), ..kept_key() };
    let value = ValueRow { value: blob("v"), version: Version::saturating(200) };
    let (when, spec) = (cron(), |when, catch_up| schedule(when, catch_up, None).into());
    let fresh = Schedule { spec: spec(when, CatchUp::None), row: ScheduleRow::default() };
    let fired = Schedule { spec: spec(every(1), CatchUp::All), row: moved() };
    let released = LeaseState::Released { at: instant(301) };
    let earlier = Token::saturating(SAFE_MAX - 1);
    let released = LeaseRow { token: earlier, ..lease(Some("{}"), released) };
    Rows {
        queues: vec![
            queue("mail", true, &[("k", kept_key()), ("l", next)]),
            queue("post", false, &[]),
        ],
        tasks: vec![
            task(1, bare_spec(), TaskState::Waiting),
            Task {
                progress: Some(blob("half")),
                last_error: Some("no".into()),
                result: Some(blob("")),
                ..task(300, full_spec(), TaskState::Inflight(claim()))
            },
        ],
        leases: [(name("a"), lease(None, held())), (name("b"), released)].into_iter().collect(),
        values: [(name("k"), value)].into_iter().collect(),
        schedules: [(name("daily"), fresh), (name("tick"), fired)].into_iter().collect(),
    }
}

/// Begins a log with all of them.
pub fn founded() -> Change {
    Change::Founded { store: name("tests"), rows: Some(every_row().into()) }
}

/// A change of every kind, with a row of every kind.
pub fn every_change() -> Vec<Change> {
    let mut changes = changes_of_queues();
    changes.extend(changes_of_tasks());
    changes.extend(changes_of_leases_and_values());
    changes.extend(changes_of_schedules());
    changes
}

/// Those that came after the first format, each in an entry of its own.
pub fn newer_changes() -> Vec<Change> {
    vec![Change::Restoring { store: name("tests") }]
}

fn changes_of_queues() -> Vec<Change> {
    let queue = QueueId(128);
    vec![
        Change::Founded { store: name("tests"), rows: None },
        Change::Founded { store: name("tests"), rows: Some(Rows::default().into()) },
        founded(),
        Change::QueueCreated { queue: QueueId(0), name: name("mail") },
        Change::QueuePaused { queue, paused: true },
        Change::QueuePaused { queue: QueueId(u32::MAX), paused: false },
        Change::KeyKept { queue, key: name("k"), kept: kept_key() },
        Change::KeyFreed { queue, key: name("k") },
        Change::ClockRepaired,
    ]
}

fn changes_of_tasks() -> Vec<Change> {
    let (id, queue) = (TaskId::saturating(127), QueueId(0));
    let created = |spec: TaskSpec, row| Change::TaskCreated { id, queue, spec: spec.into(), row };
    let changed = |state| Change::TaskChanged { id, row: row(state) };
    let owned = TaskRow {
        attempt: u64::MAX,
        holds_key: false,
        former_owner: Some(name("w")),
        ..row(TaskState::Waiting)
    };
    let removed = |removal| Change::TaskRemoved { id, removal };
    vec![
        created(bare_spec(), row(TaskState::Waiting)),
        created(full_spec(), owned),
        changed(TaskState::Inflight(claim())),
        changed(TaskState::Done { at: instant(5) }),
        changed(dead(DeadReason::Exhausted, None)),
        changed(dead(DeadReason::Failed, Some(instant(6)))),
        changed(dead(DeadReason::Expired, None)),
        Change::TaskProgress { id, progress: None },
        Change::TaskProgress { id, progress: Some(blob("half")) },
        Change::TaskError { id, text: None },
        Change::TaskError { id, text: Some("größer".into()) },
        Change::TaskResult { id, result: None },
        Change::TaskResult { id, result: Some(blob("")) },
        removed(Removal::Completed),
        removed(Removal::Cancelled { reason: None }),
        removed(Removal::Cancelled { reason: Some("late".into()) }),
        removed(Removal::Buried { reason: DeadReason::Expired }),
        removed(Removal::Purged),
    ]
}

fn changes_of_leases_and_values() -> Vec<Change> {
    let put = |row| Change::LeasePut { name: name("lead"), row };
    vec![
        put(lease(Some("{}"), held())),
        put(lease(None, LeaseState::Released { at: instant(301) })),
        Change::LeaseRemoved { name: name("lead") },
        Change::ValuePut { key: name("k"), value: blob("\0\u{7f}") },
        Change::ValueDeleted { key: name("k") },
    ]
}

fn changes_of_schedules() -> Vec<Change> {
    let put = |spec: ScheduleSpec, row| {
        let spec = spec.into();
        Change::SchedulePut { name: name("s"), spec, row }
    };
    let at = When::At(instant(255));
    vec![
        put(schedule(every(60_000), CatchUp::All, None), ScheduleRow::default()),
        put(schedule(cron(), CatchUp::Last, Some(Millis::saturating(1))), moved()),
        put(schedule(at, CatchUp::None, None), ScheduleRow::default()),
        Change::ScheduleMoved { name: name("s"), row: moved() },
        Change::ScheduleRemoved { name: name("s") },
    ]
}

/// An entry of one command for each of the changes.
pub fn entry_of(changes: Vec<Change>) -> Entry {
    let commit = CommitId { replica: u64::MAX, counter: 128 };
    let counters =
        Counters { task_id: TaskId::saturating(300), token: Token::saturating(SAFE_MAX) };
    let command_ends = (1..=changes.len() as u32).collect();
    let time = instant(1_700_000_000_000);
    let body = Body { commit, time, counters, command_ends, changes };
    let (log_id, previous) = ([0xa5; 16], [0; 16]);
    Entry { log_id, slot: Slot::saturating(1), previous, body }
}
