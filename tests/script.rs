//! The table language of the other tests.

mod support;

use support::script::check;
use support::words::offset;

#[test]
#[should_panic(expected = "unknown word \"frobnicate\" in the line")]
fn an_unknown_command_is_named() {
    check("0ms  frobnicate => ok");
}

#[test]
#[should_panic(expected = "unknown word \"kye\" in the line")]
fn an_unknown_option_is_named() {
    check("0ms  enqueue mail a kye k => task 1");
}

#[test]
#[should_panic(expected = "- task 2\n+ task 1")]
fn a_wrong_answer_is_shown_beside_the_right_one() {
    check("0ms  enqueue mail a => task 2");
}

#[test]
#[should_panic(expected = "the answer differs")]
fn a_second_name_for_one_token_is_a_mistake() {
    check(
        "
        0ms  acquire leader as w1 for 1s => token A, until 1s
        0ms  status leader               => w1, until 1s, token B
    ",
    );
}

#[test]
fn times_are_sums() {
    assert_eq!(offset("30s+1ms"), Some(30_001));
    assert_eq!(offset("-1d-2ms"), Some(-86_400_002));
    assert_eq!(offset("forever"), Some((1 << 53) - 1));
    assert_eq!(offset("12"), None);
    assert_eq!(offset(""), None);
}
