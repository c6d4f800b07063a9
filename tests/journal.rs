//! The log: one proposal at a time, each on the entry before, and what entries and snapshots keep.

mod support;

use fencepost::blob::Blob;
use fencepost::change::{Change, CommitId, Removal};
use fencepost::check::verify;
use fencepost::codec::decode_entry;
use fencepost::error::Code;
use fencepost::id::{Instant, Millis, QueueId, Slot, TaskId};
use fencepost::name::NameRef;
use fencepost::ops::{ClaimRef, Enqueue, Failure, Heartbeat};
use fencepost::task::Stamps;
use std::sync::Arc;
use support::command::blob;
use support::log::{assert_refused, claim, mail, small_log};
use support::script::assert_same;
use support::{assert_verified, at, commit, engine, seal};

#[test]
fn an_entry_of_another_log_is_told_as_such() {
    let (mut engine, _) = small_log();
    let mut other = support::engine(7);
    other.put_value(at(0), NameRef::key("k").unwrap(), blob("v")).unwrap();
    let bytes = commit(&mut other);
    let error = assert_refused(&mut engine, &bytes, Code::LogReplaced);
    assert_eq!(error.kind().as_str(), "data");
}

#[test]
fn entries_come_in_order_each_once_on_the_entry_before() {
    let (mut engine, log) = small_log();
    assert_refused(&mut engine, &log[2], Code::JournalCorrupt);
    assert_refused(&mut engine, &log[0], Code::JournalCorrupt);
    let mut replica = support::engine(2);
    assert_refused(&mut replica, &log[1], Code::JournalCorrupt);
    replica.merge(&log[0]).unwrap();
    assert_refused(&mut replica, &log[2], Code::JournalCorrupt);
    let (mut forked, _) = decode_entry(&log[1]).unwrap();
    forked.previous[0] ^= 1;
    assert_refused(&mut replica, &seal(&forked), Code::JournalCorrupt);
    forked.previous[0] ^= 1;
    forked.slot = Slot::saturating(3);
    assert_refused(&mut replica, &seal(&forked), Code::JournalCorrupt);
    replica.merge(&log[1]).unwrap();
}

#[test]
fn two_proposals_for_one_slot_do_not_both_fit() {
    let (mut one, log) = small_log();
    let mut other = engine(2);
    log.iter().for_each(|entry| other.merge(entry).unwrap());
    let key = NameRef::key("k").unwrap();
    one.put_value(at(9), key, blob("one")).unwrap();
    other.put_value(at(9), key, blob("other")).unwrap();
    let won = commit(&mut one);
    other.seal().unwrap().unwrap();
    assert_eq!(other.merge(&won).unwrap_err().code(), Code::InvalidArgument);
    other.discard();
    other.merge(&won).unwrap();
    let version = other.put_value(at(9), key, blob("other")).unwrap();
    let bytes = commit(&mut other);
    one.merge(&bytes).unwrap();
    assert_eq!(one.view(at(9)).value(key).unwrap().unwrap().version, version);
    assert_same(&one, &other);
}

#[test]
fn an_entry_is_not_merged_over_what_is_staged() {
    let (mut one, log) = small_log();
    let mut other = engine(2);
    log.iter().for_each(|entry| other.merge(entry).unwrap());
    let key = NameRef::key("k").unwrap();
    one.put_value(at(9), key, blob("one")).unwrap();
    let bytes = commit(&mut one);
    other.put_value(at(9), key, blob("other")).unwrap();
    assert_eq!(other.merge(&bytes).unwrap_err().code(), Code::InvalidArgument);
    other.discard();
    other.begin_transaction(at(9)).unwrap();
    assert_eq!(other.merge(&bytes).unwrap_err().code(), Code::InvalidArgument);
    other.abort_transaction();
    other.merge(&bytes).unwrap();
}

#[test]
fn the_sealed_entry_may_be_merged_from_its_bytes_but_not_from_damaged_ones() {
    let (mut engine, _) = small_log();
    engine.put_value(at(9), NameRef::key("k").unwrap(), blob("one")).unwrap();
    let sealed = engine.seal().unwrap().unwrap();
    let mut damaged = sealed.bytes.clone();
    damaged[60] ^= 1;
    assert_eq!(engine.merge(&damaged).unwrap_err().code(), Code::JournalCorrupt);
    engine.merge(&sealed.bytes).unwrap();
    assert_eq!(engine.state().head.hash, sealed.hash);
    assert!(engine.merge_sealed().is_err(), "it is merged already");
}

#[test]
fn one_proposal_at_a_time() {
    let (mut engine, _) = small_log();
    let key = NameRef::key("k").unwrap();
    engine.put_value(at(9), key, blob("one")).unwrap();
    engine.seal().unwrap().unwrap();
    let refused = [
        engine.put_value(at(9), key, blob("two")).unwrap_err(),
        engine.seal().unwrap_err(),
        engine.begin_transaction(at(9)).unwrap_err(),
        engine.repair_clock(at(0), &Default::default()).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.code() == Code::InvalidArgument));
    assert_eq!(&*engine.view(at(9)).value(key).unwrap().unwrap().value, b"v");
    engine.discard();
    assert!(engine.seal().unwrap().is_none());
    engine.put_value(at(9), key, blob("two")).unwrap();
    commit(&mut engine);
}

#[test]
fn snapshot_and_tail_equal_a_replay_from_the_start_at_every_slot() {
    let (engine, log) = small_log();
    for cut in 1..=log.len() {
        let mut replayed = support::engine(2);
        log[..cut].iter().for_each(|entry| replayed.merge(entry).unwrap());
        let mut restored = support::engine(3);
        restored.restore(&replayed.snapshot().bytes).unwrap();
        log[cut..].iter().for_each(|entry| restored.merge(entry).unwrap());
        assert_same(&engine, &restored);
        assert_verified(&restored);
        assert_eq!(engine.snapshot().bytes, restored.snapshot().bytes);
    }
}

#[test]
fn a_claim_writes_tens_of_bytes_whatever_the_payload_weighs() {
    let mut engine = engine(1);
    let payload = Blob::from(&vec![b'x'; 100_000][..]);
    engine.enqueue(at(0), Enqueue::new(mail(), payload)).unwrap();
    assert!(commit(&mut engine).len() > 100_000);
    let (id, token) = claim(&mut engine, 5).unwrap();
    assert!(commit(&mut engine).len() < 300);
    let claim = ClaimRef { queue: mail(), id, token };
    let beat = Heartbeat { claim, extend: Some(Millis::saturating(5)), progress: None };
    engine.heartbeat(at(6), beat).unwrap().unwrap();
    assert!(commit(&mut engine).len() < 300);
    assert_eq!(engine.complete_many(at(7), &[claim]).unwrap(), 1);
    assert!(commit(&mut engine).len() < 300);
}

#[test]
fn a_command_that_changes_nothing_writes_nothing() {
    let (mut engine, _) = small_log();
    engine.sweep(at(9), mail()).unwrap();
    engine.set_paused(at(9), mail(), false).unwrap();
    engine.delete_value(at(9), NameRef::key("none").unwrap()).unwrap();
    assert!(engine.seal().unwrap().is_none());
}

#[test]
fn a_commit_is_found_again_after_it_was_compacted_away() {
    let (mut engine, _) = small_log();
    engine.put_value(at(9), NameRef::key("k").unwrap(), blob("x")).unwrap();
    engine.seal().unwrap().unwrap();
    let sent = engine.sealed_commit().unwrap();
    assert!(!engine.holds(sent), "its outcome is open");
    engine.merge_sealed().unwrap();
    assert!(engine.holds(sent));
    let mut restored = support::engine(2);
    restored.restore(&engine.snapshot().bytes).unwrap();
    assert!(restored.holds(sent));
    assert!(!restored.holds(CommitId { counter: sent.counter + 1, ..sent }));
    assert!(!restored.holds(CommitId { replica: 99, ..sent }));
}

#[test]
fn commit_ids_are_not_used_again_after_a_discard_or_a_restart() {
    let (mut engine, _) = small_log();
    let key = NameRef::key("k").unwrap();
    let mut commits = Vec::new();
    for _ in 0..3 {
        engine.put_value(at(9), key, blob("x")).unwrap();
        engine.seal().unwrap().unwrap();
        commits.push(engine.sealed_commit().unwrap().counter);
        engine.discard();
    }
    engine.put_value(at(9), key, blob("x")).unwrap();
    commit(&mut engine);
    let mut restarted = support::engine(1);
    restarted.restore(&engine.snapshot().bytes).unwrap();
    restarted.put_value(at(9), key, blob("x")).unwrap();
    restarted.seal().unwrap().unwrap();
    commits.push(restarted.sealed_commit().unwrap().counter);
    assert_eq!(commits, [4, 5, 6, 8]);
}

#[test]
fn the_replica_that_was_silent_longest_is_forgotten_first() {
    let (mut engine, _) = small_log();
    let key = NameRef::key("k").unwrap();
    let first = CommitId { replica: 1, counter: 1 };
    for replica in 0..256 {
        assert!(engine.holds(first), "{replica}");
        let mut other = support::engine(100 + replica);
        other.restore(&engine.snapshot().bytes).unwrap();
        other.put_value(at(9), key, blob("x")).unwrap();
        engine.merge(&commit(&mut other)).unwrap();
    }
    assert!(!engine.holds(first));
    assert!(engine.holds(CommitId { replica: 100, counter: 1 }));
}

#[test]
fn founding_fixes_log_id_store_and_the_first_tokens() {
    let mut one = engine(1);
    one.found_if_empty(at(0)).unwrap();
    one.found_if_empty(at(0)).unwrap();
    let sealed = one.seal().unwrap().unwrap();
    assert_eq!(one.found_if_empty(at(0)).unwrap_err().code(), Code::InvalidArgument);
    one.merge(&sealed.bytes).unwrap();
    one.found_if_empty(at(0)).unwrap();
    assert!(one.seal().unwrap().is_none());
    let head = &one.state().head;
    assert_eq!(head.store.as_ref().unwrap().as_str(), "tests");
    assert_eq!((head.slot.get(), head.version.get(), head.time), (1, 1, at(0)));
    assert_eq!(one.state().counters.token.get(), at(1_000).get() * 1_000);
    let mut other = engine(2);
    other.found_if_empty(at(0)).unwrap();
    commit(&mut other);
    assert_ne!(one.state().head.log_id, other.state().head.log_id);
}

#[test]
fn a_restored_snapshot_founds_a_new_log_whose_tokens_versions_and_time_go_on() {
    let (old, _) = small_log();
    let mut new = engine(9);
    new.found_restoring(at(0)).unwrap();
    let early = new.enqueue(at(0), Enqueue::new(mail(), blob("x")));
    assert_eq!(early.unwrap_err().code(), Code::JournalCorrupt);
    let entry = commit(&mut new);
    assert!(new.is_restoring());
    let mut founder = engine(10);
    founder.restore(&old.snapshot().bytes).unwrap();
    founder.adopt(&entry).unwrap();
    assert_eq!(founder.state().head.log_id, new.state().head.log_id);
    new.restore(&founder.snapshot().bytes).unwrap();
    assert!(!new.is_restoring());
    assert_eq!(new.state().rows(), old.state().rows());
    assert_ne!(new.state().head.log_id, old.state().head.log_id);
    assert_eq!(new.state().head.time, old.state().head.time);
    assert!(new.state().counters.token >= old.state().counters.token);
    assert_eq!(new.state().counters.task_id, old.state().counters.task_id);
    assert!(new.state().head.version > old.state().head.version);
    assert_same(&new, &founder);
    assert_verified(&new);
    assert!(claim(&mut new, 9).unwrap().1 > old.state().counters.token);
    founder.merge(&commit(&mut new)).unwrap();
    assert_same(&new, &founder);
    let again = new.found_restoring(at(0)).unwrap_err();
    assert_eq!(again.code(), Code::InvalidArgument);
}

#[test]
fn a_log_whose_restore_did_not_end_takes_nothing() {
    let mut new = engine(9);
    new.found_restoring(at(0)).unwrap();
    let entry = commit(&mut new);
    let refused = new.enqueue(at(1), Enqueue::new(mail(), blob("x"))).unwrap_err();
    assert_eq!(refused.code(), Code::JournalCorrupt);
    let mut other = engine(10);
    other.merge(&entry).unwrap();
    assert!(other.is_restoring());
    let (_, log) = small_log();
    assert!(other.adopt(&log[0]).is_err());
}

#[test]
fn a_snapshot_founds_nothing_over_an_entry_that_is_sealed() {
    let mut new = engine(9);
    new.found_if_empty(at(0)).unwrap();
    new.seal().unwrap().expect("the log is founded");
    let error = new.found_restoring(at(0)).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    new.merge_sealed().unwrap();
    assert_verified(&new);
}

#[test]
fn a_key_stays_taken_when_its_new_holder_comes_before_the_old_one_goes() {
    let key = NameRef::key("k").unwrap();
    let old = || Enqueue { key: Some(key), ..Enqueue::new(mail(), blob("old")) };
    let mut origin = engine(1);
    origin.enqueue(at(0), old()).unwrap();
    let before = commit(&mut origin);
    origin.enqueue(at(1), Enqueue::new(mail(), blob("new"))).unwrap();
    let (mut entry, _) = decode_entry(&commit(&mut origin)).unwrap();
    let Change::TaskCreated { spec, row, .. } = &mut entry.body.changes[0] else {
        panic!("the entry creates a task")
    };
    Arc::make_mut(spec).key = Some(key.to_name());
    row.holds_key = true;
    let removal = Change::TaskRemoved { id: TaskId::saturating(1), removal: Removal::Purged };
    entry.body.changes.push(removal);
    entry.body.command_ends = vec![2];
    let mut replica = engine(2);
    replica.merge(&before).unwrap();
    replica.merge(&seal(&entry)).unwrap();
    assert_verified(&replica);
    let found = replica.enqueue(at(2), old()).unwrap();
    assert_eq!((found.id, found.created), (TaskId::saturating(2), false));
}

#[test]
fn what_is_overdue_wakes_the_store_until_it_is_enforced_whoever_looked_meanwhile() {
    let mut engine = engine(1);
    let brief = Some(Millis::saturating(10));
    engine
        .enqueue(at(0), Enqueue { expires_in: brief, ..Enqueue::new(mail(), blob("a")) })
        .unwrap();
    let stamps = Stamps { dead_retention: Millis::saturating(20), ..Stamps::default() };
    engine.enqueue(at(0), Enqueue { stamps, ..Enqueue::new(mail(), blob("b")) }).unwrap();
    commit(&mut engine);
    assert_eq!(engine.state().next_due(), Some(at(10)));
    engine.view(at(15));
    assert_eq!(engine.state().next_due(), Some(at(15)));
    engine.maintain(at(15)).unwrap();
    commit(&mut engine);
    assert_eq!(engine.state().next_due(), None);
    let (id, token) = claim(&mut engine, 20).unwrap();
    let held = ClaimRef { queue: mail(), id, token };
    let failure =
        Failure { claim: held, text: None, delay: None, is_final: true, writes: Vec::new() };
    assert!(engine.fail(at(20), failure).unwrap().is_ok());
    commit(&mut engine);
    assert_eq!(engine.state().next_due(), Some(at(40)));
    engine.view(at(50));
    assert_eq!(engine.state().next_due(), Some(at(50)));
    let mut restored = support::engine(2);
    restored.restore(&engine.snapshot().bytes).unwrap();
    for replica in [&mut engine, &mut restored] {
        replica.view(at(60));
        assert_eq!(replica.state().next_due(), Some(at(60)));
        replica.maintain(at(60)).unwrap();
        commit(replica);
        assert_eq!(replica.state().next_due(), None);
        assert_verified(replica);
    }
}

#[test]
fn a_queue_that_would_wake_the_store_at_another_time_than_its_rows_is_found() {
    let mut engine = engine(1);
    let expires_in = Some(Millis::saturating(10));
    engine.enqueue(at(0), Enqueue { expires_in, ..Enqueue::new(mail(), blob("a")) }).unwrap();
    commit(&mut engine);
    let mut state = engine.state().clone();
    assert_eq!(verify(&state).problems, Vec::<String>::new());
    state.queues[0].outlook.next_due = Some(at(11));
    assert_eq!(verify(&state).problems, ["queue \"mail\": what time changes differs"]);
}

#[test]
fn the_store_is_woken_when_a_key_that_outlived_its_task_is_free() {
    let mut first = engine(1);
    let key = Some(NameRef::key("k").unwrap());
    first.enqueue(at(0), Enqueue { key, ..Enqueue::new(mail(), blob("a")) }).unwrap();
    let (id, token) = claim(&mut first, 5).unwrap();
    let held = ClaimRef { queue: mail(), id, token };
    assert_eq!(first.complete_many(at(7), &[held]).unwrap(), 1);
    commit(&mut first);
    let mut restored = engine(2);
    restored.restore(&first.snapshot().bytes).unwrap();
    let free = at(7).after(Stamps::default().key_retention);
    for replica in [&mut first, &mut restored] {
        assert_eq!(replica.state().next_due(), Some(free));
        replica.maintain(Instant::saturating(free.get() - 1)).unwrap();
        assert_eq!(replica.staged_commands(), 0);
        replica.maintain(free).unwrap();
        commit(replica);
        assert!(replica.state().queue(QueueId(0)).kept_keys().next().is_none());
        assert_eq!(replica.state().next_due(), None);
        assert_verified(replica);
    }
}
