//! How large a store is, and what a full one refuses and takes.

mod support;

use fencepost::engine::{Engine, Options};
use fencepost::error::{Code, Kind};
use fencepost::limits::STORE_BYTES_MAX;
use fencepost::name::NameRef;
use fencepost::ops::{ClaimRef, ClaimRequest, Completion, Enqueue, Failure, Heartbeat};
use fencepost::task::Stamps;
use support::command::blob;
use support::log::mail;
use support::{assert_verified, at, commit, engine};

const ROOM: u64 = 100_000;

fn small() -> Engine {
    let mut engine = Engine::new(Options { store_bytes_max: ROOM, ..engine(1).options().clone() });
    engine.found_if_empty(at(0)).unwrap();
    commit(&mut engine);
    engine
}

/// Until it is refused; how many there are.
fn fill(engine: &mut Engine, one: impl Fn() -> Enqueue<'static>) -> u64 {
    for count in 0.. {
        if let Err(error) = engine.enqueue(at(1), one()) {
            assert_eq!((error.code(), error.kind()), (Code::StoreFull, Kind::Unavailable));
            commit(engine);
            return count;
        }
        if count % 7 == 0 {
            commit(engine);
        }
    }
    unreachable!()
}

fn claim(engine: &mut Engine, max: usize) -> Vec<(fencepost::id::TaskId, fencepost::id::Token)> {
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: mail(), owner, max, lease: None };
    let claimed = engine.claim(at(2), request).unwrap();
    let of = |task: &fencepost::task::Task| (task.id, task.claim().unwrap().token);
    let claims = claimed.iter().map(of).collect();
    commit(engine);
    claims
}

fn at_claim((id, token): (fencepost::id::TaskId, fencepost::id::Token)) -> ClaimRef<'static> {
    ClaimRef { queue: mail(), id, token }
}

#[test]
fn a_full_store_takes_no_task_and_no_value_and_says_how_full_it_is() {
    let mut engine = small();
    let count = fill(&mut engine, || Enqueue::new(mail(), blob("x")));
    assert!(count > 100, "{count}");
    let size = engine.state().usage.bytes();
    assert!(size <= ROOM && size > ROOM - 1_000, "{size}");
    assert_eq!(engine.state().usage.tasks.rows, count);
    let key = NameRef::key("k").unwrap();
    let large = "v".repeat(2_000);
    let refused = engine.put_value(at(2), key, blob(&large)).unwrap_err();
    assert_eq!(refused.code(), Code::StoreFull);
    assert!(refused.to_string().contains("100000"), "{refused}");
    assert!(engine.seal().unwrap().is_none(), "a refused command leaves nothing");
    assert_verified(&engine);
}

#[test]
fn a_full_store_claims_extends_fails_releases_completes_and_purges() {
    let mut engine = small();
    let stamps = Stamps { attempts_max: 2, ..Stamps::default() };
    let count = fill(&mut engine, || Enqueue { stamps, ..Enqueue::new(mail(), blob("x")) });
    let claims = claim(&mut engine, 4);
    let heartbeat = |progress| Heartbeat { claim: at_claim(claims[0]), extend: None, progress };
    engine.heartbeat(at(3), heartbeat(None)).unwrap().unwrap();
    let note = blob(&"p".repeat(2_000));
    let refused = engine.heartbeat(at(3), heartbeat(Some(note))).unwrap_err();
    assert_eq!(refused.code(), Code::StoreFull);
    let text = "é".repeat(1_000);
    let failure = Failure {
        claim: at_claim(claims[1]),
        text: Some(&text),
        delay: None,
        is_final: true,
        writes: Vec::new(),
    };
    engine.fail(at(3), failure).unwrap().unwrap();
    engine.release(at(3), at_claim(claims[2]), None).unwrap().unwrap();
    let completion = |claim| Completion {
        claim: at_claim(claim),
        result: None,
        follow_ups: Vec::new(),
        writes: Vec::new(),
    };
    engine.complete(at(3), completion(claims[3])).unwrap().unwrap();
    commit(&mut engine);
    let dead = engine.state().task(claims[1].0).unwrap();
    let kept = dead.last_error.as_deref().unwrap();
    assert!(text.starts_with(kept) && kept.len() == 64, "cut to what there is room for: {kept}");
    assert!(engine.state().usage.bytes() <= ROOM);
    assert_eq!(engine.state().usage.tasks.rows, count - 1);
    assert_verified(&engine);
}

#[test]
fn what_makes_a_full_store_no_larger_is_taken() {
    let mut engine = small();
    let payload = "p".repeat(400);
    fill(&mut engine, || Enqueue::new(mail(), blob("x")));
    let claims = claim(&mut engine, 2);
    let next = |payload: &str| vec![Enqueue::new(mail(), blob(payload))];
    let completion = |claim, follow_ups| Completion {
        claim: at_claim(claim),
        result: None,
        follow_ups,
        writes: Vec::new(),
    };
    let larger = engine.complete(at(3), completion(claims[0], next(&payload))).unwrap_err();
    assert_eq!(larger.code(), Code::StoreFull);
    engine.complete(at(3), completion(claims[0], next("y"))).unwrap().unwrap();
    engine.complete(at(3), completion(claims[1], Vec::new())).unwrap().unwrap();
    engine.enqueue(at(4), Enqueue::new(mail(), blob("z"))).unwrap();
    commit(&mut engine);
    assert_verified(&engine);
}

#[test]
fn a_full_store_is_restored_from_its_snapshot_and_one_far_beyond_the_limit_is_not() {
    let mut engine = small();
    fill(&mut engine, || Enqueue::new(mail(), blob("x")));
    let snapshot = engine.snapshot().bytes;
    let usage = engine.state().usage;
    engine.restore(&snapshot).unwrap();
    assert_eq!(engine.state().usage, usage);
    let tiny = Options { store_bytes_max: ROOM / 2, ..engine.options().clone() };
    let refused = Engine::new(tiny).restore(&snapshot).unwrap_err();
    assert_eq!(refused.code(), Code::StoreFull);
}

#[test]
fn the_limit_leaves_a_third_of_the_memory_of_an_engine() {
    const { assert!(STORE_BYTES_MAX <= (2 << 30) / 3 * 2) }
}
