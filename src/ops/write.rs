//! Key-value writes and checks that ride on another command, all or nothing.

use crate::blob::Blob;
use crate::error::{Error, FailedCheck};
use crate::guard;
use crate::id::Version;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::txn::Txn;

/// One of `put`, `del` and `check`.
#[derive(Clone, Debug)]
pub enum Write<'a> {
    Put {
        key: NameRef<'a>,
        value: Blob,
    },
    Delete {
        key: NameRef<'a>,
    },
    /// The key must have this version before the command; `None`: it must not exist.
    Check {
        key: NameRef<'a>,
        version: Option<Version>,
    },
}

/// What a command does with a blob that is too large: nothing, and says so.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`.
pub fn require_size(argument: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    match size <= limit {
        true => Ok(()),
        false => Err(Error::PayloadTooLarge { argument, size, limit }),
    }
}

/// Sizes and rights of all writes, before anything is staged.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`.
pub fn require_allowed(txn: &Txn<'_>, writes: &[Write<'_>]) -> Result<(), Error> {
    for write in writes {
        match write {
            Write::Put { key, value } => {
                require_size("value", value.len(), txn.payload_bytes_max)?;
                txn.require(Right::Write, Realm::Kv, *key)?;
            }
            Write::Delete { key } => txn.require(Right::Write, Realm::Kv, *key)?,
            Write::Check { key, .. } => txn.require(Right::Read, Realm::Kv, *key)?,
        }
    }
    Ok(())
}

/// The first check that does not hold. Checks see the state before the command, in any place of the
/// list.
pub fn require_checks(txn: &Txn<'_>, writes: &[Write<'_>]) -> Result<(), FailedCheck> {
    for write in writes {
        if let Write::Check { key, version } = write {
            guard::check(txn, *key, *version)?;
        }
    }
    Ok(())
}

/// Stages the writes, in order. Their checks have been made.
pub fn apply(txn: &mut Txn<'_>, writes: Vec<Write<'_>>) {
    for write in writes {
        match write {
            Write::Put { key, value } => txn.put_value(key.to_name(), value),
            Write::Delete { key } => {
                txn.delete_value(key.to_name());
            }
            Write::Check { .. } => {}
        }
    }
}
