//! What a caller may do: deny by default, checked on every operation.
//!
//! A grant names a queue, lease or key, or a prefix that ends in `*`. A name never opens another
//! one that merely begins like it.

use crate::error::Error;
use crate::name::{EFFECT_PREFIX, LOCK_PREFIX};

/// One thing that a caller may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Enqueue,
    Claim,
    Settle,
    Inspect,
    Manage,
    Acquire,
    Read,
    Write,
}

/// What the right is exercised on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Realm {
    Queue,
    Lease,
    Kv,
}

/// Some rights on a name, or on all names with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub realm: Realm,
    /// A name, or a prefix ending in `*`.
    pub pattern: String,
    pub rights: Vec<Right>,
}

/// Who calls, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub actor: String,
    pub may: Vec<Grant>,
}

impl Grant {
    fn covers(&self, realm: Realm, name: &str) -> bool {
        self.realm == realm
            && match self.pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => self.pattern == name,
            }
    }
}

impl Caller {
    pub fn may(&self, right: Right, realm: Realm, name: &str) -> bool {
        // Locks are leases and effects are values under prefixes of the engine's; both are granted
        // by their plain name.
        let plain = match realm {
            Realm::Queue => None,
            Realm::Lease => name.strip_prefix(LOCK_PREFIX),
            Realm::Kv => name.strip_prefix(EFFECT_PREFIX),
        };
        let plain = plain.unwrap_or(name);
        self.may.iter().any(|grant| grant.covers(realm, plain) && grant.rights.contains(&right))
    }

    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn require(&self, right: Right, realm: Realm, name: &str) -> Result<(), Error> {
        match self.may(right, realm, name) {
            true => Ok(()),
            false => Err(Error::PermissionDenied {
                actor: self.actor.clone(),
                right: right.as_str(),
                on: name.to_owned(),
            }),
        }
    }
}

impl Right {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enqueue => "enqueue",
            Self::Claim => "claim",
            Self::Settle => "settle",
            Self::Inspect => "inspect",
            Self::Manage => "manage",
            Self::Acquire => "acquire",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
