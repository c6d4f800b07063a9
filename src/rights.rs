//! What a caller may do: deny by default, checked on every operation.
//!
//! A grant names a queue, lease or key, or all that begin with a prefix. A name never opens another
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

/// Which names a grant is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// This one, whatever it contains.
    Exact(String),
    /// All that begin like this.
    Prefix(String),
}

/// Some rights on a name, or on all names with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub realm: Realm,
    pub names: Names,
    pub rights: Vec<Right>,
}

/// Who calls, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub actor: String,
    /// Its own grants come behind those of whoever handed rights on to it. Each list must allow.
    pub may: Vec<Vec<Grant>>,
}

impl Names {
    /// As grants are written: what ends in `*` is a prefix.
    pub fn of(pattern: &str) -> Self {
        match pattern.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Exact(pattern.to_owned()),
        }
    }

    fn cover(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == name,
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
        }
    }
}

impl Grant {
    fn gives(&self, right: Right, realm: Realm) -> bool {
        self.realm == realm && self.rights.contains(&right)
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
        let gives = |grant: &Grant| grant.gives(right, realm) && grant.names.cover(plain);
        self.each_has(gives)
    }

    /// Whether it may do this somewhere.
    pub fn may_somewhere(&self, right: Right, realm: Realm) -> bool {
        self.each_has(|grant| grant.gives(right, realm))
    }

    /// Whether it may do this everywhere.
    pub fn may_everywhere(&self, right: Right, realm: Realm) -> bool {
        let is_all = |names: &Names| matches!(names, Names::Prefix(all) if all.is_empty());
        self.each_has(|grant| grant.gives(right, realm) && is_all(&grant.names))
    }

    /// Whether a grant of every list is so; what has no list has no grant.
    fn each_has(&self, is_so: impl Fn(&Grant) -> bool) -> bool {
        !self.may.is_empty() && self.may.iter().all(|grants| grants.iter().any(&is_so))
    }

    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn require(&self, right: Right, realm: Realm, name: &str) -> Result<(), Error> {
        match self.may(right, realm, name) {
            true => Ok(()),
            false => Err(self.denied(right, name)),
        }
    }

    pub fn denied(&self, right: Right, on: &str) -> Error {
        let (actor, right, on) = (self.actor.clone(), right.as_str(), on.to_owned());
        Error::PermissionDenied { actor, right, on }
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
