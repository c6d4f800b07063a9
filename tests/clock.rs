//! Time: boundaries, clocks that jump, and how a wrong one is repaired.

mod support;

use fencepost::id::Instant;
use fencepost::limits::NOW_MAX;
use fencepost::name::NameRef;
use fencepost::ops::{ClaimRequest, Enqueue};
use support::command::{blob, queue};
use support::script::check;
use support::{assert_verified, at, commit, engine};

#[test]
fn the_log_does_not_run_backwards_when_the_clock_does() {
    check(
        "
        1h   enqueue mail a              => task 1
        0ms  enqueue mail b              => task 2
        0ms  get 2 due created           => 1h 1h
        0ms  enqueue mail c delay 5ms    => task 3
        1h+4ms get 3 state               => scheduled
        0ms  get 3 state due             => scheduled 1h+5ms
        0ms  claim mail as w max 9 for 10ms => task 1, token A; task 2, token B
        0ms  get 1 deadline              => 1h+10ms
        1h+5ms next-due mail             => 1h+5ms
        1h+11ms claim mail as w max 9    => task 1, token C; task 2, token D; task 3, token E
    ",
    );
}

#[test]
fn a_jump_forward_is_taken_and_recorded() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 1h      => task 1, token A
        0ms   acquire l as w for 1h       => token L, until 1h
        9d    complete 1 token A          => expired
        9d    claim mail as v for 1h      => task 1, token B
        0ms   get 1 claimed               => 9d
        0ms   acquire l as v for 1h       => token M, until 9d+1h
        0ms   complete 1 token A          => fenced
        0ms   guard l token L             => fenced
        0ms   complete 1 token B          => done
    ",
    );
}

#[test]
fn a_read_in_the_future_changes_nothing() {
    check(
        "
        0ms   enqueue mail a delay 1d expires 2d attempts 1 => task 1
        0ms   enqueue mail b keep-dead 1d => task 2
        0ms   claim mail as w for 1d      => task 2, token A
        0ms   fail 2 token A final        => dead
        9d    counts mail                 => ready 1
        0ms   counts mail                 => scheduled 1 dead 1
        0ms   claim mail as w             => nothing
        1d    claim mail as w             => task 1, token B
    ",
    );
}

#[test]
fn a_clock_beyond_the_year_2200_is_broken_and_only_the_logs_own_time_counts() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    engine.enqueue(Instant::NEVER, Enqueue::new(name, blob("x"))).unwrap();
    commit(&mut engine);
    assert_eq!(engine.state().head.time, NOW_MAX);
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: name, owner, max: 1, lease: None };
    let token = engine.claim(Instant::NEVER, request).unwrap()[0].claim().unwrap().token;
    assert_eq!(token.get(), (NOW_MAX.get() + 1_000) * 1_000 + 1);
}

#[test]
fn a_new_log_starts_its_tokens_a_second_ahead_and_follows_the_clock() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    let owner = NameRef::owner("w").unwrap();
    let mut token_at = |milliseconds| {
        let request = ClaimRequest { queue: name, owner, max: 1, lease: None };
        engine.enqueue(at(milliseconds), Enqueue::new(name, blob("x"))).unwrap();
        let claimed = engine.claim(at(milliseconds), request).unwrap();
        claimed[0].claim().unwrap().token.get()
    };
    let floor = |milliseconds| at(milliseconds).get() * 1_000;
    assert_eq!(token_at(0), floor(1_000) + 1);
    assert_eq!(token_at(0), floor(1_000) + 2);
    assert_eq!(token_at(999), floor(1_000) + 3);
    assert_eq!(token_at(1_001), floor(1_001));
    assert_eq!(token_at(5_000), floor(5_000));
    assert_eq!(token_at(0), floor(5_000) + 1);
}

#[test]
fn repairing_a_right_clock_does_nothing() {
    check(
        "
        0ms   repair-clock                => nothing
        5ms   enqueue mail a              => task 1
        5ms   repair-clock                => nothing
        9ms   repair-clock                => nothing
        9ms   get 1 created               => 5ms
    ",
    );
}

#[test]
fn repairing_cuts_claims_and_leases_to_their_present_length_and_touches_nothing_else() {
    check(
        "
        100d  enqueue mail a delay 1h     => task 1
        100d  enqueue mail b              => task 2
        100d  enqueue mail c expires 1h   => task 3
        100d  claim mail as w for 30ms    => task 2, token A
        100d  acquire l as w for 30ms     => token L, until 100d+30ms
        100d  acquire m as w for 1d       => token M, until 101d
        100d  renew m token M for 50ms    => until 100d+50ms
        100d  acquire n as w for 1d       => token N, until 101d
        100d  give-back n token N         => released
        0ms   repair-clock                => repaired
        0ms   repair-clock                => nothing
        0ms   get 1 due                   => 100d+1h
        0ms   get 2 deadline token attempt => 30ms A 1
        0ms   get 3 expires state         => 100d+1h scheduled
        0ms   status l                    => w until 30ms token L
        0ms   status m                    => w until 50ms token M
        0ms   status n                    => released token N
        30ms  heartbeat 2 token A         => until 60ms
        30ms  acquire l as v for 1s       => token O, until 1030ms
        61ms  claim mail as v             => task 2, token P
        61ms  complete 2 token A          => fenced
        61ms  guard l token L             => fenced
    ",
    );
}

#[test]
fn a_claim_that_was_renewed_for_long_is_cut_to_its_last_extension() {
    check(
        "
        100d    enqueue mail a            => task 1
        100d    claim mail as w for 30ms  => task 1, token A
        100d+20ms heartbeat 1 token A     => until 100d+50ms
        100d+40ms heartbeat 1 token A extend 90ms => until 100d+130ms
        0ms     repair-clock              => repaired
        0ms     get 1 deadline            => 90ms
        50d     enqueue mail b            => task 2
        10ms    repair-clock              => repaired
        10ms    get 1 deadline            => 90ms
        20ms    heartbeat 1 token A       => until 50ms
    ",
    );
}

#[test]
fn tokens_go_on_rising_after_a_repair() {
    check(
        "
        100d  acquire l as w for 0ms      => token A, until 100d
        0ms   repair-clock                => repaired
        0ms   acquire l as v for 1s       => token B, until 1s
        0ms   guard l token A             => fenced
        0ms   renew l token B-1           => fenced
        0ms   guard l token B             => ok
    ",
    );
}

#[test]
fn a_horizon_that_was_far_ahead_comes_back_with_its_indexes() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    for delay in [0, 5, 1_000, 100_000] {
        let mut task = Enqueue::new(name, blob("x"));
        task.run_at = Some(at(delay));
        engine.enqueue(at(0), task).unwrap();
    }
    commit(&mut engine);
    for (now, ready) in [(200_000, 4), (0, 1), (1_000, 3), (4, 1), (5, 2), (4, 1)] {
        assert_eq!(engine.view(at(now)).counts(name).unwrap()[1], ready);
        assert_verified(&engine);
    }
}
