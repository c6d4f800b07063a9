//! Names and keys: what they may contain, and the families that the engine keeps for itself.
//!
//! **Invariant:** a [`NameRef`] has been checked; nothing else reaches the tables. Nothing is
//! trimmed or normalised, and a name never contains another one: queue and key are fields of a
//! tuple, not parts of a joined string.

use crate::error::Error;
use crate::limits::{KEY_BYTES_MAX, NAME_BYTES_MAX, PREFIXED_NAME_BYTES_MAX};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// Names that begin so belong to the engine.
pub const RESERVED_PREFIX: &str = "__fencepost_";
pub const OUTBOX_PREFIX: &str = "__fencepost_outbox:";
pub const LOCK_PREFIX: &str = "__fencepost_lock:";
pub const EFFECT_PREFIX: &str = "__fencepost_effect:";

/// A checked name or key, as rows keep it. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// A checked name or key, borrowed from the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameRef<'a>(&'a str);

impl Name {
    /// As it stands in a row: it was checked when it was written.
    pub(crate) fn of_row(text: Arc<str>) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'a> NameRef<'a> {
    /// Stands where a name should have been, until the fault is told.
    #[cfg(feature = "wasm")]
    pub(crate) const UNNAMED: Self = Self("");

    /// A queue, lease or schedule that applications share: at most 255 bytes, not blank, not
    /// reserved.
    ///
    /// # Errors
    /// `INVALID_NAME`, `RESERVED_NAME`.
    pub fn shared(argument: &'static str, text: &'a str) -> Result<Self, Error> {
        let name = Self::bounded(argument, text, NAME_BYTES_MAX)?;
        name.refuse_reserved(argument)
    }

    /// Who claims: at most 255 bytes, not blank.
    ///
    /// # Errors
    /// `INVALID_NAME`.
    pub fn owner(text: &'a str) -> Result<Self, Error> {
        Self::bounded("owner", text, NAME_BYTES_MAX)
    }

    /// An idempotency or key-value key: at most 1 024 bytes, not blank, not reserved.
    ///
    /// # Errors
    /// `INVALID_NAME`, `RESERVED_NAME`.
    pub fn key(text: &'a str) -> Result<Self, Error> {
        let name = Self::bounded("key", text, KEY_BYTES_MAX)?;
        name.refuse_reserved("key")
    }

    /// A name of one of the engine's own families, written with its prefix: an outbox queue, a lock
    /// or an effect.
    ///
    /// # Errors
    /// `INVALID_NAME`, `RESERVED_NAME`, for the part behind the prefix.
    pub fn of_family(
        argument: &'static str,
        prefix: &'static str,
        text: &'a str,
    ) -> Result<Self, Error> {
        let Some(plain) = text.strip_prefix(prefix) else {
            let problem = "expected the prefix of its family";
            return Err(Error::InvalidName { argument, problem, got: text.to_owned() });
        };
        Self::bounded(argument, plain, PREFIXED_NAME_BYTES_MAX)?.refuse_reserved(argument)?;
        Ok(Self(text))
    }

    fn bounded(argument: &'static str, text: &'a str, bytes_max: usize) -> Result<Self, Error> {
        let problem = if text.len() > bytes_max {
            match bytes_max {
                KEY_BYTES_MAX => "expected at most 1024 bytes",
                PREFIXED_NAME_BYTES_MAX => "expected at most 200 bytes",
                _ => "expected at most 255 bytes",
            }
        } else if text.chars().all(char::is_whitespace) {
            "expected a name that is not blank"
        } else {
            return Ok(Self(text));
        };
        Err(Error::InvalidName { argument, problem, got: text.to_owned() })
    }

    fn refuse_reserved(self, argument: &'static str) -> Result<Self, Error> {
        match self.0.starts_with(RESERVED_PREFIX) {
            true => Err(Error::ReservedName { argument, got: self.0.to_owned() }),
            false => Ok(self),
        }
    }

    pub const fn as_str(self) -> &'a str {
        self.0
    }

    pub fn to_name(self) -> Name {
        Name(self.0.into())
    }
}

impl<'a> From<&'a Name> for NameRef<'a> {
    fn from(name: &'a Name) -> Self {
        Self(&name.0)
    }
}
