//! Backoff: promise 19.

use fencepost::backoff::{Backoff, Jitter, Random};
use fencepost::id::{Millis, SAFE_MAX};

const DRAWS: usize = 400;

fn draws(backoff: Backoff, attempt: u64) -> Vec<u64> {
    let mut random = Random::seeded(!attempt);
    (0..DRAWS).map(|_| backoff.wait(attempt, &mut random).get()).collect()
}

fn backoff(base: u64, max: u64, jitter: Jitter) -> Backoff {
    Backoff { base: Millis::saturating(base), max: Millis::saturating(max), jitter }
}

/// Four hundred draws stay inside and reach into every tenth of the range.
fn assert_spread(draws: &[u64], low: u64, high: u64) {
    assert!(draws.iter().all(|wait| (low..=high).contains(wait)), "{low}..={high}: {draws:?}");
    if high - low >= 10 {
        let tenth = |wait: &u64| (wait - low) * 10 / (high - low + 1);
        let mut tenths: Vec<u64> = draws.iter().map(tenth).collect();
        tenths.sort_unstable();
        tenths.dedup();
        assert_eq!(tenths.len(), 10, "{low}..={high}: {draws:?}");
    }
}

#[test]
fn equal_jitter_stays_in_the_upper_half_and_spreads_over_it() {
    let doubled = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000];
    for (attempt, cap) in (1..).zip(doubled) {
        assert_spread(&draws(Backoff::default(), attempt), cap / 2, cap);
    }
    for attempt in [11, 12, 40, 64, 65, 1_000, SAFE_MAX, u64::MAX] {
        assert_spread(&draws(Backoff::default(), attempt), 1_800_000, 3_600_000);
    }
}

#[test]
fn full_jitter_goes_down_to_nothing() {
    for (attempt, cap) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (50, 1_000)] {
        assert_spread(&draws(backoff(100, 1_000, Jitter::Full), attempt), 0, cap);
    }
}

#[test]
fn without_jitter_the_wait_is_the_cap() {
    for (attempt, cap) in [(0, 7), (1, 7), (2, 14), (3, 28), (4, 30), (99, 30)] {
        assert!(draws(backoff(7, 30, Jitter::None), attempt).iter().all(|wait| *wait == cap));
    }
}

#[test]
fn small_and_odd_caps_round_up_their_half() {
    assert_spread(&draws(backoff(1, 9, Jitter::Equal), 1), 1, 1);
    assert_spread(&draws(backoff(3, 9, Jitter::Equal), 1), 2, 3);
    let seen = draws(backoff(3, 9, Jitter::Equal), 1);
    assert!(seen.contains(&2) && seen.contains(&3), "both ends are included");
}

#[test]
fn a_base_of_nothing_and_a_maximum_below_the_base_are_legal() {
    for jitter in [Jitter::Equal, Jitter::Full, Jitter::None] {
        assert_spread(&draws(backoff(0, 1_000, jitter), 40), 0, 0);
        assert_spread(&draws(backoff(1_000, 0, jitter), 1), 0, 0);
    }
    assert_spread(&draws(backoff(1_000, 10, Jitter::None), 1), 10, 10);
}

#[test]
fn nothing_overflows_at_any_attempt_or_base() {
    for base in [0, 1, 5_000, 1 << 31, 1 << 32, SAFE_MAX - 1, SAFE_MAX] {
        for max in [0, 1, 3_600_000, SAFE_MAX] {
            for attempt in [0, 1, 2, 31, 32, 33, 52, 53, 54, 63, 64, 65, 1 << 32, u64::MAX] {
                for jitter in [Jitter::Equal, Jitter::Full, Jitter::None] {
                    let wait = backoff(base, max, jitter).wait(attempt, &mut Random::seeded(base));
                    assert!(wait.get() <= max);
                    assert!(
                        base == 0 || jitter != Jitter::Equal || wait.get() >= max.min(base) / 2
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_seed_another() {
    let first: Vec<u64> = (0..9).map(|_| Random::seeded(1).draw()).collect();
    assert!(first.iter().all(|draw| *draw == first[0]));
    assert_ne!(Random::seeded(1).draw(), Random::seeded(2).draw());
}
