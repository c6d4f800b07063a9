//! Damaged, foreign and hostile bytes: refused with a typed error before anything is merged.

mod support;

use fencepost::change::{Body, Change, CommitId, Counters, Entry, KeptKey, Removal, Rows};
use fencepost::codec::{FORMAT, decode_entry};
use fencepost::error::Code;
use fencepost::id::{Instant, Millis, QueueId, Seq, Slot, TaskId, Token};
use fencepost::lease::{LeaseRow, LeaseState};
use fencepost::name::{Name, NameRef};
use fencepost::ops::Enqueue;
use fencepost::schedule::ScheduleRow;
use support::command::blob;
use support::log::{assert_refused, mail, small_log};
use support::rows::{entry_of, every_change, founded};
use support::script::assert_same;
use support::{assert_verified, at, commit, engine, seal};
use xxhash_rust::xxh3::xxh3_128;

const KIND_BYTE: usize = 4;
const ENVELOPE_BYTES: usize = 48;
/// Of the body of a part of a snapshot.
const LENGTH_BYTES: usize = 8;
const HASH_BYTES: usize = 16;

#[test]
fn an_entry_damaged_at_any_byte_is_refused_and_changes_nothing() {
    let (_, log) = small_log();
    let mut replica = engine(2);
    for entry in &log {
        for position in 0..entry.len() {
            for bit in [1, 0x80, 0xff] {
                let mut damaged = entry.clone();
                damaged[position] ^= bit;
                let error = replica.merge(&damaged).unwrap_err().code();
                let newer = position == 6 && damaged[6] > FORMAT;
                let expected = if newer { Code::FormatTooNew } else { Code::JournalCorrupt };
                assert_eq!(error, expected, "byte {position}");
            }
        }
        replica.merge(entry).unwrap();
    }
}

#[test]
fn an_entry_cut_or_grown_anywhere_is_refused_and_changes_nothing() {
    let (engine, log) = small_log();
    let mut replica = support::engine(2);
    for entry in &log {
        for length in 0..entry.len() {
            assert_refused(&mut replica, &entry[..length], Code::JournalCorrupt);
            assert_refused(&mut replica, &entry[length + 1..], Code::JournalCorrupt);
        }
        assert_refused(&mut replica, &[&entry[..], &[0]].concat(), Code::JournalCorrupt);
        replica.merge(entry).unwrap();
    }
    assert_same(&engine, &replica);
}

#[test]
fn a_snapshot_damaged_or_cut_anywhere_is_refused_and_changes_nothing() {
    let (mut engine, _) = small_log();
    let snapshot = engine.snapshot().bytes;
    for position in 0..snapshot.len() {
        let mut damaged = snapshot.clone();
        damaged[position] ^= 0x55;
        let error = engine.restore(&damaged).unwrap_err().code();
        let expected = if position == 6 { Code::FormatTooNew } else { Code::JournalCorrupt };
        assert_eq!(error, expected, "byte {position}");
        let error = engine.restore(&snapshot[..position]).unwrap_err().code();
        assert_eq!(error, Code::JournalCorrupt, "cut at {position}");
    }
    assert_eq!(engine.snapshot().bytes, snapshot);
    engine.restore(&snapshot).unwrap();
    assert_eq!(engine.snapshot().bytes, snapshot);
}

#[test]
fn random_bytes_and_each_others_kind_are_refused() {
    let (mut engine, log) = small_log();
    let snapshot = engine.snapshot().bytes;
    assert_refused(&mut engine, &snapshot, Code::JournalCorrupt);
    assert_eq!(engine.restore(&log[0]).unwrap_err().code(), Code::JournalCorrupt);
    let mut random = fencepost::backoff::Random::seeded(7);
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length).map(|_| random.draw() as u8).collect();
        assert_refused(&mut engine, &bytes, Code::JournalCorrupt);
        let headed = [&log[0][..8], &bytes].concat();
        assert_refused(&mut engine, &headed, Code::JournalCorrupt);
    }
}

#[test]
fn a_newer_minimum_reader_is_told_from_damage_and_a_newer_format_alone_is_read() {
    let (_, log) = small_log();
    let mut replica = engine(2);
    let mut newer = log[0].clone();
    (newer[5], newer[6]) = (9, FORMAT + 1);
    let error = assert_refused(&mut replica, &newer, Code::FormatTooNew);
    assert_eq!(error.to_string(), "the journal has format 9, this build reads up to 2: upgrade it");
    assert_refused(&mut replica, &newer[..8], Code::FormatTooNew);
    let snapshot = { small_log().0.snapshot().bytes };
    let mut newer = snapshot.clone();
    newer[6] = FORMAT + 1;
    assert_eq!(replica.restore(&newer).unwrap_err().code(), Code::FormatTooNew);
}

fn name(text: &str) -> Name {
    NameRef::key(text).unwrap().to_name()
}

/// Of schedules that are not there, or not any more.
fn hostile_schedules() -> [(&'static str, Vec<Change>); 4] {
    let moved = |text| Change::ScheduleMoved { name: name(text), row: ScheduleRow::default() };
    let removed = |text| Change::ScheduleRemoved { name: name(text) };
    [
        ("unknown schedule", vec![moved("unmade")]),
        ("unknown schedule", vec![removed("unmade")]),
        ("schedule removed twice", vec![removed("tick"), removed("tick")]),
        ("schedule moved after removal", vec![removed("tick"), moved("tick")]),
    ]
}

/// Under tokens that were not given to them.
fn hostile_leases(counter: Token) -> [(&'static str, Vec<Change>); 4] {
    let put = |text, token: u64| {
        let state = LeaseState::Released { at: at(9) };
        let (acquired_at, ttl, token) = (at(9), Millis::ZERO, Token::saturating(token));
        let row = LeaseRow { token, acquired_at, ttl, meta: None, state };
        Change::LeasePut { name: name(text), row }
    };
    let last = counter.get();
    [
        ("token of somebody else", vec![put("unheld", 1)]),
        ("token beyond the counter", vec![put("unheld", last + 3)]),
        ("one token twice", vec![put("one", last + 1), put("other", last + 1)]),
        ("an older token of its own", vec![put("one", last + 2), put("one", last + 1)]),
    ]
}

/// Queues that are not there, or are there already.
fn hostile_queues(kept: KeptKey) -> Vec<(&'static str, Vec<Change>)> {
    let made = |queue, text| Change::QueueCreated { queue: QueueId(queue), name: name(text) };
    let key = || name("k");
    vec![
        ("unknown queue", vec![Change::QueuePaused { queue: QueueId(1), paused: true }]),
        ("unknown queue", vec![Change::KeyKept { queue: QueueId(9), key: key(), kept }]),
        ("unknown queue", vec![Change::KeyFreed { queue: QueueId(u32::MAX), key: key() }]),
        ("queue id taken", vec![made(0, "post")]),
        ("queue id gap", vec![made(2, "post")]),
        ("queue name taken", vec![made(1, "mail")]),
        ("queue name twice", vec![made(1, "post"), made(2, "post")]),
    ]
}

/// Well-formed, well-checksummed, and wrong on this state.
fn hostile_bodies(fair: &Body) -> Vec<(&'static str, Body)> {
    let (id, gone) = (TaskId::saturating(2), TaskId::saturating(1));
    let Change::TaskCreated { spec, row, .. } = &fair.changes[0] else {
        panic!("the fair entry creates a task")
    };
    let create = |id: u64, queue: u32, seq: u64| {
        let mut spec = (**spec).clone();
        spec.seq = Seq::saturating(seq);
        let (id, queue) = (TaskId::saturating(id), QueueId(queue));
        Change::TaskCreated { id, queue, spec: spec.into(), row: row.clone() }
    };
    let kept = KeptKey { id, seq: Seq::saturating(2), until: Instant::NEVER };
    let removal = Removal::Purged;
    let founded = Change::Founded { store: name("tests"), rows: None };
    let mut bodies = Vec::new();
    let mut add = |why, changes: Vec<Change>| {
        let command_ends = vec![changes.len() as u32];
        bodies.push((why, Body { changes, command_ends, ..fair.clone() }));
    };
    hostile_schedules().into_iter().for_each(|(why, changes)| add(why, changes));
    hostile_queues(kept).into_iter().for_each(|(why, change)| add(why, change));
    add("unknown queue", vec![create(3, 1, 1)]);
    add("unknown task", vec![Change::TaskChanged { id: gone, row: row.clone() }]);
    add("unknown task", vec![Change::TaskProgress { id: gone, progress: None }]);
    add("unknown task", vec![Change::TaskError { id: gone, text: None }]);
    add("unknown task", vec![Change::TaskResult { id: gone, result: None }]);
    add("unknown task", vec![Change::TaskRemoved { id: gone, removal: removal.clone() }]);
    add("known id", vec![create(2, 0, 3)]);
    add("used id", vec![create(1, 0, 3)]);
    add("used sequence", vec![create(3, 0, 2)]);
    add("id beyond the counter", vec![create(4, 0, 3)]);
    add("id beyond the counter", vec![create(3, 0, 3), create(4, 0, 4)]);
    add("one id twice", vec![create(3, 0, 3), create(3, 0, 4)]);
    let remove = Change::TaskRemoved { id, removal };
    add("removed twice", vec![remove.clone(), remove.clone()]);
    add("changed after removal", vec![remove.clone(), Change::TaskError { id, text: None }]);
    add("made again after removal", vec![remove, create(2, 0, 3)]);
    add("founded again", vec![founded.clone()]);
    add("founded in the middle", vec![create(3, 0, 3), founded]);
    let mut with = |why, change: &dyn Fn(&mut Body)| {
        let mut body = fair.clone();
        change(&mut body);
        bodies.push((why, body));
    };
    for (why, changes) in hostile_leases(fair.counters.token) {
        with(why, &|body| {
            body.counters.token = Token::saturating(fair.counters.token.get() + 2);
            body.command_ends = vec![changes.len() as u32];
            body.changes = changes.clone();
        });
    }
    with("time", &|body| body.time = Instant::saturating(5));
    with("ids", &|body| body.counters.task_id = gone);
    with("tokens", &|body| body.counters.token = Token::saturating(5));
    with("no command", &|body| body.command_ends = Vec::new());
    with("short command", &|body| body.command_ends = vec![0]);
    with("long command", &|body| body.command_ends = vec![2]);
    with("command twice", &|body| body.command_ends = vec![1, 1]);
    with("commands out of order", &|body| body.command_ends = vec![1, 0]);
    bodies
}

#[test]
fn a_well_checksummed_entry_that_makes_no_sense_is_refused() {
    let (mut engine, _) = small_log();
    let mut origin = support::engine(3);
    origin.restore(&engine.snapshot().bytes).unwrap();
    origin.enqueue(at(9), Enqueue::new(mail(), blob("fair"))).unwrap();
    let (fair, _) = decode_entry(&commit(&mut origin)).unwrap();
    for (why, body) in hostile_bodies(&fair.body) {
        let bytes = seal(&Entry { body, ..fair.clone() });
        let before = engine.snapshot();
        let error = engine.merge(&bytes).expect_err(why);
        assert_eq!(error.code(), Code::JournalCorrupt, "{why}: {error}");
        assert_eq!(engine.snapshot(), before, "{why}");
    }
    engine.merge(&seal(&fair)).unwrap();
    assert_same(&engine, &origin);
    assert_verified(&engine);
}

fn every_entry() -> Vec<u8> {
    seal(&entry_of(every_change()))
}

fn every_snapshot() -> Vec<u8> {
    let mut replica = engine(1);
    replica.merge(&seal(&entry_of(vec![founded()]))).unwrap();
    replica.snapshot().bytes
}

/// Another body in the same envelope, with the checksum that fits.
fn with_body(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = bytes[ENVELOPE_BYTES..bytes.len() - HASH_BYTES].to_vec();
    change(&mut body);
    if bytes[KIND_BYTE] == b'S' && body.len() >= LENGTH_BYTES {
        let length = (body.len() - LENGTH_BYTES) as u64;
        body[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }
    let mut bytes = [&bytes[..ENVELOPE_BYTES], &body].concat();
    bytes.extend_from_slice(&xxh3_128(&bytes).to_le_bytes());
    bytes
}

fn splice(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    with_body(bytes, |body| {
        let position = body.windows(from.len()).position(|window| window == from).unwrap();
        body.splice(position..position + from.len(), to.iter().copied());
    })
}

/// An entry or a snapshot: refused, or read as rows that can be written and read back.
fn assert_read_or_refused(bytes: &[u8]) {
    let answer = match bytes[KIND_BYTE] {
        b'E' => decode_entry(bytes).map(|(entry, _)| {
            assert_eq!(decode_entry(&seal(&entry)).unwrap().0, entry);
        }),
        _ => {
            let mut replica = engine(3);
            replica.restore(bytes).map(|()| {
                assert_verified(&replica);
                let again = replica.snapshot().bytes;
                replica.restore(&again).unwrap();
            })
        }
    };
    if let Err(error) = answer {
        assert_eq!(error.code(), Code::JournalCorrupt, "{error}");
    }
}

#[test]
fn a_body_that_is_changed_anywhere_is_read_or_refused() {
    for bytes in [every_entry(), every_snapshot()] {
        for position in 0..bytes.len() - ENVELOPE_BYTES - HASH_BYTES {
            for byte in [0, 1, 2, 0x7f, 0x80, 0xff] {
                assert_read_or_refused(&with_body(&bytes, |body| body[position] = byte));
            }
            let take_out = |body: &mut Vec<u8>| {
                body.remove(position);
            };
            assert_read_or_refused(&with_body(&bytes, take_out));
            assert_read_or_refused(&with_body(&bytes, |body| body.truncate(position)));
        }
    }
}

#[test]
fn a_length_beyond_the_bytes_reserves_nothing_for_it() {
    for bytes in [every_entry(), every_snapshot()] {
        for position in 0..bytes.len() - ENVELOPE_BYTES - HASH_BYTES {
            for length in [[0xff, 0xff, 0xff, 0xff, 0x0f], [0x80, 0x80, 0x80, 0x80, 0x08]] {
                let put = |body: &mut Vec<u8>| drop(body.splice(position..=position, length));
                assert_read_or_refused(&with_body(&bytes, put));
            }
        }
    }
}

#[test]
fn numbers_outside_of_their_range_cannot_be_read() {
    let bytes = every_entry();
    let interval = [0xe0, 0xd4, 0x03];
    assert!(decode_entry(&splice(&bytes, &interval, &[1])).is_ok());
    assert!(decode_entry(&splice(&bytes, &interval, &[0])).is_err());
    let never = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    let beyond = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    assert!(decode_entry(&splice(&bytes, &never, &beyond)).is_err());
}

#[test]
fn a_log_begins_with_its_founding_and_with_nothing_else() {
    let (_, log) = small_log();
    let (mut first, _) = decode_entry(&log[0]).unwrap();
    first.body.changes.remove(0);
    first.body.command_ends = vec![first.body.changes.len() as u32];
    assert_refused(&mut engine(2), &seal(&first), Code::JournalCorrupt);
}

#[test]
fn a_snapshot_whose_rows_do_not_fit_each_other_is_refused() {
    let (engine, _) = small_log();
    let founding = |change: &dyn Fn(&mut Rows)| {
        let mut rows = engine.state().rows();
        change(&mut rows);
        let changes = vec![Change::Founded { store: name("tests"), rows: Some(rows.into()) }];
        let counters = Counters { task_id: TaskId::saturating(2), ..engine.state().counters };
        let commit = CommitId { replica: 1, counter: 1 };
        let body = Body { commit, time: at(0), counters, command_ends: vec![1], changes };
        seal(&Entry { log_id: [1; 16], slot: Slot::saturating(1), previous: [0; 16], body })
    };
    let mut replica = support::engine(2);
    let mut refuse = |change: &dyn Fn(&mut Rows)| {
        assert_refused(&mut replica, &founding(change), Code::JournalCorrupt);
    };
    refuse(&|rows| rows.tasks[0].queue = QueueId(1));
    refuse(&|rows| rows.tasks[0].id = TaskId::saturating(3));
    refuse(&|rows| rows.tasks.push(rows.tasks[0].clone()));
    refuse(&|rows| rows.queues.push(rows.queues[0].clone()));
    refuse(&|rows| rows.queues[0].last_seq = Seq::saturating(1));
    let kept = KeptKey { id: TaskId::saturating(1), seq: Seq::saturating(1), until: at(1) };
    let earlier = KeptKey { until: at(0), ..kept };
    for second in [kept, earlier] {
        refuse(&|rows| rows.queues[0].kept_keys = vec![(name("a"), kept), (name("b"), second)]);
    }
    refuse(&|rows| {
        let mut copy = rows.tasks[0].clone();
        rows.tasks[0].id = TaskId::saturating(1);
        copy.id = TaskId::saturating(2);
        rows.tasks.push(copy);
    });
    replica.merge(&founding(&|_| ())).unwrap();
    assert_verified(&replica);
}
