//! Leases: promises 34 to 39, and what went wrong with leases elsewhere.

mod support;

use support::script::check;

#[test]
fn the_first_acquires_and_another_owner_is_told_who_holds_it_until_when() {
    check(
        "
        0ms   status leader               => nothing
        0ms   acquire leader as w1 for 30ms  => token A, until 30ms
        5ms   acquire leader as w2 for 99ms  => held by w1 until 30ms
        5ms   status leader               => w1 until 30ms token A
        29ms  acquire leader as w2 for 9ms   => held by w1 until 30ms
        30ms  acquire leader as w2 for 9ms   => token B, until 39ms
        30ms  status leader               => w2 until 39ms token B
    ",
    );
}

#[test]
fn the_same_owner_is_granted_again_with_a_larger_token() {
    check(
        "
        0ms   acquire leader as w for 30ms   => token A, until 30ms
        5ms   acquire leader as w for 10ms   => token B, until 15ms
        5ms   guard leader token A        => fenced
        5ms   renew leader token A        => fenced
        5ms   give-back leader token A    => nothing
        5ms   guard leader token B        => ok
    ",
    );
}

#[test]
fn tokens_rise_over_tasks_and_leases_alike() {
    check(
        "
        0ms   acquire a as w for 1s       => token A, until 1s
        0ms   renew a token A+1           => fenced
        0ms   enqueue mail x              => task 1
        0ms   claim mail as w             => task 1, token B
        0ms   acquire a as w for 1s       => token C, until 1s
        0ms   guard a token B             => fenced
        0ms   guard a token C             => ok
        0ms   complete 1 token C          => fenced
        0ms   complete 1 token A          => fenced
        0ms   complete 1 token B          => done
    ",
    );
}

#[test]
fn a_lease_of_no_length_ends_at_once_and_fences_its_owner() {
    check(
        "
        0ms   acquire leader as w1 for 0ms   => token A, until 0ms
        0ms   guard leader token A put k v   => expired
        0ms   acquire leader as w2 for 9ms   => token B, until 9ms
        0ms   guard leader token A put k v   => fenced
        0ms   value k                     => nothing
        0ms   guard leader token B put k v   => ok
        0ms   value k                     => v version V
    ",
    );
}

#[test]
fn renewing_works_late_while_nobody_took_over() {
    check(
        "
        0ms   acquire leader as w for 10ms   => token A, until 10ms
        5ms   renew leader token A for 20ms  => until 25ms
        6ms   renew leader token A        => until 26ms
        26ms  guard leader token A        => expired
        99ms  renew leader token A        => until 119ms
        99ms  guard leader token A        => ok
        119ms acquire leader as v for 10ms   => token B, until 129ms
        119ms renew leader token A        => fenced
        119ms guard leader token A        => fenced
        119ms give-back leader token A    => nothing
        120ms renew leader token B for 0ms   => until 120ms
        120ms guard leader token B        => expired
    ",
    );
}

#[test]
fn renewing_is_refused_with_another_token_after_release_and_on_an_unknown_name() {
    check(
        "
        0ms   renew leader token 5        => gone
        0ms   guard leader token 5        => gone
        0ms   give-back leader token 5    => nothing
        0ms   acquire leader as w for 10ms   => token A, until 10ms
        0ms   renew leader token A-1      => fenced
        0ms   renew leader token A+1      => fenced
        1ms   give-back leader token A    => released
        1ms   renew leader token A        => released
        1ms   guard leader token A        => released
        1ms   renew leader token A-1      => fenced
    ",
    );
}

#[test]
fn a_guarded_commit_is_applied_while_held_and_never_else() {
    check(
        "
        0ms   put seen x                  => version V
        0ms   acquire leader as w for 10ms   => token A, until 10ms
        9ms   guard leader token A put k one check seen V => ok
        9ms   guard leader token A put k two check seen none => changed seen
        9ms   guard leader token A put k two put \"\" x => INVALID_NAME
        9ms   guard leader token A        => ok
        10ms  guard leader token A put k two => expired
        10ms  guard leader token A        => expired
        10ms  value k                     => one version W
        10ms  renew leader token A        => until 20ms
        11ms  guard leader token A del k  => ok
        12ms  give-back leader token A    => released
        12ms  guard leader token A put k two => released
        12ms  acquire leader as v for 10ms   => token B, until 22ms
        12ms  guard leader token A put k two => fenced
        12ms  value k                     => nothing
    ",
    );
}

#[test]
fn releasing_twice_is_fine_and_a_stale_release_frees_nobody() {
    check(
        "
        0ms   acquire leader as w for 10ms   => token A, until 10ms
        1ms   give-back leader token A    => released
        1ms   give-back leader token A    => nothing
        2ms   acquire leader as v for 10ms   => token B, until 12ms
        2ms   give-back leader token A    => nothing
        2ms   status leader               => v until 12ms token B
        20ms  give-back leader token B    => released
        20ms  status leader               => released token B
    ",
    );
}

#[test]
fn a_released_lease_stays_released_whatever_comes_in_the_same_entry() {
    check(
        "
        0ms   acquire leader as w for 10ms   => token A, until 10ms
        1ms   give-back leader token A    => released
        +     renew leader token A        => released
        1ms   status leader               => released token A
        2ms   acquire leader as w for 10ms   => token B, until 12ms
        3ms   renew leader token B        => until 13ms
        +     give-back leader token B    => released
        3ms   status leader               => released token B
    ",
    );
}

#[test]
fn a_token_is_never_granted_twice_not_even_after_the_record_was_removed() {
    check(
        "
        0ms     acquire leader as w for 10ms => token A, until 10ms
        1ms     give-back leader token A  => released
        1ms     restart                   => ok
        1ms     acquire leader as w for 10ms => token B, until 11ms
        1ms     guard leader token A      => fenced
        1ms     give-back leader token B  => released
        1d      status leader             => released token B
        1d+1ms  status leader             => nothing
        1d+1ms  maintain                  => expired 0 purged 0
        1d+1ms  guard leader token B      => gone
        1d+1ms  acquire leader as w for 10ms => token C, until 1d+11ms
        1d+1ms  guard leader token B      => fenced
    ",
    );
}

#[test]
fn a_record_that_nobody_holds_is_gone_a_day_later_whether_or_not_it_was_removed() {
    check(
        "
        0ms     acquire leader as w for 10ms meta hello => token A, until 10ms
        1d+9ms  status leader             => w until 10ms token A meta hello
        1d+9ms  guard leader token A      => expired
        1d+10ms status leader             => nothing
        1d+10ms guard leader token A      => gone
        1d+10ms renew leader token A      => gone
        1d+10ms give-back leader token A  => nothing
        1d+10ms acquire leader as v for 1s   => token B, until 1d+1010ms
        1d+10ms status leader             => v until 1d+1010ms token B
    ",
    );
}

#[test]
fn the_stored_duration_decides_not_the_challengers() {
    check(
        "
        0ms   acquire leader as w for 30s => token A, until 30s
        10s   acquire leader as v for 10s => held by w until 30s
        10s   acquire leader as v for 0ms => held by w until 30s
        20s   acquire leader as v for 1ms => held by w until 30s
        20s   renew leader token A        => until 50s
        30s   acquire leader as v for 10s => held by w until 50s
        50s   acquire leader as v for 10s => token B, until 1m
    ",
    );
}

#[test]
fn metadata_is_kept_until_it_is_replaced() {
    check(
        "
        0ms   acquire leader as w for 10ms meta one => token A, until 10ms
        1ms   renew leader token A        => until 11ms
        1ms   status leader               => w until 11ms token A meta one
        1ms   renew leader token A meta two  => until 11ms
        1ms   status leader               => w until 11ms token A meta two
        2ms   give-back leader token A    => released
        2ms   status leader               => released token A meta two
        3ms   acquire leader as v for 10ms   => token B, until 13ms
        3ms   status leader               => v until 13ms token B meta two
        3ms   acquire leader as v for 10ms meta null => token C, until 13ms
        3ms   status leader               => v until 13ms token C meta null
    ",
    );
}

#[test]
fn held_leases_are_listed_by_name_in_pages() {
    check(
        "
        0ms   acquire c as w for 10ms     => token A, until 10ms
        0ms   acquire a as w for 5ms      => token B, until 5ms
        0ms   acquire ab as w for 10ms    => token C, until 10ms
        0ms   acquire b as w for 10ms     => token D, until 10ms
        0ms   acquire é as w for 10ms     => token E, until 10ms
        0ms   leases                      => a ab b c é
        0ms   leases prefix a             => a ab
        0ms   leases limit 2              => a ab more
        0ms   leases after ab limit 2     => b c more
        0ms   leases after c limit 1      => é
        0ms   leases limit 0              => nothing
        0ms   leases prefix b after a     => b
        1ms   give-back b token D         => released
        5ms   leases                      => ab c é
        10ms  leases                      => nothing
    ",
    );
}

#[test]
fn leases_and_queues_of_one_name_are_strangers() {
    check(
        "
        0ms   acquire mail as w for 10ms  => token A, until 10ms
        0ms   enqueue mail x              => task 1
        0ms   claim mail as w             => task 1, token B
        0ms   put mail x                  => version V
        0ms   complete 1 token A          => fenced
        0ms   guard mail token B          => fenced
        0ms   guard mail token A          => ok
    ",
    );
}

#[test]
fn bad_owners_and_names_are_refused() {
    check(
        "
        0ms   acquire leader as \"\" for 1s    => INVALID_NAME
        0ms   acquire leader as \" \" for 1s   => INVALID_NAME
        0ms   acquire \"\" as w for 1s         => INVALID_NAME
        0ms   acquire __fencepost_lock:x as w for 1s => RESERVED_NAME
        0ms   acquire leader as __fencepost_w for 1s => token A, until 1s
        0ms   acquire other as w for forever   => token B, until forever
        9999d acquire other as v for 1s        => held by w until forever
    ",
    );
}
