//! A small log, for tests of what entries and snapshots hold.

use super::command::{blob, queue};
use super::{at, commit, engine};
use fencepost::engine::Engine;
use fencepost::error::{Code, Error};
use fencepost::id::Priority;
use fencepost::id::{TaskId, Token};
use fencepost::name::NameRef;
use fencepost::ops::{ClaimRef, ClaimRequest, Enqueue, Heartbeat, ScheduleRequest};
use fencepost::schedule::{CatchUp, Interval, Job, When};
use fencepost::task::Stamps;

pub fn mail() -> NameRef<'static> {
    queue("mail").unwrap()
}

pub fn claim(engine: &mut Engine, now: u64) -> Option<(TaskId, Token)> {
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: mail(), owner, max: 1, lease: None };
    let claimed = engine.claim(at(now), request).unwrap();
    claimed.first().map(|task| (task.id, task.claim().unwrap().token))
}

/// A schedule that puts a small task into the queue.
pub fn every(name: &str, interval: u64) -> ScheduleRequest<'_> {
    let job = Job {
        queue: mail().to_name(),
        payload: blob("tick"),
        codec: None,
        priority: Priority::default(),
        expires_in: None,
        catch_up: CatchUp::All,
        stamps: Stamps::default(),
    };
    let when = When::Every(Interval::try_from(interval).unwrap());
    ScheduleRequest { name: NameRef::shared("name", name).unwrap(), when, first: None, job }
}

/// A log of three entries with rows of every kind, and an engine that has merged them.
pub fn small_log() -> (Engine, Vec<Vec<u8>>) {
    let mut engine = engine(1);
    let mut log = Vec::new();
    let key = NameRef::key("k").unwrap();
    let task = Enqueue { key: Some(key), ..Enqueue::new(mail(), blob("hello")) };
    engine.enqueue(at(0), task).unwrap();
    engine.enqueue(at(0), Enqueue::new(mail(), blob("there"))).unwrap();
    log.push(commit(&mut engine));
    let (id, token) = claim(&mut engine, 5).unwrap();
    let claim = ClaimRef { queue: mail(), id, token };
    let progress = Some(blob("half"));
    engine.heartbeat(at(5), Heartbeat { claim, extend: None, progress }).unwrap().unwrap();
    engine.put_value(at(6), key, blob("v")).unwrap();
    engine.schedule(at(6), every("tick", 1_000)).unwrap();
    engine.schedule(at(6), every("tock", 1_000)).unwrap();
    log.push(commit(&mut engine));
    assert_eq!(engine.complete_many(at(7), &[claim]).unwrap(), 1);
    log.push(commit(&mut engine));
    (engine, log)
}

/// Refused with the code, and nothing has changed.
#[track_caller]
pub fn assert_refused(engine: &mut Engine, bytes: &[u8], expected: Code) -> Error {
    let before = engine.snapshot();
    let error = engine.merge(bytes).unwrap_err();
    assert_eq!(error.code(), expected, "{error}");
    assert_eq!(engine.snapshot(), before);
    error
}
