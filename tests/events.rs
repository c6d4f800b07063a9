//! What is told of a commit, and to whom.

mod support;

use fencepost::engine::Engine;
use fencepost::event::{Event, EventKind};
use fencepost::id::Version;
use fencepost::limits::EVENTS_RECORDED_MAX;
use proptest::prelude::*;
use support::command::{blob, queue};
use support::domain::step;
use support::history::History;
use support::run::Run;
use support::script::{check, take_events};
use support::{START, at, commit, engine};

#[test]
fn each_step_of_a_task_is_one_event_with_whose_claim_it_was() {
    check(
        "
        0ms  enqueue mail a key k       => task 1
        0ms  events                     => enqueued mail 1 key k
        0ms  claim mail as w for 10ms   => task 1 token A
        1ms  heartbeat 1 token A progress half => until 11ms
        1ms  events                     => claimed mail 1 key k w A | heartbeat mail 1 key k w A
        2ms  fail 1 token A because oops delay 3ms => scheduled 5ms
        2ms  events                     => retried mail 1 key k w A
        5ms  claim mail as v for 10ms   => task 1 token B
        6ms  release 1 token B          => released
        6ms  events                     => claimed mail 1 key k v B | released mail 1 key k v B
        6ms  claim mail as w for 10ms   => task 1 token C
        7ms  complete 1 token C         => done
        7ms  events                     => claimed mail 1 key k w C | completed mail 1 key k w C
        7ms  events                     => nothing
    ",
    );
}

#[test]
fn a_completion_that_keeps_its_result_and_its_key_is_one_event_and_its_end_another() {
    check(
        "
        0ms  enqueue mail a key k keep-result 5ms => task 1
        0ms  claim mail as w for 10ms   => task 1 token A
        1ms  complete 1 token A with yes => done
        1ms  events  => enqueued mail 1 key k | claimed mail 1 key k w A | completed mail 1 key k w A
        6ms  sweep mail                 => expired 0 purged 1
        6ms  events                     => purged mail 1 key k
    ",
    );
}

#[test]
fn follow_ups_and_writes_are_told_with_the_completion_they_came_with() {
    check(
        "
        0ms  enqueue mail a             => task 1
        0ms  claim mail as w for 10ms   => task 1 token A
        0ms  events                     => enqueued mail 1 | claimed mail 1 w A
        1ms  complete 1 token A put seen yes del none then post b => done task 2
        1ms  events                     => completed mail 1 w A + enqueued post 2 + value-put seen
    ",
    );
}

#[test]
fn a_failure_without_any_wait_is_told_from_a_release() {
    check(
        "
        0ms  enqueue mail a backoff 0ms => task 1
        0ms  claim mail as w            => task 1 token A
        0ms  fail 1 token A             => ready 0ms
        0ms  claim mail as w            => task 1 token B
        0ms  release 1 token B          => released
        0ms  events  => enqueued mail 1 | claimed mail 1 w A | retried mail 1 w A | claimed mail 1 w B | released mail 1 w B
    ",
    );
}

#[test]
fn an_abandoned_claim_is_told_as_a_release_that_keeps_its_attempt() {
    check(
        "
        0ms  enqueue mail a             => task 1
        5ms  claim mail as w            => task 1 token A
        5ms  abandon 1 token A          => abandoned
        5ms  events                     => enqueued mail 1 | claimed mail 1 w A | released mail 1 w A for abandoned
        5ms  claim mail as v            => task 1 token B
        5ms  heartbeat 1 token A        => fenced
        5ms  events                     => claimed mail 1 v B
    ",
    );
}

#[test]
fn what_a_dead_holder_had_is_told_as_released() {
    check(
        "
        0ms  enqueue mail a             => task 1
        5ms  claim mail as w            => task 1 token A
        5ms  acquire leader as w for 1s => token B, until 1005ms
        5ms  events                     => enqueued mail 1 | claimed mail 1 w A | lease-acquired leader w B
        5ms  reclaim token 0            => claims 1 leases 1
        5ms  events                     => released mail 1 w A for abandoned + lease-released leader w B
    ",
    );
}

#[test]
fn a_death_says_of_what_also_when_the_dead_are_not_kept() {
    check(
        "
        0ms  enqueue mail a attempts 1  => task 1
        0ms  enqueue mail b             => task 2
        0ms  enqueue mail c keep-dead 0ms => task 3
        0ms  claim mail as w max 3 for 1ms => task 1 token A, task 2 token B, task 3 token C
        0ms  enqueue mail d expires 1ms => task 4
        0ms  events  => enqueued mail 1 | enqueued mail 2 | enqueued mail 3 | claimed mail 1 w A + claimed mail 2 w B + claimed mail 3 w C | enqueued mail 4
        1ms  fail 2 token B final because no => dead
        1ms  events                     => dead mail 2 w B for failed
        1ms  fail 3 token C final       => dead
        1ms  events                     => dead mail 3 w C for failed
        5ms  sweep mail                 => expired 2 purged 0
        5ms  events                     => dead mail 1 w A for exhausted + dead mail 4 for expired
        6ms  redrive mail ids 1         => 1
        6ms  purge mail ids 2           => 1
        6ms  events                     => redriven mail 1 | purged mail 2
    ",
    );
}

#[test]
fn a_cancellation_carries_its_reason_and_the_claim_it_ended() {
    check(
        "
        0ms  enqueue mail a             => task 1
        0ms  enqueue mail b             => task 2
        0ms  claim mail as w            => task 1 token A
        0ms  events                     => enqueued mail 1 | enqueued mail 2 | claimed mail 1 w A
        1ms  cancel 1 because enough    => cancelled
        1ms  cancel 2                   => cancelled
        1ms  cancel 2                   => nothing
        1ms  events                     => cancelled mail 1 w A for enough | cancelled mail 2
    ",
    );
}

#[test]
fn a_lapse_is_no_event_and_the_successor_is_told_with_its_own_token() {
    check(
        "
        0ms  enqueue mail a             => task 1
        0ms  claim mail as w for 5ms    => task 1 token A
        0ms  events                     => enqueued mail 1 | claimed mail 1 w A
        6ms  heartbeat 1 token A        => expired
        6ms  events                     => nothing
        6ms  claim mail as v for 5ms    => task 1 token B
        6ms  complete 1 token A         => fenced
        6ms  events                     => claimed mail 1 v B
    ",
    );
}

#[test]
fn a_pause_is_told_once() {
    check(
        "
        0ms  pause mail                 => ok
        0ms  pause mail                 => ok
        0ms  resume mail                => ok
        0ms  resume mail                => ok
        0ms  events                     => paused mail | resumed mail
    ",
    );
}

#[test]
fn a_lease_is_told_from_grant_to_release_and_a_record_nobody_holds_goes_silently() {
    check(
        "
        0ms  acquire job as u for 5ms   => token A until 5ms
        1ms  renew job token A          => until 6ms
        2ms  acquire job as u for 5ms   => token B until 7ms
        7ms  acquire job as v for 5ms   => token C until 12ms
        8ms  give-back job token B      => nothing
        8ms  give-back job token C      => released
        8ms  events  => lease-acquired job u A | lease-renewed job u A | lease-acquired job u B | lease-acquired job v C | lease-released job v C
        2d   maintain                   => expired 0 purged 0
        2d   events                     => nothing
    ",
    );
}

#[test]
fn values_are_told_by_their_keys() {
    check(
        "
        0ms  put a 1                    => version V
        0ms  put a 2                    => version W
        0ms  del a                      => deleted
        0ms  del a                      => nothing
        0ms  events                     => value-put a | value-put a | value-deleted a
    ",
    );
}

#[test]
fn a_transaction_is_told_whole_and_one_that_is_given_up_is_not() {
    check(
        "
        0ms  enqueue mail a             => task 1
        0ms  claim mail as w            => task 1 token A
        0ms  events                     => enqueued mail 1 | claimed mail 1 w A
        1ms  begin                      => ok
        1ms  heartbeat 1 token A        => until 300001ms
        1ms  complete 1 token A         => done
        1ms  enqueue post b             => task 2
        1ms  put k v                    => version V
        1ms  commit                     => ok
        1ms  begin                      => ok
        1ms  enqueue post c             => task 3
        1ms  abort                      => ok
        1ms  events  => heartbeat mail 1 w A + completed mail 1 w A + enqueued post 2 + value-put k
    ",
    );
}

#[test]
fn a_repaired_clock_is_nobodys_heartbeat() {
    check(
        "
        1h   enqueue mail a             => task 1
        1h   claim mail as w for 10m    => task 1 token A
        1h   acquire job as u for 10m   => token B until 70m
        1h   events                     => enqueued mail 1 | claimed mail 1 w A | lease-acquired job u B
        0ms  repair-clock               => repaired
        0ms  events                     => nothing
        0ms  status job                 => u until 10m token B
    ",
    );
}

#[test]
fn callers_are_told_what_they_may_inspect_and_nothing_else() {
    check(
        "
        caller none may
        caller producer may queue:mail:enqueue,claim,settle,manage lease:job:acquire kv:a:write
        caller viewer may queue:mail:inspect
        caller keeper may lease:j*:inspect kv:a:read
        0ms  enqueue mail x             => task 1
        0ms  enqueue mailbox x          => task 2
        0ms  pause mail                 => ok
        0ms  acquire job as u for 5ms   => token A until 5ms
        0ms  acquire other as u for 5ms => token B until 5ms
        0ms  put a 1                    => version V
        0ms  put ab 1                   => version W
        0ms  none: events               => nothing
        0ms  producer: events           => nothing
        0ms  viewer: events             => enqueued mail 1 | paused mail
        0ms  keeper: events             => lease-acquired job u A | value-put a
    ",
    );
}

/// A log of `commands` values, one command each, and a replica that has merged them.
fn log_of_values(commands: u64) -> (Engine, Vec<Vec<u8>>) {
    let mut writer = engine(1);
    writer.found_if_empty(START).unwrap();
    let mut log = vec![commit(&mut writer)];
    for command in 0..commands {
        writer.put_value(at(command), queue("k").unwrap(), blob("v")).unwrap();
        log.push(commit(&mut writer));
    }
    (writer, log)
}

fn kinds(events: &[Event]) -> Vec<(EventKind, u64)> {
    events.iter().map(|event| (event.kind, event.version.get())).collect()
}

#[test]
fn nothing_is_recorded_while_nobody_listens() {
    let (_, log) = log_of_values(3);
    let mut replica = engine(2);
    replica.merge(&log[0]).unwrap();
    replica.merge(&log[1]).unwrap();
    assert_eq!(take_events(&mut replica), []);
    replica.record_events(Version::saturating(2));
    replica.merge(&log[2]).unwrap();
    replica.stop_recording();
    replica.merge(&log[3]).unwrap();
    assert_eq!(take_events(&mut replica), []);
}

#[test]
fn an_entry_is_told_at_its_own_time_to_whom_it_was_not_told_before() {
    let (_, log) = log_of_values(4);
    let mut replica = engine(2);
    replica.record_events(Version::saturating(3));
    log.iter().for_each(|entry| replica.merge(entry).unwrap());
    let events = take_events(&mut replica);
    assert_eq!(kinds(&events), [(EventKind::ValuePut, 4), (EventKind::ValuePut, 5)]);
    assert_eq!(events.iter().map(|event| event.at).collect::<Vec<_>>(), [at(2), at(3)]);
}

#[test]
fn a_snapshot_beyond_what_was_told_is_a_gap_and_an_older_one_is_none() {
    let (writer, log) = log_of_values(4);
    let snapshot = writer.snapshot().bytes;
    let version = writer.state().head.version;
    for (told, expected) in [
        (3, vec![(EventKind::Gap, version.get())]),
        (version.get(), vec![]),
        (version.get() + 1, vec![]),
    ] {
        let mut replica = engine(2);
        log[..2].iter().for_each(|entry| replica.merge(entry).unwrap());
        replica.record_events(Version::saturating(told));
        replica.restore(&snapshot).unwrap();
        assert_eq!(kinds(&take_events(&mut replica)), expected, "told up to {told}");
    }
}

#[test]
fn what_follows_on_a_gap_is_told() {
    let (mut writer, _) = log_of_values(2);
    let mut replica = engine(2);
    replica.record_events(Version::saturating(1));
    replica.restore(&writer.snapshot().bytes).unwrap();
    writer.put_value(at(9), queue("k").unwrap(), blob("v")).unwrap();
    replica.merge(&commit(&mut writer)).unwrap();
    assert_eq!(kinds(&take_events(&mut replica)), [(EventKind::Gap, 3), (EventKind::ValuePut, 4)]);
}

#[test]
fn a_log_founded_on_a_snapshot_begins_with_a_gap() {
    let (old, _) = log_of_values(3);
    let mut new = engine(2);
    new.record_events(Version::default());
    new.found_restoring(at(9)).unwrap();
    let entry = commit(&mut new);
    assert_eq!(kinds(&take_events(&mut new)), []);
    let mut founder = engine(3);
    founder.restore(&old.snapshot().bytes).unwrap();
    founder.adopt(&entry).unwrap();
    new.restore(&founder.snapshot().bytes).unwrap();
    let version = new.state().head.version.get();
    assert_eq!(kinds(&take_events(&mut new)), [(EventKind::Gap, version)]);
}

#[test]
fn too_many_events_give_way_to_one_gap_and_the_next_command_is_told() {
    let mut writer = engine(1);
    writer.record_events(Version::default());
    let mut put = |count: usize| {
        let now = writer.begin_transaction(at(0)).unwrap();
        for _ in 0..count {
            writer.put_value(now, queue("k").unwrap(), blob("v")).unwrap();
        }
        writer.commit_transaction(now).unwrap();
        commit(&mut writer);
        take_events(&mut writer)
    };
    assert_eq!(put(EVENTS_RECORDED_MAX).len(), EVENTS_RECORDED_MAX);
    assert_eq!(kinds(&put(EVENTS_RECORDED_MAX + 2)), [(EventKind::Gap, 3)]);
    assert_eq!(kinds(&put(1)), [(EventKind::ValuePut, 4)]);
}

proptest! {
    #![proptest_config(support::run::cases(500))]

    /// Tasks, owners, leases, pauses and versions of values, from the events and nothing else.
    #[test]
    fn the_events_alone_tell_every_tasks_state_and_its_one_owner(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut run = Run::new();
        let mut history = History::default();
        run.record_events();
        for step in &steps {
            run.step(step);
            history.tell(&run.take_events());
            history.require_same(run.merged());
        }
    }
}
