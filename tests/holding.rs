//! Holding, losing, settling: promises 10 to 25.

mod support;

use support::script::check;

#[test]
fn a_wrong_token_is_refused_and_changes_nothing_and_the_right_one_still_works() {
    for wrong in ["A-1", "A+1", "0", "1", "9007199254740991"] {
        check(&format!(
            "
            0ms  enqueue mail a               => task 1
            0ms  claim mail as w for 30ms     => task 1, token A
            5ms  complete 1 token {wrong} with x put k v => fenced
            5ms  fail 1 token {wrong} final because no put k v => fenced
            5ms  heartbeat 1 token {wrong} extend 1d progress x => fenced
            5ms  release 1 token {wrong}      => fenced
            5ms  get 1 state attempt owner deadline error progress token => inflight 1 w 30ms - - A
            5ms  value k                      => nothing
            6ms  complete 1 token A           => done
        "
        ));
    }
}

#[test]
fn the_first_reason_that_applies_is_told() {
    check(
        "
        0ms  enqueue mail a               => task 1
        0ms  enqueue mail b keep-result 1s => task 2
        0ms  complete 9 token 5           => gone
        0ms  complete 1 token 5           => settled
        0ms  claim mail as w max 2 for 9ms => task 1, token A; task 2, token B
        1ms  complete 2 token B           => done
        1ms  complete 2 token B           => settled
        1ms  complete 2 token A           => settled
        50ms complete 1 token B           => fenced
        50ms complete 1 token A           => expired
        50ms fail 1 token A final         => expired
        50ms cancel 1                     => cancelled
        50ms complete 1 token A           => gone
        50ms fail 1 token A               => gone
    ",
    );
}

#[test]
fn the_owner_holds_at_the_very_deadline_and_not_a_millisecond_later() {
    let settle = [
        ("complete 1 token A", "done"),
        ("fail 1 token A delay 5ms", "scheduled 35ms"),
        ("heartbeat 1 token A extend 5ms", "until 35ms"),
        ("release 1 token A", "released"),
        ("complete-many 1 token A", "1"),
    ];
    for (command, answer) in settle {
        check(&format!(
            "
            0ms   enqueue mail a              => task 1
            0ms   claim mail as w1 for 30ms   => task 1, token A
            30ms  claim mail as w2            => nothing
            30ms  {command}                   => {answer}
        "
        ));
        let refused = if command.starts_with("complete-many") {
            ["0"; 3]
        } else {
            ["expired", "fenced", "gone"]
        };
        let [expired, fenced, gone] = refused;
        check(&format!(
            "
            0ms   enqueue mail a              => task 1
            0ms   claim mail as w1 for 30ms   => task 1, token A
            31ms  {command}                   => {expired}
            31ms  claim mail as w2 for 30ms   => task 1, token B
            31ms  {command}                   => {fenced}
            31ms  get 1 owner attempt         => w2 2
            31ms  complete 1 token B          => done
            31ms  {command}                   => {gone}
        "
        ));
    }
}

#[test]
fn a_lapsed_task_goes_to_the_next_claim_in_its_old_place_without_backoff() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   enqueue mail b              => task 2
        0ms   claim mail as w1 for 30ms   => task 1, token A
        31ms  get 1 state                 => inflight
        31ms  claim mail as w2 max 2 for 30ms => task 1, token B; task 2, token C
        31ms  get 1 attempt owner last-owner deadline due error => 2 w2 w2 61ms 0ms -
        31ms  complete 1 token A          => fenced
        31ms  heartbeat 1 token A         => fenced
        31ms  complete 1 token B          => done
        31ms  complete 1 token A          => gone
    ",
    );
}

#[test]
fn a_later_claim_has_a_larger_token_whatever_the_clock_does() {
    check(
        "
        0ms    acquire l as x for 1s      => token Z, until 1s
        0ms    enqueue mail a             => task 1
        0ms    claim mail as w for 0ms    => task 1, token A
        1ms    claim mail as w for 0ms    => task 1, token B
        0ms    claim mail as w for 0ms    => nothing
        2ms    complete 1 token B         => expired
        2ms    complete 1 token A         => fenced
    ",
    );
}

#[test]
fn an_owner_that_takes_its_own_lapsed_task_again_gets_a_new_token() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        31ms  claim mail as w for 30ms    => task 1, token B
        32ms  complete 1 token A          => fenced
        32ms  heartbeat 1 token A         => fenced
        32ms  complete 1 token B          => done
    ",
    );
}

#[test]
fn a_heartbeat_sets_the_deadline_from_now_and_may_be_repeated() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        10ms  heartbeat 1 token A extend 50ms => until 60ms
        20ms  heartbeat 1 token A extend 5ms  => until 25ms
        20ms  heartbeat 1 token A extend 5ms  => until 25ms
        21ms  heartbeat 1 token A         => until 51ms
        51ms  heartbeat 1 token A extend 1ms  => until 52ms
        53ms  heartbeat 1 token A         => expired
        53ms  get 1 attempt token deadline => 1 A 52ms
    ",
    );
}

#[test]
fn an_extension_of_nothing_is_an_error() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        1ms   heartbeat 1 token A extend 0ms => INVALID_ARGUMENT
        1ms   heartbeat 9 token 1 extend 0ms => INVALID_ARGUMENT
        1ms   get 1 deadline              => 30ms
    ",
    );
}

#[test]
fn progress_is_kept_for_the_next_claim_and_stays_when_none_is_told() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        1ms   get 1 progress              => -
        1ms   heartbeat 1 token A progress half => until 31ms
        2ms   heartbeat 1 token A         => until 32ms
        2ms   get 1 progress              => half
        40ms  claim mail as v for 30ms    => task 1, token B
        40ms  get 1 progress attempt      => half 2
        41ms  heartbeat 1 token B progress most => until 71ms
        42ms  fail 1 token B delay 0ms    => ready 42ms
        42ms  get 1 progress              => most
    ",
    );
}

#[test]
fn a_claim_without_length_is_legal_and_lapses_in_the_next_millisecond() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 0ms     => task 1, token A
        0ms   claim mail as v             => nothing
        0ms   heartbeat 1 token A         => until 0ms
        0ms   get 1 deadline state        => 0ms inflight
        1ms   complete 1 token A          => expired
        1ms   claim mail as v for 0ms     => task 1, token B
        1ms   complete 1 token B          => done
    ",
    );
}

#[test]
fn a_failed_task_waits_for_its_backoff_and_forgets_its_owner() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w             => task 1, token A
        9ms   fail 1 token A because \"no route to host\" => scheduled 2509ms..5009ms
        9ms   get 1 state owner deadline token last-owner => scheduled - - - w
        9ms   get 1 error attempt due     => no route to host 1 2509ms..5009ms
        9ms   fail 1 token A              => settled
        10s   claim mail as v             => task 1, token B
        10s   fail 1 token B              => scheduled 15s..20s
        10s   get 1 error                 => no route to host
    ",
    );
}

#[test]
fn a_failure_with_a_delay_is_due_exactly_then() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w             => task 1, token A
        0ms   fail 1 token A delay 7ms    => scheduled 7ms
        6ms   claim mail as w             => nothing
        7ms   claim mail as w             => task 1, token B
        7ms   fail 1 token B delay 0ms    => ready 7ms
        7ms   claim mail as w             => task 1, token C
    ",
    );
}

#[test]
fn a_backoff_of_nothing_is_due_at_once_and_the_maximum_bounds_the_base() {
    check(
        "
        0ms   enqueue mail a backoff 0ms  => task 1
        0ms   enqueue mail b backoff 1d max-backoff 5ms jitter none => task 2
        0ms   enqueue mail c backoff 10ms jitter full => task 3
        0ms   claim mail as w max 3       => task 1, token A; task 2, token B; task 3, token C
        1ms   fail 1 token A              => ready 1ms
        1ms   fail 2 token B              => scheduled 6ms
        1ms   fail 3 token C delay 9ms    => scheduled 10ms
    ",
    );
}

#[test]
fn the_last_failure_kills_with_the_callers_words_or_the_engines() {
    check("
        0ms   enqueue mail a attempts 1   => task 1
        0ms   enqueue mail b attempts 1   => task 2
        0ms   enqueue mail c              => task 3
        0ms   enqueue mail d              => task 4
        0ms   enqueue mail e attempts 1   => task 5
        0ms   claim mail as w max 5       => task 1, token A; task 2, token B; task 3, token C; task 4, token D; task 5, token E
        1ms   fail 1 token A because boom => dead
        1ms   fail 2 token B              => dead
        1ms   fail 3 token C final because \"no such user\" => dead
        1ms   fail 4 token D final        => dead
        1ms   fail 5 token E final delay 5ms => dead
        1ms   get 1 state reason error died claimed owner last-owner => dead exhausted boom 1ms 0ms - w
        1ms   get 2 reason error          => exhausted max attempts exceeded
        1ms   get 3 reason error attempt  => failed no such user 1
        1ms   get 4 reason error          => failed failed
        1ms   get 5 reason error          => failed failed
        1ms   claim mail as w             => nothing
        1ms   complete 1 token A          => settled
    ");
}

#[test]
fn a_task_that_kills_every_owner_ends_dead_and_others_are_served() {
    check("
        0ms   enqueue mail poison attempts 2 => task 1
        0ms   enqueue mail good delay 25ms   => task 2
        0ms   claim mail as w1 for 10ms   => task 1, token A
        11ms  claim mail as w2 for 10ms   => task 1, token B
        21ms  claim mail as w3 for 10ms   => nothing
        22ms  get 1 state                 => inflight
        22ms  complete 1 token B          => expired
        25ms  claim mail as w3 for 10ms   => task 2, token C
        25ms  get 1 state reason error attempt died last-owner claimed => dead exhausted max attempts exceeded 2 25ms w2 11ms
        25ms  complete 1 token B          => settled
    ");
}

#[test]
fn a_lapse_with_its_attempts_used_up_replaces_the_last_error() {
    check(
        "
        0ms   enqueue mail a attempts 2   => task 1
        0ms   claim mail as w for 10ms    => task 1, token A
        0ms   fail 1 token A because boom delay 0ms => ready 0ms
        0ms   get 1 error                 => boom
        0ms   claim mail as w for 10ms    => task 1, token B
        11ms  sweep mail                  => expired 1 purged 0
        11ms  get 1 error reason          => max attempts exceeded exhausted
    ",
    );
}

#[test]
fn cancel_is_true_in_every_state_and_false_the_second_time() {
    let states = [
        ("ready", "0ms get 1 state => ready"),
        ("inflight", "0ms claim mail as w => task 1, token A"),
        ("lapsed", "0ms claim mail as w for 0ms => task 1, token A"),
        (
            "done",
            "0ms claim mail as w => task 1, token A
                  0ms complete 1 token A => done",
        ),
        (
            "dead",
            "0ms claim mail as w => task 1, token A
                  0ms fail 1 token A final => dead",
        ),
        (
            "retried",
            "0ms claim mail as w => task 1, token A
                     0ms fail 1 token A => scheduled 0ms..10s",
        ),
    ];
    for (_, state) in states {
        check(&format!(
            "
            0ms   enqueue mail a key k keep-result 1s => task 1
            {state}
            5ms   cancel 1 because \"changed my mind\" => cancelled
            5ms   cancel 1                    => nothing
            5ms   get 1 state                 => nothing
            5ms   heartbeat 1 token 1         => gone
            5ms   counts mail                 => nothing
            5ms   enqueue mail b key k        => task 2
        "
        ));
    }
    check("0ms  cancel 1 => nothing");
    check(
        "
        0ms   enqueue mail a delay 1d     => task 1
        0ms   cancel 1                    => cancelled
        0ms   next-due mail               => never
    ",
    );
}

#[test]
fn a_holders_next_call_after_a_cancel_is_refused() {
    for call in ["complete 1 token A", "fail 1 token A", "heartbeat 1 token A", "release 1 token A"]
    {
        check(&format!(
            "
            0ms   enqueue mail a              => task 1
            0ms   claim mail as w             => task 1, token A
            1ms   cancel 1                    => cancelled
            1ms   {call}                      => gone
        "
        ));
    }
}

#[test]
fn completing_many_counts_what_landed() {
    check("
        0ms   complete-many               => 0
        0ms   enqueue-many mail a / b / c / d / e => task 1 task 2 task 3 task 4 task 5
        0ms   enqueue post f              => task 6
        0ms   claim mail as w max 2       => task 1, token A; task 2, token B
        0ms   claim mail as w for 0ms     => task 3, token C
        0ms   claim mail as w             => task 4, token D
        0ms   claim post as w             => task 6, token F
        1ms   cancel 4                    => cancelled
        1ms   complete-many 1 token A, 2 token A, 3 token C, 4 token D, 5 token 1, 99 token A, 6 token F, 1 token A => 2
    ");
}

#[test]
fn complete_applies_writes_and_follow_ups_in_its_own_commit_or_none_of_it() {
    check("
        0ms   put seen x                  => version V
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        1ms   complete 1 token A-1 put k v then mail b   => fenced
        1ms   complete 1 token A check seen none put k v then mail b => changed seen
        1ms   complete 1 token A put k v check seen V+1 then mail b  => changed seen
        1ms   complete 1 token A check other V put k v   => changed other
        1ms   value k                     => nothing
        1ms   get 1 state                 => inflight
        1ms   counts mail                 => inflight 1
        1ms   complete 1 token A check seen V put k v del seen then mail b then post c delay 5ms => done task 2 task 3
        1ms   value k                     => v version W
        1ms   value seen                  => nothing
        1ms   get 1 state                 => nothing
        1ms   get 3 state due             => scheduled 6ms
        1ms   counts mail                 => ready 1
    ");
}

#[test]
fn a_bad_follow_up_or_write_is_an_error_and_nothing_happens() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
        1ms   complete 1 token A then mail b expires 0ms     => INVALID_ARGUMENT
        1ms   complete 1 token A then mail b then mail c attempts 0 => INVALID_ARGUMENT
        1ms   complete 1 token A then __fencepost_outbox:x b => RESERVED_NAME
        1ms   complete 1 token A put \" \" v                 => INVALID_NAME
        1ms   counts mail                 => inflight 1
        1ms   complete 1 token A          => done
    ",
    );
}

#[test]
fn a_follow_up_whose_key_exists_does_not_stop_the_completion() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   enqueue mail b key k        => task 2
        0ms   claim mail as w             => task 1, token A
        1ms   complete 1 token A then mail c key k then mail d => done, task 2 exists ready, task 3
        1ms   counts mail                 => ready 2
    ",
    );
}

#[test]
fn two_follow_ups_with_one_key_make_one_task() {
    check("
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w             => task 1, token A
        1ms   complete 1 token A then mail b key k then mail c key k then post d key k => done, task 2, task 2 exists ready, task 3
        1ms   get 2 payload               => b
    ");
}

#[test]
fn a_task_renewed_again_and_again_runs_ten_times_its_lease() {
    let mut script = String::from(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 30ms    => task 1, token A
    ",
    );
    for step in 1..=30 {
        let (now, until) = (step * 10, step * 10 + 30);
        script += &format!("{now}ms heartbeat 1 token A => until {until}ms\n");
        script += &format!("{now}ms claim mail as v => nothing\n");
    }
    check(&(script + "300ms complete 1 token A => done\n"));
}

#[test]
fn an_abandoned_task_is_as_after_a_lapse() {
    check(
        "
        1ms   enqueue mail a attempts 2   => task 1
        1ms   enqueue mail b              => task 2
        1ms   claim mail as w             => task 1, token A
        5ms   abandon 1 token A           => abandoned
        5ms   abandon 1 token A           => expired
        5ms   complete 1 token A          => expired
        5ms   get 1 state attempt         => inflight 1
        5ms   claim mail as v             => task 1, token B
        5ms   get 1 attempt owner         => 2 v
        5ms   complete 1 token A          => fenced
        6ms   abandon 1 token B           => abandoned
        6ms   claim mail as v             => task 2, token C
        6ms   get 1 state error           => dead max attempts exceeded
    ",
    );
}

#[test]
fn what_was_granted_after_a_token_ends_at_once_and_what_was_before_goes_on() {
    check(
        "
        1ms   enqueue mail a                 => task 1
        1ms   enqueue mail b backoff 1h      => task 2
        1ms   claim mail as w for 1h         => task 1, token A
        1ms   acquire leader as w for 1h     => token B, until 3600001ms
        1ms   claim mail as w for 1h         => task 2, token C
        1ms   acquire other as w for 1h      => token D, until 3600001ms
        5ms   reclaim token B                => claims 1 leases 1
        5ms   reclaim token B                => claims 0 leases 0
        5ms   complete 2 token C             => expired
        5ms   guard other token D            => released
        5ms   guard leader token B           => ok
        5ms   claim mail as v for 1h         => task 2, token E
        5ms   get 2 attempt owner            => 2 v
        5ms   complete 2 token C             => fenced
        5ms   acquire other as v for 1h      => token F, until 3600005ms
        6ms   complete 1 token A             => done
        6ms   reclaim token F                => claims 0 leases 0
    ",
    );
}

#[test]
fn what_ends_at_once_is_bounded_in_one_commit() {
    let mut engine = support::engine(1);
    let name = support::command::queue("mail").unwrap();
    let owner = fencepost::name::NameRef::owner("w").unwrap();
    let task = || fencepost::ops::Enqueue::new(name, support::command::blob("x"));
    engine.enqueue_many(support::at(0), (0..1_500).map(|_| task()).collect()).unwrap();
    for _ in 0..2 {
        let request = fencepost::ops::ClaimRequest { queue: name, owner, max: 1_000, lease: None };
        engine.claim(support::at(0), request).unwrap();
    }
    let ends = |engine: &mut fencepost::engine::Engine| {
        let done = engine.reclaim(support::at(1), fencepost::id::Token::default()).unwrap();
        (done.claims, done.more)
    };
    assert_eq!(ends(&mut engine), (1_000, true));
    assert_eq!(ends(&mut engine), (500, false));
    support::assert_verified(&engine);
}

#[test]
fn release_gives_the_task_back_unrun_in_its_old_place() {
    check(
        "
        0ms   enqueue mail a attempts 1   => task 1
        0ms   enqueue mail b              => task 2
        0ms   claim mail as w             => task 1, token A
        5ms   release 1 token A           => released
        5ms   get 1 state attempt owner last-owner due token => ready 0 - w 0ms -
        5ms   release 1 token A           => settled
        5ms   complete 1 token A          => settled
        6ms   claim mail as v max 2       => task 1, token B; task 2, token C
        6ms   get 1 attempt               => 1
        6ms   complete 1 token A          => fenced
    ",
    );
}

#[test]
fn a_rescue_does_not_touch_a_task_that_was_completed_meanwhile() {
    check(
        "
        0ms   enqueue mail a attempts 1   => task 1
        0ms   claim mail as w for 10ms    => task 1, token A
        10ms  complete 1 token A          => done
        11ms  sweep mail                  => expired 0 purged 0
        11ms  claim mail as w             => nothing
        11ms  get 1 state                 => nothing
    ",
    );
}

#[test]
fn a_renewal_whose_answer_was_lost_may_be_sent_again() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 10ms    => task 1, token A
        5ms   heartbeat 1 token A extend 20ms => until 25ms
        6ms   heartbeat 1 token A extend 20ms => until 26ms
        0ms   acquire l as w for 10ms     => token L, until 16ms
        9ms   renew l token L             => until 19ms
        9ms   renew l token L             => until 19ms
    ",
    );
}
