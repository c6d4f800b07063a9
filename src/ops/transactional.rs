//! Reads inside a transaction: they see what it wrote, with or without the right to read it.

use super::page::Page;
use super::read::from;
use crate::blob::Blob;
use crate::error::Error;
use crate::id::{TaskId, Version};
use crate::name::{Name, NameRef, RESERVED_PREFIX};
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

/// A value; the version of an own write is not known before it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub value: Blob,
    pub version: Option<Version>,
}

/// # Errors
/// `PERMISSION_DENIED`, unless the transaction made the task.
pub fn task(txn: &Txn<'_>, queue: NameRef<'_>, id: TaskId) -> Result<Option<Task>, Error> {
    let task = txn.task_of(queue, id);
    if task.is_none() || !txn.has_made(id) {
        txn.require(Right::Inspect, Realm::Queue, queue)?;
    }
    Ok(task.cloned())
}

/// # Errors
/// `PERMISSION_DENIED`, unless the transaction wrote the value.
pub fn value(txn: &Txn<'_>, key: NameRef<'_>) -> Result<Option<Found>, Error> {
    if !txn.has_written(key.as_str()) {
        txn.require(Right::Read, Realm::Kv, key)?;
    }
    Ok(txn.value(key.as_str()).map(|(value, version)| found(txn, value, version)))
}

/// In key order, after a key.
pub fn values(
    txn: &Txn<'_>,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Page<(Name, Found)> {
    let range = from(prefix, after);
    let merged = txn.state.values.range(range).map(|(key, _)| key);
    let merged = merged.take_while(|key| key.as_str().starts_with(prefix)).peekable();
    let fresh = txn.staged.values_of(range).map(|(key, _)| key);
    let fresh = fresh.take_while(|key| key.as_str().starts_with(prefix)).peekable();
    let seen = united(merged, fresh)
        .filter(|key| !key.as_str().starts_with(RESERVED_PREFIX))
        .filter_map(|key| Some((key.clone(), value(txn, key.into()).ok()??)));
    Page::of(seen, limit, |(_, found)| found.value.len())
}

fn found(txn: &Txn<'_>, value: &Blob, version: Version) -> Found {
    let version = (version != txn.own_version()).then_some(version);
    Found { value: value.clone(), version }
}

/// Both sorted sequences as one, without repetition.
fn united<'a>(
    mut one: std::iter::Peekable<impl Iterator<Item = &'a Name>>,
    mut other: std::iter::Peekable<impl Iterator<Item = &'a Name>>,
) -> impl Iterator<Item = &'a Name> {
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(left), Some(right)) if left == right => {
            other.next();
            one.next()
        }
        (Some(left), Some(right)) if right < left => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}
