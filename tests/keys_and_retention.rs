//! Keys, expiry, retention, dead letters, pause: promises 26 to 33.

mod support;

use support::script::check;

#[test]
fn a_taken_key_returns_the_first_task_and_applies_no_writes() {
    check(
        "
        0ms   enqueue mail a key k put first yes   => task 1
        1ms   enqueue mail b key k put second yes  => task 1 exists ready
        1ms   enqueue mail b key k check first none put second yes => task 1 exists ready
        1ms   value first                 => yes version V
        1ms   value second                => nothing
        1ms   enqueue post c key k put third yes   => task 2
        1ms   counts mail                 => ready 1
        1ms   claim mail as w             => task 1, token A
        1ms   enqueue mail b key k        => task 1 exists inflight
        1ms   fail 1 token A delay 5ms    => scheduled 6ms
        1ms   enqueue mail b key k        => task 1 exists scheduled
    ",
    );
}

#[test]
fn an_enqueue_with_a_failing_check_is_refused_whole() {
    check(
        "
        0ms   put seen x                  => version V
        0ms   enqueue mail a key k check seen none put done x => CHECK_FAILED
        0ms   enqueue mail a key k put done x check seen V+1  => CHECK_FAILED
        0ms   enqueue mail a check gone V => CHECK_FAILED
        0ms   value done                  => nothing
        0ms   counts mail                 => nothing
        0ms   enqueue mail a key k check seen V put seen y check seen V => task 1
        0ms   value seen                  => y version W
    ",
    );
}

#[test]
fn a_completed_tasks_key_holds_for_its_retention_and_then_is_free() {
    check(
        "
        0ms    enqueue mail a key k       => task 1
        0ms    claim mail as w            => task 1, token A
        5ms    complete 1 token A         => done
        5ms    get 1 state                => nothing
        6ms    enqueue mail b key k       => task 1 exists done
        1d+4ms enqueue mail b key k       => task 1 exists done
        1d+5ms enqueue mail b key k       => task 2
        1d+5ms enqueue mail b key k       => task 2 exists ready
    ",
    );
    check(
        "
        0ms    enqueue mail a key k keep-key 0ms => task 1
        0ms    claim mail as w            => task 1, token A
        5ms    complete 1 token A         => done
        5ms    enqueue mail b key k       => task 2
    ",
    );
    check(
        "
        0ms    enqueue mail a key k keep-key forever => task 1
        0ms    claim mail as w            => task 1, token A
        5ms    complete 1 token A         => done
        9999d  sweep mail                 => expired 0 purged 0
        9999d  enqueue mail b key k       => task 1 exists done
    ",
    );
}

#[test]
fn a_kept_key_is_freed_by_a_sweep_after_its_retention() {
    check(
        "
        0ms    enqueue mail a key k keep-key 10ms => task 1
        0ms    claim mail as w            => task 1, token A
        0ms    complete 1 token A         => done
        9ms    sweep mail                 => expired 0 purged 0
        9ms    enqueue mail b key k       => task 1 exists done
        10ms   sweep mail                 => expired 0 purged 0
        10ms   enqueue mail b key k       => task 2
    ",
    );
}

#[test]
fn cancelling_an_old_task_does_not_free_a_newer_tasks_key() {
    check(
        "
        0ms   enqueue mail a key k keep-result 1d => task 1
        0ms   claim mail as w             => task 1, token A
        1ms   complete 1 token A then mail b key k => done task 2
        1ms   get 1 state key             => done k
        2ms   cancel 1                    => cancelled
        2ms   enqueue mail c key k        => task 2 exists ready
        2ms   cancel 2                    => cancelled
        2ms   enqueue mail c key k        => task 3
    ",
    );
}

#[test]
fn a_dead_task_holds_its_key_until_it_is_purged_or_cancelled() {
    for remove in ["purge mail => 1", "purge mail dead ids 1 => 1", "cancel 1 => cancelled"] {
        check(&format!(
            "
            0ms   enqueue mail a key k        => task 1
            0ms   claim mail as w             => task 1, token A
            0ms   fail 1 token A final        => dead
            9d    enqueue mail b key k        => task 1 exists dead
            9d    {remove}
            9d    enqueue mail b key k        => task 2
        "
        ));
    }
    check(
        "
        0ms   enqueue mail a key k keep-dead 10ms => task 1
        0ms   claim mail as w             => task 1, token A
        0ms   fail 1 token A final        => dead
        9ms   enqueue mail b key k        => task 1 exists dead
        10ms  enqueue mail b key k        => task 2
        10ms  get 1 state                 => nothing
        10ms  list mail                   => 2
    ",
    );
}

#[test]
fn a_follow_up_in_the_same_queue_may_take_over_its_parents_key() {
    check("
        0ms   enqueue mail a key k        => task 1
        0ms   claim mail as w             => task 1, token A
        1ms   complete 1 token A then mail b key k delay 5ms => done task 2
        1ms   enqueue mail c key k        => task 2 exists scheduled
        6ms   claim mail as w             => task 2, token B
        7ms   complete 2 token B then mail c key k then mail d key k => done, task 3, task 3 exists ready
    ");
    check(
        "
        0ms   enqueue mail a key k keep-key forever => task 1
        0ms   claim mail as w             => task 1, token A
        1ms   complete 1 token A then post b key k => done task 2
        1ms   enqueue mail c key k        => task 1 exists done
    ",
    );
}

#[test]
fn the_key_of_a_task_with_a_result_holds_while_either_is_kept() {
    check(
        "
        0ms    enqueue mail a key k keep-result 10ms keep-key 20ms => task 1
        0ms    claim mail as w            => task 1, token A
        0ms    complete 1 token A with r  => done
        9ms    enqueue mail b key k       => task 1 exists done
        10ms   get 1 state                => nothing
        10ms   enqueue mail b key k       => task 1 exists done
        15ms   sweep mail                 => expired 0 purged 1
        19ms   enqueue mail b key k       => task 1 exists done
        20ms   enqueue mail b key k       => task 2
    ",
    );
    check(
        "
        0ms    enqueue mail a key k keep-result 20ms keep-key 10ms => task 1
        0ms    claim mail as w            => task 1, token A
        0ms    complete 1 token A with r  => done
        15ms   enqueue mail b key k       => task 1 exists done
        20ms   enqueue mail b key k       => task 2
    ",
    );
    check(
        "
        0ms    enqueue mail a key k keep-result 10ms keep-key 20ms => task 1
        0ms    claim mail as w            => task 1, token A
        0ms    complete 1 token A with r  => done
        15ms   sweep mail                 => expired 0 purged 1
        15ms   enqueue mail b key k       => task 1 exists done
        20ms   enqueue mail b key k       => task 2
    ",
    );
}

#[test]
fn an_expired_task_is_never_claimed_and_becomes_dead() {
    check(
        "
        0ms   enqueue mail a expires 10ms => task 1
        0ms   get 1 expires               => 10ms
        9ms   claim mail as w for 0ms     => task 1, token A
        10ms  get 1 state                 => inflight
        10ms  complete 1 token A          => expired
        10ms  heartbeat 1 token A extend 1d => expired
        10ms  claim mail as v             => nothing
        10ms  get 1 state reason error died last-owner => dead expired expired 10ms w
        10ms  complete 1 token A          => settled
    ",
    );
    check(
        "
        0ms   enqueue mail a expires 10ms => task 1
        0ms   enqueue mail b expires 10ms delay 1d => task 2
        0ms   enqueue mail c              => task 3
        9ms   get 1 state                 => ready
        10ms  get 1 state                 => ready
        10ms  claim mail as w             => task 3, token A
        10ms  get 1 state reason claimed  => dead expired -
        10ms  get 2 state reason          => dead expired
    ",
    );
}

#[test]
fn a_running_task_past_its_expiry_is_buried_while_its_claim_still_runs() {
    check(
        "
        0ms   enqueue mail a expires 10ms keep-dead 0ms => task 1
        0ms   claim mail as w for 1d      => task 1, token A
        9ms   heartbeat 1 token A         => until 1d+9ms
        10ms  heartbeat 1 token A         => expired
        10ms  sweep mail                  => expired 1 purged 1
        10ms  heartbeat 1 token A         => gone
    ",
    );
}

#[test]
fn expiry_beats_exhaustion_as_the_reason() {
    check(
        "
        0ms   enqueue mail a expires 10ms attempts 1 => task 1
        0ms   enqueue mail b expires 30ms attempts 1 => task 2
        0ms   claim mail as w max 2 for 5ms => task 1, token A; task 2, token B
        20ms  sweep mail                  => expired 2 purged 0
        20ms  get 1 reason                => expired
        20ms  get 2 reason                => exhausted
    ",
    );
}

#[test]
fn a_sweep_tells_what_it_did_once_and_leaves_other_queues_alone() {
    check("
        0ms   sweep mail                  => expired 0 purged 0
        0ms   enqueue-many mail a expires 5ms / b expires 5ms keep-dead 0ms / c keep-dead 2ms / d => task 1 task 2 task 3 task 4
        0ms   enqueue post e expires 5ms  => task 5
        0ms   claim mail as w max 9 for 1d => task 1 token A, task 2 token B, task 3 token C, task 4 token D
        1ms   fail 3 token C final        => dead
        2ms   sweep mail                  => expired 0 purged 0
        5ms   sweep mail                  => expired 2 purged 2
        5ms   sweep mail                  => expired 0 purged 0
        5ms   list mail                   => 1 4
        5ms   get 5 state                 => ready
        5ms   sweep post                  => expired 1 purged 0
    ");
}

#[test]
fn the_stores_own_timer_does_the_same_for_all_queues() {
    check(
        "
        0ms   enqueue mail a expires 5ms keep-dead 9ms key k => task 1
        0ms   enqueue post b expires 5ms  => task 2
        0ms   acquire l as w for 5ms      => token L, until 5ms
        5ms   maintain                    => expired 2 purged 0
        14ms  get 1 state                 => nothing
        14ms  maintain                    => expired 0 purged 1
        1d+4ms maintain                   => expired 0 purged 0
        1d+4ms renew l token L            => until 1d+9ms
    ",
    );
}

#[test]
fn dead_tasks_go_after_their_retention_whoever_looks() {
    check(
        "
        0ms   enqueue mail a keep-dead 10ms attempts 1 => task 1
        0ms   enqueue mail b keep-dead forever attempts 1 => task 2
        0ms   enqueue mail c keep-dead 0ms attempts 1 => task 3
        0ms   claim mail as w max 9       => task 1 token A, task 2 token B, task 3 token C
        5ms   fail 1 token A              => dead
        5ms   fail 2 token B              => dead
        5ms   fail 3 token C              => dead
        5ms   get 3 state                 => nothing
        5ms   counts mail                 => dead 2
        14ms  list mail                   => 1 2
        15ms  list mail                   => 2
        15ms  counts mail                 => dead 1
        15ms  get 1 state                 => nothing
        15ms  explain 1                   => nothing
        15ms  cancel 1                    => nothing
        15ms  redrive mail                => 1
        15ms  redrive mail ids 1          => 0
        15ms  sweep mail                  => expired 0 purged 1
        9999d get 2 state                 => ready
    ",
    );
}

#[test]
fn redrive_keeps_the_order_resets_attempts_and_leaves_others_alone() {
    check("
        0ms   enqueue-many mail a attempts 1 / b attempts 1 / c expires 5ms / d => task 1 task 2 task 3 task 4
        0ms   claim mail as w max 2       => task 1, token A; task 2, token B
        1ms   heartbeat 2 token B progress half => until 300001ms
        1ms   fail 2 token B because boom => dead
        2ms   fail 1 token A              => dead
        5ms   sweep mail                  => expired 1 purged 0
        5ms   list mail dead              => 1 2 3
        6ms   redrive mail limit 0        => 0
        6ms   redrive mail ids 4 99 2 2   => 1
        6ms   get 2 state attempt due progress error expires died reason => ready 0 0ms half boom - - -
        6ms   redrive mail limit 1        => 1
        6ms   list mail dead              => 3
        6ms   redrive mail                => 1
        6ms   redrive mail                => 0
        6ms   redrive nowhere             => 0
        6ms   get 3 expires seq           => - 3
        9ms   claim mail as w max 9       => task 1 token C, task 2 token D, task 3 token E, task 4 token F
        9ms   get 1 attempt               => 1
        9ms   fail 1 token C              => dead
    ");
}

#[test]
fn purge_removes_dead_and_done_tasks_and_frees_their_keys() {
    check("
        0ms   enqueue-many mail a key a keep-result 1d / b key b / c key c / d key d keep-result 1d => task 1 task 2 task 3 task 4
        0ms   claim mail as w max 4       => task 1 token A, task 2 token B, task 3 token C, task 4 token D
        1ms   complete 1 token A          => done
        1ms   fail 2 token B final        => dead
        1ms   complete 4 token D          => done
        1ms   purge mail inflight         => INVALID_ARGUMENT
        1ms   purge mail ids 3 99         => 0
        1ms   purge mail done ids 2       => 0
        1ms   purge mail done ids 1 1     => 1
        1ms   purge nowhere               => 0
        1ms   counts mail                 => inflight 1 done 1 dead 1
        1ms   purge mail                  => 2
        1ms   purge mail                  => 0
        1ms   enqueue-many mail e key a / f key b / g key c / h key d => task 5, task 6, task 3 exists inflight, task 7
    ");
}

#[test]
fn a_result_is_there_for_its_retention_and_gone_after_it() {
    check(
        "
        0ms   enqueue mail a keep-result 10ms => task 1
        0ms   enqueue mail b keep-result 10ms => task 2
        0ms   claim mail as w max 2       => task 1, token A; task 2, token B
        5ms   complete 1 token A with 42  => done
        5ms   complete-many 2 token B     => 1
        5ms   get 1 state result payload attempt last-owner => done 42 a 1 w
        5ms   get 2 state result          => done -
        5ms   counts mail                 => done 2
        14ms  get 1 result                => 42
        15ms  get 1 result                => nothing
        15ms  counts mail                 => nothing
        15ms  sweep mail                  => expired 0 purged 2
    ",
    );
}

#[test]
fn a_paused_queue_hands_out_nothing_while_holders_carry_on() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 10ms    => task 1, token A
        0ms   pause mail                  => ok
        0ms   pause mail                  => ok
        1ms   enqueue mail b expires 5ms  => task 2
        1ms   claim mail as w             => nothing
        2ms   heartbeat 1 token A extend 4ms => until 6ms
        3ms   restart                     => ok
        3ms   complete 1 token A then mail c => done task 3
        9ms   claim mail as w             => nothing
        9ms   get 2 state                 => ready
        9ms   sweep mail                  => expired 1 purged 0
        9ms   resume mail                 => ok
        9ms   claim mail as w             => task 3, token B
    ",
    );
}

#[test]
fn a_claim_buries_at_most_a_thousand_rows_and_a_sweep_says_that_more_are_left() {
    let mut engine = support::engine(1);
    let queue = support::command::queue("mail").unwrap();
    let mut task = fencepost::ops::Enqueue::new(queue, support::command::blob("x"));
    task.expires_in = Some(fencepost::id::Millis::saturating(5));
    engine.enqueue_many(support::at(0), vec![task; 2_500]).unwrap();
    support::commit(&mut engine);
    let mut rounds = Vec::new();
    loop {
        let swept = engine.sweep(support::at(5), queue).unwrap();
        support::commit(&mut engine);
        rounds.push(swept.expired);
        if !swept.more {
            break;
        }
    }
    assert_eq!(rounds, [1_000, 1_000, 500]);
    assert_eq!(engine.view(support::at(5)).counts(queue).unwrap(), [0, 0, 0, 0, 2_500]);
    support::assert_verified(&engine);
}

#[test]
fn the_stores_own_timer_reaches_a_queue_that_was_made_in_the_same_entry() {
    let mut engine = support::engine(1);
    let queue = support::command::queue("mail").unwrap();
    let mut task = fencepost::ops::Enqueue::new(queue, support::command::blob("x"));
    task.expires_in = Some(fencepost::id::Millis::saturating(5));
    engine.enqueue(support::at(0), task).unwrap();
    assert_eq!(engine.maintain(support::at(5)).unwrap().expired, 1);
}

#[test]
fn the_stores_own_timer_frees_a_bounded_number_of_keys_in_one_commit() {
    let mut engine = support::engine(1);
    let owner = fencepost::name::NameRef::owner("w").unwrap();
    for name in ["mail", "post"] {
        let queue = support::command::queue(name).unwrap();
        let keys: Vec<String> = (0..900).map(|number| format!("k{number}")).collect();
        let task = |key| fencepost::ops::Enqueue {
            key: Some(fencepost::name::NameRef::key(key).unwrap()),
            ..fencepost::ops::Enqueue::new(queue, support::command::blob("x"))
        };
        let tasks = keys.iter().map(|key| task(key.as_str())).collect();
        engine.enqueue_many(support::at(0), tasks).unwrap();
        let request = fencepost::ops::ClaimRequest { queue, owner, max: 900, lease: None };
        let claims: Vec<_> = engine.claim(support::at(0), request).unwrap();
        let claim = |task: &fencepost::task::Task| {
            let token = task.claim().unwrap().token;
            fencepost::ops::ClaimRef { queue, id: task.id, token }
        };
        let claims: Vec<_> = claims.iter().map(claim).collect();
        assert_eq!(engine.complete_many(support::at(0), &claims).unwrap(), 900);
    }
    support::commit(&mut engine);
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let swept = engine.maintain(support::at(86_400_000)).unwrap();
        rounds.push((swept.freed, swept.more));
        if engine.seal().unwrap().is_some() {
            engine.merge_sealed().unwrap();
        }
    }
    assert_eq!(rounds, [(1_000, true), (800, false), (0, false)]);
}
