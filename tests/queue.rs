//! Claiming and order: promises 1 to 8, 46 and 47 as far as the engine sees them.

mod support;

use support::script::check;

#[test]
fn a_higher_priority_is_claimed_first_then_the_order_of_enqueues() {
    check(
        "
        0ms  enqueue mail a               => task 1
        0ms  enqueue mail b priority 10   => task 2
        0ms  enqueue mail c               => task 3
        1ms  claim mail as w max 3        => task 2, token A; task 1, token B; task 3, token C
    ",
    );
    check("
        0ms  enqueue mail a priority -1   => task 1
        0ms  enqueue mail b               => task 2
        0ms  enqueue mail c priority 9007199254740991   => task 3
        0ms  enqueue mail d priority -9007199254740991  => task 4
        1ms  claim mail as w max 9 => task 3, token A; task 2, token B; task 1, token C; task 4, token D
    ");
}

#[test]
fn a_delayed_task_is_claimed_at_its_due_time_and_not_before() {
    check(
        "
        0ms    enqueue mail a delay 30ms  => task 1
        0ms    get 1 state due            => scheduled 30ms
        0ms    next-due mail              => 30ms
        29ms   claim mail as w            => nothing
        29ms   counts mail                => scheduled 1
        30ms   counts mail                => ready 1
        30ms   next-due mail              => 30ms
        30ms   claim mail as w            => task 1, token A
    ",
    );
}

#[test]
fn a_due_time_in_the_past_is_due_at_once_and_is_kept_for_the_order() {
    check(
        "
        0ms  enqueue mail a               => task 1
        0ms  enqueue mail b at -1d        => task 2
        0ms  enqueue mail c at -1ms       => task 3
        0ms  get 2 state due              => ready -1d
        0ms  claim mail as w max 3        => task 2, token A; task 3, token B; task 1, token C
    ",
    );
}

#[test]
fn a_delay_wins_over_a_due_time() {
    check(
        "
        0ms  enqueue mail a delay 5ms at 1d   => task 1
        0ms  enqueue mail b delay 1d at -5ms  => task 2
        0ms  enqueue mail c delay 0ms at 1d   => task 3
        0ms  claim mail as w max 3            => task 3, token A
        5ms  claim mail as w max 3            => task 1, token B
    ",
    );
}

#[test]
fn the_last_due_of_twelve_is_claimed_first_when_its_priority_is_highest() {
    check(&due_together(12));
}

#[test]
fn the_last_due_of_ten_thousand_is_claimed_first_when_its_priority_is_highest() {
    let mut engine = support::engine(1);
    let queue = support::command::queue("mail").unwrap();
    for number in 0..10_000 {
        let mut task = fencepost::ops::Enqueue::new(queue, support::command::blob("x"));
        task.run_at = Some(support::at(1_000 + number));
        task.priority = i64::try_from(number).unwrap().try_into().unwrap();
        engine.enqueue(support::at(0), task).unwrap();
    }
    support::commit(&mut engine);
    let owner = fencepost::name::NameRef::owner("w").unwrap();
    for expected in [(9_001..=10_000), (8_001..=9_000)] {
        let request = fencepost::ops::ClaimRequest { queue, owner, max: 20_000, lease: None };
        let claimed = engine.claim(support::at(60_000), request).unwrap();
        let ids: Vec<u64> = claimed.iter().map(|task| task.id.get()).collect();
        assert_eq!(ids, expected.rev().collect::<Vec<u64>>());
    }
}

/// The later due, the higher the priority; all due when the claim comes.
fn due_together(count: u64) -> String {
    let mut script = String::new();
    for number in 1..=count {
        let due = 10 + number;
        script += &format!("0ms enqueue mail x delay {due}ms priority {number} => task {number}\n");
    }
    script += &format!("60s claim mail as w => task {count}, token A\n");
    script + &format!("60s claim mail as w => task {}, token B\n", count - 1)
}

#[test]
fn equal_priorities_go_by_due_time_then_by_sequence() {
    check("
        0ms  enqueue mail a delay 20ms    => task 1
        0ms  enqueue mail b delay 10ms    => task 2
        0ms  enqueue mail c delay 20ms    => task 3
        0ms  enqueue mail d delay 20ms    => task 4
        20ms claim mail as w max 9        => task 2, token A; task 1, token B; task 3, token C; task 4, token D
    ");
}

#[test]
fn ten_thousand_tasks_of_one_millisecond_come_out_in_order() {
    let mut engine = support::engine(1);
    let queue = support::command::queue("mail").unwrap();
    let payload = support::command::blob("x");
    let tasks = (0..10_000).map(|_| fencepost::ops::Enqueue::new(queue, payload.clone()));
    let made = engine.enqueue_many(support::at(0), tasks.collect()).unwrap();
    assert!(made.iter().all(|made| made.created));
    support::commit(&mut engine);
    let owner = fencepost::name::NameRef::owner("w").unwrap();
    let mut ids: Vec<u64> = Vec::new();
    while ids.len() < 10_000 {
        let request = fencepost::ops::ClaimRequest { queue, owner, max: 777, lease: None };
        let claimed = engine.claim(support::at(0), request).unwrap();
        ids.extend(claimed.iter().map(|task| task.id.get()));
    }
    assert_eq!(ids, (1..=10_000).collect::<Vec<u64>>());
}

#[test]
fn a_retried_task_keeps_its_priority_and_is_ordered_by_its_retry_time() {
    check(
        "
        0ms   enqueue mail a priority 5 jitter none backoff 10ms => task 1
        0ms   enqueue mail b              => task 2
        0ms   claim mail as w             => task 1, token A
        1ms   fail 1 token A              => scheduled 11ms
        1ms   claim mail as w             => task 2, token B
        2ms   enqueue mail c              => task 3
        2ms   enqueue mail d priority 5 delay 8ms  => task 4
        11ms  claim mail as w max 9       => task 4, token C; task 1, token D; task 3, token E
    ",
    );
}

#[test]
fn each_deadline_follows_the_tasks_own_stamp_unless_the_claim_names_a_lease() {
    check(
        "
        0ms   enqueue mail a lease 10ms   => task 1
        0ms   enqueue mail b lease 20ms   => task 2
        0ms   enqueue mail c              => task 3
        5ms   claim mail as w max 3       => task 1, token A; task 2, token B; task 3, token C
        5ms   get 1 deadline              => 15ms
        5ms   get 2 deadline              => 25ms
        5ms   get 3 deadline              => 300005ms
        40ms  claim mail as w max 3 for 7ms  => task 1, token D; task 2, token E
        40ms  get 1 deadline              => 47ms
        40ms  get 2 deadline attempt      => 47ms 2
    ",
    );
}

#[test]
fn a_claim_of_nothing_touches_nothing_and_still_wants_good_names() {
    check(
        "
        0ms   enqueue mail a expires 5ms  => task 1
        9ms   claim mail as w max 0       => nothing
        9ms   get 1 state                 => ready
        9ms   claim mail as \" \" max 0   => INVALID_NAME
        9ms   claim \" \" as w max 0      => INVALID_NAME
        9ms   claim \"\" as w max 0       => INVALID_NAME
        9ms   claim __fencepost_x as w max 0  => RESERVED_NAME
        9ms   claim nowhere as w          => nothing
        9ms   claim mail as w             => nothing
        9ms   get 1 state reason          => dead expired
    ",
    );
}

#[test]
fn one_task_goes_to_one_of_two_owners() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w1            => task 1, token A
        0ms   claim mail as w2            => nothing
        0ms   get 1 owner attempt         => w1 1
    ",
    );
}

#[test]
fn eight_owners_drain_forty_tasks_and_each_is_handed_out_once() {
    let mut script = String::new();
    for number in 1..=40 {
        script += &format!("0ms enqueue mail x => task {number}\n");
    }
    for number in 1..=40 {
        let owner = number % 8;
        script += &format!("1ms claim mail as w{owner} => task {number}, token T{number}\n");
    }
    script += "1ms claim mail as w1 => nothing\n";
    for number in 1..=40 {
        script += &format!("2ms complete {number} token T{number} => done\n");
    }
    check(&(script + "2ms counts mail => nothing\n"));
}

#[test]
fn queues_do_not_see_each_other() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   enqueue post b              => task 2
        0ms   claim post as w max 9       => task 2, token B
        0ms   claim mail as w max 9       => task 1, token A
        1ms   get 1 in post state         => nothing
        1ms   cancel 1 in post            => nothing
        1ms   complete 1 in post token A  => gone
        1ms   fail 1 in post token A      => gone
        1ms   heartbeat 1 in post token A => gone
        1ms   release 1 in post token A   => gone
        1ms   complete-many 1 in post token A => 0
        1ms   explain 1 in post           => nothing
        1ms   list post                   => 2
        1ms   complete 1 token A          => done
        1ms   complete 1 in nowhere token A => gone
    ",
    );
}

#[test]
fn sequence_numbers_count_per_queue_and_ids_over_the_store() {
    check(
        "
        0ms   enqueue mail a              => task 1
        0ms   enqueue post b              => task 2
        0ms   enqueue mail c              => task 3
        0ms   get 1 seq                   => 1
        0ms   get 2 seq                   => 1
        0ms   get 3 seq                   => 2
        0ms   cancel 3                    => cancelled
        1ms   restart                     => ok
        1ms   enqueue mail d              => task 4
        1ms   get 4 seq                   => 3
    ",
    );
}

#[test]
fn far_tasks_do_not_hide_near_ones() {
    check(
        "
        0ms   enqueue mail a delay 3650d        => task 1
        0ms   enqueue mail b delay 2147483648ms => task 2
        0ms   enqueue mail c delay 5ms          => task 3
        0ms   enqueue mail d delay forever      => task 4
        0ms   next-due mail                     => 5ms
        5ms   claim mail as w                   => task 3, token A
        5ms   complete 3 token A                => done
        5ms   next-due mail                     => 2147483648ms
        2147483647ms  claim mail as w           => nothing
        2147483648ms  claim mail as w           => task 2, token B
        2147483648ms  cancel 2                  => cancelled
        2147483648ms  next-due mail             => 3650d
        3650d claim mail as w max 9             => task 1, token C
        3650d get 4 state due                   => scheduled forever
    ",
    );
}

#[test]
fn next_due_is_when_a_claim_may_be_served() {
    check(
        "
        0ms   next-due mail               => never
        0ms   enqueue mail a              => task 1
        3ms   next-due mail               => 3ms
        3ms   claim mail as w for 10ms    => task 1, token A
        3ms   next-due mail               => 14ms
        3ms   enqueue mail b delay 9ms    => task 2
        3ms   next-due mail               => 12ms
        3ms   pause mail                  => ok
        3ms   next-due mail               => never
        3ms   resume mail                 => ok
        20ms  next-due mail               => 20ms
        20ms  cancel 2                    => cancelled
        20ms  next-due mail               => 20ms
        20ms  cancel 1                    => cancelled
        20ms  next-due mail               => never
    ",
    );
}

#[test]
fn explain_says_why_a_task_is_not_running_and_when_that_may_change() {
    check(
        "
        0ms   explain 1                   => nothing
        0ms   enqueue mail a delay 5ms keep-result 1s => task 1
        0ms   enqueue mail b attempts 1 keep-dead 1s  => task 2
        0ms   enqueue mail c              => task 3
        0ms   explain 1                   => scheduled due-later until 5ms
        0ms   explain 2                   => ready no-owner-claims
        0ms   explain 3                   => ready behind-others
        0ms   pause mail                  => ok
        0ms   explain 2                   => ready paused
        0ms   explain 1                   => scheduled due-later until 5ms
        0ms   resume mail                 => ok
        0ms   claim mail as w for 10ms    => task 2, token A
        0ms   explain 2                   => inflight claimed until 10ms
        11ms  explain 2                   => inflight no-owner-claims
        11ms  claim mail as w for 10ms    => task 3, token B
        11ms  explain 2                   => dead dead until 1011ms
        11ms  claim mail as w             => task 1, token C
        11ms  complete 1 token C          => done
        11ms  explain 1                   => done done until 1011ms
    ",
    );
}

#[test]
fn lists_are_in_id_order_and_pages_stay_right_while_tasks_come_and_go() {
    check("
        0ms   list mail                   => nothing
        0ms   enqueue-many mail a / b priority 9 / c delay 1s / d / e => task 1 task 2 task 3 task 4 task 5
        0ms   list mail                   => 1 2 3 4 5
        0ms   list mail limit 2           => 1 2 more
        0ms   cancel 2                    => cancelled
        0ms   cancel 3                    => cancelled
        0ms   enqueue mail f              => task 6
        0ms   list mail after 2 limit 2   => 4 5 more
        0ms   list mail after 5 limit 2   => 6
        0ms   list mail after 6 limit 2   => nothing
        0ms   list mail limit 0           => nothing
        0ms   list mail limit 4           => 1 4 5 6
        0ms   claim mail as w             => task 1, token A
        0ms   list mail inflight          => 1
        0ms   list mail ready limit 2     => 4 5 more
        0ms   list mail scheduled         => nothing
        0ms   list mail ready after 5     => 6
    ");
}

#[test]
fn queues_are_listed_while_they_have_tasks_or_a_pause() {
    check(
        "
        0ms   queues                      => nothing
        0ms   enqueue b x priority 1      => task 1
        0ms   enqueue a y delay 7ms       => task 2
        0ms   enqueue b z at -5ms         => task 3
        0ms   queues                      => a scheduled 1 due 7ms, b ready 2 oldest -5ms due 0ms
        0ms   cancel 2                    => cancelled
        0ms   queues                      => b ready 2 oldest -5ms due 0ms
        0ms   pause a                     => ok
        0ms   pause c                     => ok
        0ms   resume d                    => ok
        0ms   queues                      => a paused, b ready 2 oldest -5ms due 0ms, c paused
    ",
    );
}

#[test]
fn a_batch_enqueue_is_all_or_nothing() {
    check("
        0ms   put seen x                   => version V
        0ms   enqueue-many mail a key k / b expires 0ms          => INVALID_ARGUMENT
        0ms   enqueue-many mail a key k / b attempts 0           => INVALID_ARGUMENT
        0ms   enqueue-many mail a key k / b check seen none      => CHECK_FAILED
        0ms   enqueue-many mail a key k / b key \" \"            => INVALID_NAME
        0ms   counts mail                  => nothing
        0ms   enqueue-many mail a key k / b key k / c / d key k  => task 1, task 1 exists ready, task 2, task 1 exists ready
        0ms   counts mail                  => ready 2
    ");
}

#[test]
fn a_claim_that_ran_out_counts_as_lapsed_and_is_not_ready() {
    check(
        "
        0ms   enqueue mail a lease 5ms     => task 1
        0ms   claim mail as w              => task 1, token A
        5ms   counts mail                  => inflight 1
        6ms   counts mail                  => inflight 1 lapsed 1
        6ms   get 1 state lapsed           => inflight true
        6ms   queues                       => mail inflight 1 lapsed 1 due 6ms
        7ms   enqueue mail b               => task 2
        7ms   queues                       => mail ready 1 inflight 1 lapsed 1 oldest 7ms due 7ms
        8ms   claim mail as w              => task 1, token B
        8ms   counts mail                  => ready 1 inflight 1
    ",
    );
}

#[test]
fn what_waits_is_made_due_at_another_time_by_hand() {
    check(
        "
        caller boss may queue:mail:manage
        caller eve may queue:mail:enqueue,claim,settle,inspect
        0ms   enqueue mail a delay 1h key k => task 1
        0ms   enqueue mail b               => task 2
        0ms   eve: promote mail ids 1      => PERMISSION_DENIED
        0ms   eve: reschedule 1 at 5ms     => PERMISSION_DENIED
        0ms   boss: by-key mail k          => PERMISSION_DENIED
        0ms   eve: by-key mail k           => 1
        0ms   boss: promote mail ids 1 2 9 => 1
        0ms   events                       => enqueued mail 1 key k | enqueued mail 2 | rescheduled mail 1 key k
        0ms   boss: reschedule 2 at 5ms    => put off
        0ms   boss: reschedule 9 at 5ms    => nothing
        0ms   claim mail as w max 9        => task 1, token A
        0ms   boss: reschedule 1 at 5ms    => nothing
        0ms   release 1 token A delay 3ms  => released
        3ms   list mail backwards          => 2 1
        3ms   list mail backwards after 2  => 1
        3ms   get 1 attempt                => 0
        5ms   claim mail as w max 9        => task 1 token B, task 2 token C
    ",
    );
}
