//! Random sequences of all operations against a naive model: every answer and every visible row.
//!
//! A failure is made smaller, printed with its seed, and kept in
//! `tests/model.proptest-regressions`.

mod support;

use proptest::prelude::*;
use support::domain::step;
use support::run::{Run, cases};

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn the_engine_does_what_the_naive_model_does(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut run = Run::new();
        steps.iter().for_each(|step| run.step(step));
        run.commit();
        run.compare(0);
    }
}
