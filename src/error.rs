//! What can go wrong, and what the caller should do about it.
//!
//! A [`Refusal`] is an ordinary answer: a stale token, a lapsed claim, a held lease. An [`Error`]
//! is a wrong call or a broken log. Both leave the state as it was.

use crate::id::{Instant, Version};
use crate::name::Name;
use std::fmt;

/// What the caller should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fix the call.
    Invalid,
    /// Ask for the right.
    Denied,
    /// Read again, then retry.
    Conflict,
    /// The work is over.
    Ended,
    /// Try again, perhaps after reopening.
    Unavailable,
    /// Restore or upgrade.
    Data,
    /// Open again.
    Closed,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::Conflict => "conflict",
            Self::Ended => "ended",
            Self::Unavailable => "unavailable",
            Self::Data => "data",
            Self::Closed => "closed",
        }
    }
}

macro_rules! codes {
    ($($code:ident $text:literal $kind:ident,)*) => {
        /// The stable name of an error. Codes are added, never removed or given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($code,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $text,)* }
            }

            pub const fn kind(self) -> Kind {
                match self { $(Self::$code => Kind::$kind,)* }
            }
        }
    };
}

codes! {
    InvalidArgument "INVALID_ARGUMENT" Invalid,
    InvalidName "INVALID_NAME" Invalid,
    ReservedName "RESERVED_NAME" Invalid,
    PayloadTooLarge "PAYLOAD_TOO_LARGE" Invalid,
    LimitExceeded "LIMIT_EXCEEDED" Invalid,
    InvalidSchedule "INVALID_SCHEDULE" Invalid,
    UnsupportedHost "UNSUPPORTED_HOST" Invalid,
    PermissionDenied "PERMISSION_DENIED" Denied,
    CheckFailed "CHECK_FAILED" Conflict,
    TaskDead "TASK_DEAD" Ended,
    TaskCancelled "TASK_CANCELLED" Ended,
    TaskGone "TASK_GONE" Ended,
    LeaseLost "LEASE_LOST" Ended,
    Cancelled "CANCELLED" Ended,
    TimedOut "TIMED_OUT" Ended,
    Stopped "STOPPED" Ended,
    JournalUnavailable "JOURNAL_UNAVAILABLE" Unavailable,
    JournalFull "JOURNAL_FULL" Unavailable,
    JournalLocked "JOURNAL_LOCKED" Unavailable,
    OutcomeUnknown "OUTCOME_UNKNOWN" Unavailable,
    StoreFull "STORE_FULL" Unavailable,
    JournalCorrupt "JOURNAL_CORRUPT" Data,
    FormatTooNew "FORMAT_TOO_NEW" Data,
    LogReplaced "LOG_REPLACED" Data,
    StoreClosed "STORE_CLOSED" Closed,
    EngineCrashed "ENGINE_CRASHED" Closed,
}

/// A call that cannot be carried out, or a log that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    InvalidArgument {
        argument: &'static str,
        expected: &'static str,
        got: String,
    },
    InvalidName {
        argument: &'static str,
        problem: &'static str,
        got: String,
    },
    ReservedName {
        argument: &'static str,
        got: String,
    },
    InvalidSchedule {
        argument: &'static str,
        expected: &'static str,
        got: String,
    },
    PayloadTooLarge {
        argument: &'static str,
        size: usize,
        limit: usize,
    },
    LimitExceeded {
        what: &'static str,
        size: u64,
        limit: u64,
    },
    StoreFull {
        size: u64,
        limit: u64,
    },
    PermissionDenied {
        actor: String,
        right: &'static str,
        on: String,
    },
    CheckFailed(FailedCheck),
    JournalCorrupt {
        problem: String,
    },
    FormatTooNew {
        format: u8,
        supported: u8,
    },
    LogReplaced {
        expected: String,
        found: String,
    },
    /// What is wrong with one item of a list.
    Within {
        list: &'static str,
        index: usize,
        error: Box<Error>,
    },
}

/// A `check` that did not hold: the version that was expected and the one found, `None` for no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    pub key: Name,
    pub expected: Option<Version>,
    pub actual: Option<Version>,
}

/// Why a call that is right in itself does not hold now. Variants stand in the order in which they
/// are tested; the first that applies is the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No such task or lease.
    Gone,
    /// The task is not in flight.
    Settled,
    /// A newer token was granted.
    Fenced,
    /// The lease was given back.
    Released,
    /// The claim or lease ran out.
    Expired,
    /// Somebody else holds the lease. Unknown to a caller that may not inspect it.
    Held(Option<(Name, Instant)>),
    /// A `check` found another version.
    Changed(FailedCheck),
}

/// The answer to a command that may be refused.
pub type Outcome<T> = Result<T, Refusal>;

impl Error {
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidArgument { .. } => Code::InvalidArgument,
            Self::InvalidName { .. } => Code::InvalidName,
            Self::ReservedName { .. } => Code::ReservedName,
            Self::InvalidSchedule { .. } => Code::InvalidSchedule,
            Self::PayloadTooLarge { .. } => Code::PayloadTooLarge,
            Self::LimitExceeded { .. } => Code::LimitExceeded,
            Self::StoreFull { .. } => Code::StoreFull,
            Self::PermissionDenied { .. } => Code::PermissionDenied,
            Self::CheckFailed(_) => Code::CheckFailed,
            Self::JournalCorrupt { .. } => Code::JournalCorrupt,
            Self::FormatTooNew { .. } => Code::FormatTooNew,
            Self::LogReplaced { .. } => Code::LogReplaced,
            Self::Within { error, .. } => error.code(),
        }
    }

    pub fn kind(&self) -> Kind {
        self.code().kind()
    }

    /// The argument that is wrong, as callers name it.
    pub fn argument(&self) -> Option<String> {
        match self {
            Self::InvalidArgument { argument, .. }
            | Self::InvalidName { argument, .. }
            | Self::ReservedName { argument, .. }
            | Self::InvalidSchedule { argument, .. }
            | Self::PayloadTooLarge { argument, .. } => Some((*argument).to_owned()),
            Self::LimitExceeded { what, .. } => Some((*what).to_owned()),
            Self::Within { list, index, error } => {
                Some(format!("{list}[{index}].{}{}", error.group(), error.argument()?))
            }
            _ => None,
        }
    }

    /// What of an item stands beside its payload stands in its options.
    fn group(&self) -> &'static str {
        match self.argument().as_deref() {
            Some("payload" | "queue" | "codec") => "",
            _ => "options.",
        }
    }

    /// As that of one item of a list, if it is about an argument.
    pub(crate) fn within(self, list: &'static str, index: usize) -> Self {
        match self.argument() {
            Some(_) => Self::Within { list, index, error: Box::new(self) },
            None => self,
        }
    }

    pub(crate) fn corrupt(problem: impl Into<String>) -> Self {
        Self::JournalCorrupt { problem: problem.into() }
    }
}

impl Refusal {
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Settled => "settled",
            Self::Fenced => "fenced",
            Self::Released => "released",
            Self::Expired => "expired",
            Self::Held(_) => "held",
            Self::Changed(_) => "changed",
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArgument { argument, expected, got }
            | Self::InvalidSchedule { argument, expected, got } => {
                write!(f, "{argument}: expected {expected}, got {got}")
            }
            Self::InvalidName { argument, problem, got } => {
                write!(f, "{argument}: {problem}, got {}", quoted(got))
            }
            Self::ReservedName { argument, got } => write!(
                f,
                "{argument}: names that begin with __fencepost_ are reserved, got {}",
                quoted(got)
            ),
            Self::PayloadTooLarge { argument, size, limit } => {
                write!(f, "{argument}: expected at most {limit} bytes, got {size}")
            }
            Self::LimitExceeded { what, size, limit } => {
                write!(f, "{what}: expected at most {limit}, got {size}")
            }
            Self::StoreFull { size, limit } => write!(
                f,
                "the store is full: it would have {size} bytes of at most {limit}; complete, \
                 cancel or purge something"
            ),
            Self::PermissionDenied { actor, right, on } => {
                write!(f, "{} may not {right} {}", quoted(actor), quoted(on))
            }
            Self::CheckFailed(check) => check.fmt(f),
            Self::JournalCorrupt { problem } => {
                write!(f, "the stored bytes are damaged: {problem}")
            }
            Self::FormatTooNew { format, supported } => write!(
                f,
                "the journal has format {format}, this build reads up to {supported}: upgrade it"
            ),
            Self::Within { list, index, error } => {
                write!(f, "{list}[{index}].{}{error}", error.group())
            }
            Self::LogReplaced { expected, found } => {
                write!(f, "the log {expected} was replaced by {found}")
            }
        }
    }
}

impl fmt::Display for FailedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |version: Option<Version>| match version {
            Some(version) => format!("version {version}"),
            None => "no such key".to_owned(),
        };
        write!(
            f,
            "check of {}: expected {}, got {}",
            quoted(self.key.as_str()),
            shown(self.expected),
            shown(self.actual)
        )
    }
}

/// A text for a message: in quotes, control characters escaped, cut to a readable length.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}
