//! Claiming and order: BEHAVIOURS 1 to 9.

mod support;

use support::script::check;

#[test]
fn complete_enqueues_its_follow_ups_or_does_nothing() {
    check(
        "
        0ms  enqueue mail a                 => task 1
        0ms  claim mail as w1 for 30ms      => task 1, token A
        5ms  complete 1 token A-1 then mail b  => fenced
        5ms  claim mail as w2 for 30ms      => nothing
        6ms  complete 1 token A then mail b => done, task 2
        7ms  claim mail as w2 for 30ms      => task 2, token B
    ",
    );
}
