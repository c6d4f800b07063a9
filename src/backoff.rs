//! How long a failed task waits before its next attempt.
//!
//! `cap = min(base * 2^(attempt - 1), max)`, saturating; the jitter draws the wait from below it.
//! The drawn value goes into the row, so every replica sees the same one.

use crate::id::Millis;

/// The stamp a task carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The cap after the first attempt. Default 5 000 ms; 0 retries at once.
    pub base: Millis,
    /// The cap never grows beyond this. Default 3 600 000 ms. A smaller one than `base` wins.
    pub max: Millis,
    /// Default [`Jitter::Equal`].
    pub jitter: Jitter,
}

/// From which range below the cap the wait is drawn, uniformly, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// `[ceil(cap / 2), cap]`
    Equal,
    /// `[0, cap]`
    Full,
    /// `cap` itself
    None,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: Millis::saturating(5_000),
            max: Millis::saturating(3_600_000),
            jitter: Jitter::Equal,
        }
    }
}

impl Backoff {
    /// The wait after `attempt` (from 1) failed.
    pub fn wait(self, attempt: u64, random: &mut Random) -> Millis {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(63);
        let cap = self.base.get().saturating_mul(1 << doublings).min(self.max.get());
        Millis::saturating(match self.jitter {
            Jitter::Equal => random.between(cap.div_ceil(2), cap),
            Jitter::Full => random.between(0, cap),
            Jitter::None => cap,
        })
    }
}

/// A small generator (SplitMix64). Good enough for jitter and replica ids, not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in `[low, high]`: the high half of a product maps the draw onto the range.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        let values = u128::from(high - low) + 1;
        low + ((u128::from(self.draw()) * values) >> 64) as u64
    }
}
