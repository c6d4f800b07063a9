//! The ordered indexes of a queue, by name.

/// The ordered indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Waiting, not due.
    Scheduled,
    /// To be claimed next: due, or lapsed with attempts left.
    Ready,
    /// Claims that run.
    Inflight,
    /// What expires later.
    Expiry,
    /// To be buried by the next claim or sweep.
    Doomed,
    /// Done and dead rows, by the end of their retention.
    Retention,
    /// Everything that users see, by state and id.
    Phases,
}

impl Order {
    pub const ALL: [Self; 7] = [
        Self::Scheduled,
        Self::Ready,
        Self::Inflight,
        Self::Expiry,
        Self::Doomed,
        Self::Retention,
        Self::Phases,
    ];

    /// Whether rows come or go by time alone, of which somebody may have to be told: of those that
    /// are due, one index tells.
    pub const fn changes_in_time(self) -> bool {
        !matches!(self, Self::Ready | Self::Phases)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::Inflight => "inflight",
            Self::Expiry => "expiry",
            Self::Doomed => "doomed",
            Self::Retention => "retention",
            Self::Phases => "phases",
        }
    }
}
