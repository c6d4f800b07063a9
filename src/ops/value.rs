//! Key-value rows by themselves.

use super::write::require_size;
use crate::blob::Blob;
use crate::error::Error;
use crate::id::Version;
use crate::limits::EFFECT_RECORD_BYTES;
use crate::name::{EFFECT_PREFIX, NameRef};
use crate::rights::{Realm, Right};
use crate::txn::Txn;

/// The version the value gets.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`.
pub fn put_value(txn: &mut Txn<'_>, key: NameRef<'_>, value: Blob) -> Result<Version, Error> {
    let record = if key.as_str().starts_with(EFFECT_PREFIX) { EFFECT_RECORD_BYTES } else { 0 };
    require_size("value", value.len(), txn.payload_bytes_max + record)?;
    txn.require(Right::Write, Realm::Kv, key)?;
    txn.put_value(key.to_name(), value);
    Ok(txn.own_version())
}

/// Whether there was one.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn delete_value(txn: &mut Txn<'_>, key: NameRef<'_>) -> Result<bool, Error> {
    txn.require(Right::Write, Realm::Kv, key)?;
    Ok(txn.delete_value(key.to_name()))
}
