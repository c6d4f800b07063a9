//! Transactions and key-value state: promises 42 to 44.

mod support;

use support::script::check;

#[test]
fn a_transaction_sees_its_own_writes_and_commits_them_as_one_command() {
    check(
        "
        0ms   put k one                   => version V
        0ms   begin                       => ok
        +     value k                     => one
        +     put k two                   => version V+1
        +     value k                     => two
        +     put other x                 => version V+1
        +     del k                       => deleted
        +     value k                     => nothing
        +     del k                       => nothing
        +     put k three                 => version V+1
        +     enqueue mail a key k        => task 1
        +     enqueue mail b key k        => task 1 exists ready
        +     commit                      => ok
        0ms   value k                     => three version V+1
        0ms   value other                 => x version V+1
        0ms   counts mail                 => ready 1
    ",
    );
}

#[test]
fn an_aborted_transaction_leaves_no_trace() {
    check(
        "
        0ms   put k one                   => version V
        0ms   enqueue mail a              => task 1
        0ms   claim mail as w for 1d      => task 1, token A
        1ms   begin                       => ok
        +     put k two                   => version V+1
        +     del k                       => deleted
        +     enqueue post b key x        => task 2
        +     complete 1 token A then mail c => done task 3
        +     acquire l as w for 1s       => token B, until 1001ms
        +     pause mail                  => ok
        +     abort                       => ok
        1ms   value k                     => one version V
        1ms   get 1 state                 => inflight
        1ms   queues                      => mail inflight 1 due 1d+1ms
        1ms   status l                    => nothing
        1ms   enqueue post b key x        => task 2
        1ms   get 2 seq                   => 1
        1ms   put k two                   => version V+2
    ",
    );
}

#[test]
fn a_refused_step_undoes_itself_only_and_says_which_guard_failed() {
    check(
        "
        0ms   put seen x                  => version V
        0ms   enqueue-many mail a / b     => task 1 task 2
        0ms   claim mail as w for 10ms    => task 1, token A
        0ms   acquire l as w for 10ms     => token L, until 10ms
        1ms   begin                       => ok
        +     require-lease l token L     => ok
        +     require-task 1 token A      => ok
        +     check seen V                => ok
        +     put k v                     => version V+4
        +     complete 1 token A-1 put gone x => fenced
        +     require-task 1 token A-1    => fenced
        +     require-task 2 token A      => settled
        +     require-task 9 token A      => gone
        +     require-lease l token L-1   => fenced
        +     require-lease x token L     => gone
        +     check seen none             => changed seen
        +     check k V                   => changed k
        +     commit                      => ok
        1ms   value k                     => v version V+4
        1ms   value gone                  => nothing
        20ms  begin                       => ok
        +     require-lease l token L     => expired
        +     require-task 1 token A      => expired
        +     abort                       => ok
    ",
    );
}

#[test]
fn a_check_compares_with_the_state_before_the_transaction() {
    check(
        "
        0ms   put k one                   => version V
        0ms   begin                       => ok
        +     put k two                   => version V+1
        +     put fresh x                 => version V+1
        +     check k V                   => ok
        +     check k V+1                 => changed k
        +     check fresh none            => ok
        +     del k                       => deleted
        +     check k V                   => ok
        +     check k none                => changed k
        +     commit                      => ok
        0ms   value k                     => nothing
        0ms   check k none                => ok
    ",
    );
    check(
        "
        0ms   put k one                   => version V
        +     begin                       => ok
        +     check k V                   => ok
        +     check k none                => changed k
        +     put k two                   => version V+1
        +     put k three                 => version V+1
        +     check k V                   => ok
        +     commit                      => ok
        +     begin                       => ok
        +     check k V+1                 => ok
        +     commit                      => ok
    ",
    );
}

#[test]
fn a_task_enqueued_or_settled_inside_is_seen_by_the_next_step() {
    check(
        "
        0ms   enqueue mail a keep-result 1s => task 1
        0ms   claim mail as w for 1d      => task 1, token A
        1ms   begin                       => ok
        +     heartbeat 1 token A extend 5ms progress half => until 6ms
        +     complete 1 token A with r   => done
        +     complete 1 token A          => settled
        +     enqueue mail b              => task 2
        +     cancel 2                    => cancelled
        +     cancel 2                    => nothing
        +     commit                      => ok
        1ms   get 1 state result progress => done r half
        1ms   counts mail                 => done 1
    ",
    );
    check(
        "
        0ms   enqueue-many mail a / b     => task 1 task 2
        0ms   claim mail as w max 2       => task 1 token A, task 2 token B
        1ms   begin                       => ok
        +     fail 1 token A because boom delay 5ms => scheduled 6ms
        +     release 2 token B           => released
        +     release 1 token A           => settled
        +     commit                      => ok
        1ms   get 1 error attempt         => boom 1
        1ms   get 2 state attempt         => ready 0
    ",
    );
}

#[test]
fn an_empty_transaction_takes_no_version() {
    check(
        "
        0ms   put k one                   => version V
        0ms   begin                       => ok
        +     check k V                   => ok
        +     del nothing-here            => nothing
        +     commit                      => ok
        0ms   begin                       => ok
        +     abort                       => ok
        0ms   put k two                   => version V+1
    ",
    );
}

#[test]
fn two_writes_of_one_key_never_share_a_version() {
    check(
        "
        0ms   put k one                   => version V
        +     put k two                   => version V+1
        +     put k two                   => version V+2
        0ms   value k                     => two version V+2
        0ms   check k V                   => changed k
        0ms   check k V+1                 => changed k
        0ms   check k V+2                 => ok
        0ms   del k                       => deleted
        0ms   del k                       => nothing
        0ms   put k one                   => version V+4
    ",
    );
}

#[test]
fn a_command_that_changed_nothing_takes_no_version() {
    check(
        "
        0ms   put k one                   => version V
        0ms   claim mail as w             => nothing
        0ms   sweep mail                  => expired 0 purged 0
        0ms   maintain                    => expired 0 purged 0
        0ms   cancel 7                    => nothing
        0ms   complete 7 token 1          => gone
        0ms   resume mail                 => ok
        0ms   acquire l as w for 1s       => token A, until 1s
        0ms   acquire l as v for 1s       => held by w until 1s
        0ms   guard l token A             => ok
        0ms   enqueue-many mail           =>
        0ms   put k two                   => version V+2
    ",
    );
}

#[test]
fn check_null_means_that_the_key_must_not_exist() {
    check(
        "
        0ms   check k none                => ok
        0ms   enqueue mail a check k none put k x => task 1
        0ms   check k none                => changed k
        0ms   enqueue mail b check k none put k x => CHECK_FAILED
        0ms   counts mail                 => ready 1
    ",
    );
}

#[test]
fn the_writes_of_a_command_are_applied_in_order_and_its_checks_see_the_state_before() {
    check(
        "
        0ms   enqueue mail a put k one del k put k two check k none put j x del j => task 1
        0ms   value k                     => two version V
        0ms   value j                     => nothing
        0ms   enqueue mail b del k check k V put k three => task 2
        0ms   value k                     => three version W
    ",
    );
}

#[test]
fn values_are_listed_in_key_order_by_pages() {
    check(
        "
        0ms   put b x                     => version A
        0ms   put a x                     => version B
        0ms   put ab x                    => version C
        0ms   put \"a b\" x               => version D
        0ms   values                      => a a b ab b
        0ms   values prefix ab            => ab
        0ms   values limit 1              => a more
        0ms   values after a limit 1      => a b more
        0ms   values prefix a after ab    => nothing
        0ms   values prefix z             => nothing
        0ms   values limit 0              => nothing
    ",
    );
}

#[test]
fn one_refused_command_takes_nothing_with_it_from_its_group() {
    check(
        "
        0ms   enqueue mail a key k        => task 1
        +     enqueue mail b expires 0ms  => INVALID_ARGUMENT
        +     claim mail as w             => task 1, token A
        +     complete 1 token A-1        => fenced
        +     enqueue mail c check k none check x A put k v => CHECK_FAILED
        +     complete 1 token A put k v  => done
        +     complete 1 token A put k w  => gone
        +     enqueue mail d              => task 2
        +     claim mail as w             => task 2, token B
        +     claim mail as w             => nothing
        0ms   value k                     => v version V
        0ms   get 2 token                 => B
    ",
    );
}

#[test]
fn what_an_aborted_transaction_claimed_is_served_again_in_the_same_entry() {
    check(
        "
        0ms   enqueue-many mail a / b     => task 1 task 2
        1ms   begin                       => ok
        +     claim mail as w             => task 1, token A
        +     abort                       => ok
        +     claim mail as w max 2       => task 1, token A; task 2, token B
    ",
    );
}
