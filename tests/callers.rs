//! Restricted callers: promises 48 and 49.

mod support;

use support::script::check;

#[test]
fn a_caller_may_do_what_it_was_granted_and_nothing_else() {
    check(
        "
        caller none may
        caller producer may queue:mail:enqueue
        caller worker may queue:mail:claim,settle
        caller viewer may queue:mail:inspect
        caller boss may queue:mail:manage
        0ms   none: enqueue mail a         => PERMISSION_DENIED
        0ms   worker: enqueue mail a       => PERMISSION_DENIED
        0ms   producer: enqueue mail a     => task 1
        0ms   producer: enqueue-many mail b / c => task 2 task 3
        0ms   producer: claim mail as w    => PERMISSION_DENIED
        0ms   viewer: claim mail as w max 0 => PERMISSION_DENIED
        0ms   worker: claim mail as w max 3 => task 1 token A, task 2 token B, task 3 token C
        1ms   producer: complete 1 token A => PERMISSION_DENIED
        1ms   producer: complete-many 1 token A => PERMISSION_DENIED
        1ms   viewer: fail 1 token A       => PERMISSION_DENIED
        1ms   viewer: heartbeat 1 token A  => PERMISSION_DENIED
        1ms   viewer: release 1 token A    => PERMISSION_DENIED
        1ms   worker: heartbeat 1 token A  => until 300001ms
        1ms   worker: complete-many 1 token A => 1
        1ms   worker: fail 2 token B final => dead
        1ms   worker: release 3 token C    => released
        1ms   worker: cancel 3             => PERMISSION_DENIED
        1ms   worker: sweep mail           => PERMISSION_DENIED
        1ms   worker: redrive mail         => PERMISSION_DENIED
        1ms   worker: purge mail           => PERMISSION_DENIED
        1ms   worker: pause mail           => PERMISSION_DENIED
        1ms   boss: redrive mail           => 1
        1ms   boss: pause mail             => ok
        1ms   boss: resume mail            => ok
        1ms   boss: sweep mail             => expired 0 purged 0
        1ms   boss: purge mail             => 0
        1ms   boss: cancel 3               => cancelled
        1ms   boss: counts mail            => PERMISSION_DENIED
        1ms   viewer: counts mail          => ready 1
    ",
    );
}

#[test]
fn every_queue_operation_is_denied_to_a_caller_without_rights() {
    let commands = [
        "enqueue mail a",
        "enqueue-many mail a / b",
        "claim mail as w",
        "claim mail as w max 0",
        "complete 1 token 1",
        "complete-many 1 token 1",
        "fail 1 token 1",
        "heartbeat 1 token 1",
        "release 1 token 1",
        "abandon 1 token 1",
        "cancel 1",
        "sweep mail",
        "redrive mail",
        "purge mail",
        "pause mail",
        "resume mail",
        "acquire mail as w for 1s",
        "renew mail token 1",
        "give-back mail token 1",
        "guard mail token 1",
        "put mail x",
        "del mail",
        "check mail none",
        "require-task 1 token 1",
        "require-lease mail token 1",
    ];
    for command in commands {
        check(&format!(
            "
            caller eve may queue:mailbox:enqueue,claim,settle,inspect,manage lease:mailbox:acquire,inspect kv:mailbox:read,write queue:mai:enqueue kv:mail/*:read,write
            0ms   eve: {command}             => PERMISSION_DENIED
            0ms   enqueue mail a             => task 1
            0ms   eve: {command}             => PERMISSION_DENIED
            0ms   counts mail                => ready 1
        "
        ));
    }
}

#[test]
fn a_single_read_without_the_right_is_denied_whether_or_not_the_thing_is_there() {
    check(
        "
        caller eve may queue:mail:enqueue,claim,settle,manage lease:leader:acquire kv:k:write
        0ms   enqueue mail a               => task 1
        0ms   acquire leader as w for 1s   => token L, until 1s
        0ms   put k x                      => version V
        0ms   schedule s every 1s job mail a   => 1s
        0ms   eve: get 1 state             => PERMISSION_DENIED
        0ms   eve: get 9 state             => PERMISSION_DENIED
        0ms   eve: get 1 in nowhere state  => PERMISSION_DENIED
        0ms   eve: counts mail             => PERMISSION_DENIED
        0ms   eve: counts nowhere          => PERMISSION_DENIED
        0ms   eve: explain 1               => PERMISSION_DENIED
        0ms   eve: explain 9               => PERMISSION_DENIED
        0ms   eve: next-due mail           => PERMISSION_DENIED
        0ms   eve: next-due nowhere        => PERMISSION_DENIED
        0ms   eve: status leader           => PERMISSION_DENIED
        0ms   eve: status nobody           => PERMISSION_DENIED
        0ms   eve: value k                 => PERMISSION_DENIED
        0ms   eve: value none              => PERMISSION_DENIED
        0ms   eve: schedule-of s next      => PERMISSION_DENIED
        0ms   eve: schedule-of none next   => PERMISSION_DENIED
        0ms   eve: list mail               => nothing
        0ms   eve: queues                  => nothing
        0ms   eve: leases                  => nothing
        0ms   eve: values                  => nothing
        0ms   eve: schedules               => nothing
        0ms   eve: cancel 9                => nothing
    ",
    );
}

#[test]
fn lists_show_what_may_be_inspected_and_nothing_else() {
    check("
        caller ann may queue:a*:inspect queue:c:inspect lease:a*:inspect kv:a/*:read
        0ms   enqueue a x                  => task 1
        0ms   enqueue ab x                 => task 2
        0ms   enqueue b x                  => task 3
        0ms   enqueue c x                  => task 4
        0ms   enqueue cd x                 => task 5
        0ms   acquire a1 as w for 1s       => token A, until 1s
        0ms   acquire b1 as w for 1s       => token B, until 1s
        0ms   acquire a2 as w for 1s       => token C, until 1s
        0ms   put a/1 x                    => version V
        0ms   put a x                      => version W
        0ms   put a/2 x                    => version X
        0ms   put b x                      => version Y
        0ms   ann: queues                  => a ready 1 oldest 0ms due 0ms, ab ready 1 oldest 0ms due 0ms, c ready 1 oldest 0ms due 0ms
        0ms   ann: leases                  => a1 a2
        0ms   ann: leases limit 1          => a1 more
        0ms   ann: leases after a1 limit 1 => a2
        0ms   ann: values                  => a/1 a/2
        0ms   ann: values limit 1          => a/1 more
        0ms   ann: values prefix b         => nothing
    ");
}

#[test]
fn a_name_does_not_open_a_longer_name_and_a_prefix_opens_only_what_begins_so() {
    check(
        "
        caller one may queue:mail:enqueue
        caller many may queue:mail/*:enqueue
        caller all may queue:*:enqueue
        0ms   one: enqueue mail x          => task 1
        0ms   one: enqueue mailbox x       => PERMISSION_DENIED
        0ms   one: enqueue mai x           => PERMISSION_DENIED
        0ms   one: enqueue Mail x          => PERMISSION_DENIED
        0ms   many: enqueue mail x         => PERMISSION_DENIED
        0ms   many: enqueue mail/a x       => task 2
        0ms   many: enqueue mail/ x        => task 3
        0ms   many: enqueue mailbox x      => PERMISSION_DENIED
        0ms   many: enqueue e-mail/a x     => PERMISSION_DENIED
        0ms   all: enqueue anything x      => task 4
        0ms   all: claim anything as w     => PERMISSION_DENIED
    ",
    );
}

#[test]
fn a_right_on_one_realm_is_no_right_on_another_of_the_same_name() {
    check(
        "
        caller q may queue:x:enqueue,claim,settle,inspect,manage
        caller l may lease:x:acquire,inspect
        caller k may kv:x:read,write
        0ms   q: acquire x as w for 1s     => PERMISSION_DENIED
        0ms   q: put x v                   => PERMISSION_DENIED
        0ms   l: enqueue x a               => PERMISSION_DENIED
        0ms   l: put x v                   => PERMISSION_DENIED
        0ms   k: acquire x as w for 1s     => PERMISSION_DENIED
        0ms   k: enqueue x a               => PERMISSION_DENIED
        0ms   q: enqueue x a               => task 1
        0ms   l: acquire x as w for 1s     => token A, until 1s
        0ms   k: put x v                   => version V
    ",
    );
}

#[test]
fn follow_ups_and_writes_need_their_own_rights() {
    check("
        caller ann may queue:mail:enqueue,claim,settle lease:l:acquire kv:a:read,write kv:r:read kv:w:write
        0ms   ann: enqueue mail x put b v  => PERMISSION_DENIED
        0ms   ann: enqueue mail x put r v  => PERMISSION_DENIED
        0ms   ann: enqueue mail x check w none => PERMISSION_DENIED
        0ms   ann: enqueue-many mail x / y del b => PERMISSION_DENIED
        0ms   counts mail                  => nothing
        0ms   ann: enqueue mail x check r none put w v del w put a v => task 1
        0ms   ann: claim mail as w         => task 1, token A
        0ms   ann: complete 1 token A then post y => PERMISSION_DENIED
        0ms   ann: complete 1 token A put b v => PERMISSION_DENIED
        0ms   ann: complete 1 token A-1 put b v => PERMISSION_DENIED
        0ms   ann: fail 1 token A put b v  => PERMISSION_DENIED
        0ms   ann: acquire l as w for 1s   => token L, until 1s
        0ms   ann: guard l token L put b v => PERMISSION_DENIED
        0ms   ann: guard l token L check w none => PERMISSION_DENIED
        0ms   ann: guard l token L put a v2 => ok
        0ms   get 1 state                  => inflight
        0ms   ann: complete 1 token A then mail y put a v3 => done task 2
    ");
}

#[test]
fn rights_hold_inside_transactions() {
    check(
        "
        caller ann may queue:mail:enqueue,claim,settle kv:a:read,write
        0ms   acquire l as w for 1s        => token L, until 1s
        0ms   ann: enqueue mail x          => task 1
        0ms   ann: claim mail as w         => task 1, token A
        0ms   ann: begin                   => ok
        +     ann: put a v                 => version V
        +     ann: put b v                 => PERMISSION_DENIED
        +     ann: del b                   => PERMISSION_DENIED
        +     ann: check b none            => PERMISSION_DENIED
        +     ann: enqueue post x          => PERMISSION_DENIED
        +     ann: cancel 1                => PERMISSION_DENIED
        +     ann: require-lease l token L => PERMISSION_DENIED
        +     ann: require-task 1 token A  => ok
        +     ann: check a none            => ok
        +     ann: commit                  => ok
        0ms   value a                      => v version V
        0ms   value b                      => nothing
    ",
    );
}

#[test]
fn without_inspect_a_held_lease_and_a_taken_key_tell_less() {
    check(
        "
        caller eve may queue:mail:enqueue lease:leader:acquire
        caller ann may queue:mail:enqueue,inspect lease:leader:acquire,inspect
        0ms   enqueue mail a key k         => task 1
        0ms   acquire leader as w for 1s   => token A, until 1s
        0ms   eve: enqueue mail b key k    => task 1 exists
        0ms   ann: enqueue mail b key k    => task 1 exists ready
        0ms   eve: acquire leader as e for 1s => held
        0ms   ann: acquire leader as e for 1s => held by w until 1s
    ",
    );
}

#[test]
fn locks_and_effects_are_granted_by_their_plain_name() {
    use fencepost::name::{EFFECT_PREFIX, LOCK_PREFIX, OUTBOX_PREFIX};
    use fencepost::rights::{Caller, Grant, Names, Realm, Right};
    let grant = |realm, pattern: &str, right| Grant {
        realm,
        names: Names::of(pattern),
        rights: vec![right],
    };
    let may = vec![
        grant(Realm::Lease, "door", Right::Acquire),
        grant(Realm::Kv, "charge/*", Right::Write),
        grant(Realm::Queue, &format!("{OUTBOX_PREFIX}mail"), Right::Enqueue),
    ];
    let caller = Caller { actor: "ann".to_owned(), may: vec![may] };
    let may = |right, realm, prefix: &str, plain: &str| {
        caller.may(right, realm, &format!("{prefix}{plain}"))
    };
    assert!(may(Right::Acquire, Realm::Lease, LOCK_PREFIX, "door"));
    assert!(!may(Right::Acquire, Realm::Lease, LOCK_PREFIX, "doors"));
    assert!(may(Right::Write, Realm::Kv, EFFECT_PREFIX, "charge/1"));
    assert!(!may(Right::Read, Realm::Kv, EFFECT_PREFIX, "charge/1"));
    assert!(!may(Right::Write, Realm::Kv, EFFECT_PREFIX, "refund/1"));
    assert!(may(Right::Enqueue, Realm::Queue, OUTBOX_PREFIX, "mail"));
    assert!(!may(Right::Enqueue, Realm::Queue, "", "mail"));
}

#[test]
fn a_name_that_is_granted_exactly_opens_no_other_even_if_it_ends_in_a_star() {
    use fencepost::rights::{Caller, Grant, Names, Realm, Right};
    let names = Names::Exact("user*".to_owned());
    let grant = Grant { realm: Realm::Queue, names, rights: vec![Right::Enqueue] };
    let caller = Caller { actor: "ann".to_owned(), may: vec![vec![grant]] };
    assert!(caller.may(Right::Enqueue, Realm::Queue, "user*"));
    assert!(!caller.may(Right::Enqueue, Realm::Queue, "user"));
    assert!(!caller.may(Right::Enqueue, Realm::Queue, "user1"));
}

#[test]
fn rights_that_are_handed_on_are_those_that_every_giver_has() {
    use fencepost::rights::{Caller, Grant, Names, Realm, Right};
    let grant = |pattern: &str, rights: &[Right]| Grant {
        realm: Realm::Queue,
        names: Names::of(pattern),
        rights: rights.to_vec(),
    };
    let giver = vec![grant("mail/*", &[Right::Enqueue, Right::Claim])];
    let own = vec![grant("*", &[Right::Enqueue, Right::Inspect])];
    let caller = Caller { actor: "ann".to_owned(), may: vec![giver, own] };
    assert!(caller.may(Right::Enqueue, Realm::Queue, "mail/a"));
    assert!(!caller.may(Right::Enqueue, Realm::Queue, "post"));
    assert!(!caller.may(Right::Claim, Realm::Queue, "mail/a"));
    assert!(!caller.may(Right::Inspect, Realm::Queue, "mail/a"));
    assert!(!caller.may_everywhere(Right::Enqueue, Realm::Queue));
    assert!(!caller.may_somewhere(Right::Inspect, Realm::Queue));
    let nobody = Caller { actor: "ann".to_owned(), may: Vec::new() };
    assert!(!nobody.may(Right::Enqueue, Realm::Queue, "mail/a"));
}

#[test]
fn a_schedule_is_taken_away_by_who_manages_its_queue_and_needs_nothing_else() {
    check(
        "
        caller boss may queue:mail:manage
        caller chief may queue:mail:manage,inspect
        caller eve may queue:post:manage queue:mail:inspect
        caller ann may queue:mail:enqueue,claim,settle,inspect
        caller all may queue:*:inspect
        0ms   eve: schedule s every 1s job mail a  => PERMISSION_DENIED
        0ms   boss: schedule s every 1s job mail a => 1s
        0ms   eve: schedule s every 1s job post a  => PERMISSION_DENIED
        0ms   eve: unschedule s            => PERMISSION_DENIED
        0ms   ann: unschedule s            => PERMISSION_DENIED
        0ms   ann: unschedule none         => PERMISSION_DENIED
        0ms   boss: unschedule none        => nothing
        0ms   boss: schedule-of s next     => PERMISSION_DENIED
        0ms   chief: schedule-of s next    => 1s
        0ms   chief: schedule-of none next => PERMISSION_DENIED
        0ms   all: schedule-of none next   => nothing
        0ms   boss: unschedule s           => removed
        0ms   boss: unschedule s           => nothing
    ",
    );
}

#[test]
fn a_transaction_sees_what_it_wrote_and_is_denied_the_rest() {
    check(
        "
        caller ann may queue:mail:enqueue kv:a:write kv:b:write
        0ms   put a 41                     => version V
        0ms   put b 1                      => version W
        0ms   ann: begin                   => ok
        +     ann: value a                 => PERMISSION_DENIED
        +     ann: value none              => PERMISSION_DENIED
        +     ann: put a 42                => version X
        +     ann: value a                 => 42
        +     ann: value b                 => PERMISSION_DENIED
        +     ann: del b                   => deleted
        +     ann: value b                 => nothing
        +     ann: abort                   => ok
        0ms   ann: begin                   => ok
        +     ann: value a                 => PERMISSION_DENIED
        +     ann: abort                   => ok
        0ms   value a                      => 41 version V
    ",
    );
}

#[test]
fn a_denial_names_the_actor_the_right_and_the_name() {
    use fencepost::rights::{Caller, Realm, Right};
    let caller = Caller { actor: "e\nve".to_owned(), may: Vec::new() };
    let error = caller.require(Right::Settle, Realm::Queue, "mail").unwrap_err();
    assert_eq!(error.to_string(), "\"e\\nve\" may not settle \"mail\"");
    assert_eq!(error.kind().as_str(), "denied");
}
