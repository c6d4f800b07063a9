//! A lease row and its lifecycle.
//!
//! ```text
//!  acquire ──> held ──renew──> held ──release──> released ──acquire──> held …
//!               └── until passes: anybody may take it; until then its owner may still renew
//! ```
//!
//! **Invariant:** the stored duration decides, never the challenger's. A token is granted once.

use crate::blob::Blob;
use crate::error::Refusal;
use crate::id::{Instant, Millis, Token};
use crate::limits::LEASE_RECORD_RETENTION;
use crate::name::Name;
use crate::place::Place;

/// The newest grant of a lease name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub token: Token,
    pub acquired_at: Instant,
    /// The last duration asked for; a renewal without one takes it again.
    pub ttl: Millis,
    pub meta: Option<Blob>,
    pub state: LeaseState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// Ends *at* `until`: at that millisecond it is free.
    Held {
        owner: Name,
        until: Instant,
    },
    Released {
        at: Instant,
    },
}

impl LeaseRow {
    /// Who holds it at `now`.
    pub fn holder(&self, now: Instant) -> Option<(&Name, Instant)> {
        match &self.state {
            LeaseState::Held { owner, until } if now < *until => Some((owner, *until)),
            _ => None,
        }
    }

    /// Whether `owner` may be granted it at `now`.
    pub fn is_free_for(&self, owner: &str, now: Instant) -> bool {
        self.holder(now).is_none_or(|(holder, _)| holder.as_str() == owner)
    }

    /// Renewing needs the current token of an unreleased lease. It may come late, as long as nobody
    /// took over.
    pub fn require_renewable(&self, token: Token) -> Result<&Name, Refusal> {
        if self.token != token {
            return Err(Refusal::Fenced);
        }
        match &self.state {
            LeaseState::Held { owner, .. } => Ok(owner),
            LeaseState::Released { .. } => Err(Refusal::Released),
        }
    }

    /// Guarding a commit needs more: the lease must still run.
    pub fn require_held(&self, token: Token, now: Instant) -> Result<(), Refusal> {
        self.require_renewable(token)?;
        match self.holder(now) {
            Some(_) => Ok(()),
            None => Err(Refusal::Expired),
        }
    }

    pub fn renewed(&self, owner: &Name, ttl: Millis, meta: Option<Blob>, now: Instant) -> Self {
        let state = LeaseState::Held { owner: owner.clone(), until: now.after(ttl) };
        Self { ttl, meta: meta.or_else(|| self.meta.clone()), state, ..self.clone() }
    }

    pub fn released(&self, now: Instant) -> Self {
        Self { state: LeaseState::Released { at: now }, ..self.clone() }
    }

    /// When a record that nobody holds is removed.
    pub fn gone_at(&self) -> Instant {
        match self.state {
            LeaseState::Held { until, .. } => until,
            LeaseState::Released { at } => at,
        }
        .after(LEASE_RECORD_RETENTION)
    }

    /// Its place among the records by the instant of their removal.
    pub fn gone_place(&self) -> Place {
        Place { rank: 0, at: self.gone_at(), number: self.token.get() }
    }
}
