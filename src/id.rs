//! Numbers with a meaning: ids, versions, tokens, instants and durations.
//!
//! **Invariant:** every one of them is a *safe integer* (`< 2^53`), so that it survives JavaScript.
//! Constructors outside this crate go through `TryFrom<u64>`; arithmetic saturates at the limit.

use std::fmt;

/// The largest integer that JavaScript holds exactly: 2^53 - 1.
pub const SAFE_MAX: u64 = (1 << 53) - 1;

/// The number does not fit in 53 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSafe(pub u64);

macro_rules! safe_number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// Cuts `value` to the largest safe integer.
            pub const fn saturating(value: u64) -> Self {
                Self(if value > SAFE_MAX { SAFE_MAX } else { value })
            }

            pub const fn get(self) -> u64 {
                self.0
            }

            /// The successor, or `None` when the numbers are used up.
            pub fn next(self) -> Option<Self> {
                (self.0 < SAFE_MAX).then(|| Self(self.0 + 1))
            }
        }

        impl TryFrom<u64> for $name {
            type Error = NotSafe;
            fn try_from(value: u64) -> Result<Self, NotSafe> {
                if value > SAFE_MAX { Err(NotSafe(value)) } else { Ok(Self(value)) }
            }
        }

        impl From<$name> for u64 {
            fn from(value: $name) -> u64 {
                value.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

safe_number! {
    /// A task, store-wide, from 1, never reused.
    TaskId
}
safe_number! {
    /// The place of a task in the order of its queue's enqueues, from 1.
    Seq
}
safe_number! {
    /// Fencing token: rises strictly on every grant of a claim or lease, over the whole store.
    Token
}
safe_number! {
    /// Counts the commands that changed something.
    Version
}
safe_number! {
    /// The sequence number of an entry in the journal; the first is 1.
    Slot
}
safe_number! {
    /// Milliseconds since the Unix epoch.
    Instant
}
safe_number! {
    /// A duration in milliseconds.
    Millis
}

impl fmt::Display for NotSafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a safe integer", self.0)
    }
}

impl Instant {
    /// An instant that never comes; sums that leave the safe integers end here.
    pub const NEVER: Self = Self(SAFE_MAX);

    pub const fn after(self, wait: Millis) -> Self {
        Self::saturating(self.0.saturating_add(wait.0))
    }

    /// The instant just before this one; the epoch has none.
    pub const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    pub const fn until(self, later: Self) -> Millis {
        Millis(later.0.saturating_sub(self.0))
    }
}

impl Millis {
    pub const ZERO: Self = Self(0);
    /// Longer than any store lives; `Infinity` in JavaScript.
    pub const FOREVER: Self = Self(SAFE_MAX);
}

/// A queue, numbered by the order of first use. Task rows hold it instead of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueId(pub u32);

/// Higher runs first. Any safe integer, also a negative one; 0 unless given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(i64);

impl Priority {
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl TryFrom<i64> for Priority {
    type Error = NotSafe;
    fn try_from(value: i64) -> Result<Self, NotSafe> {
        match value.unsigned_abs() <= SAFE_MAX {
            true => Ok(Self(value)),
            false => Err(NotSafe(value.unsigned_abs())),
        }
    }
}

impl From<Priority> for i64 {
    fn from(value: Priority) -> i64 {
        value.0
    }
}
