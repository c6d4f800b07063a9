//! What entries and snapshots have around them.

use crate::change::{Hash, LogId};
use crate::error::Error;
use crate::id::Slot;
use xxhash_rust::xxh3::xxh3_128;

/// The newest format this build reads.
pub const FORMAT: u8 = 2;
/// Entries, and snapshots in one piece.
pub const FORMAT_FIRST: u8 = 1;
/// Snapshots in parts, and the entry that founds a log on one.
pub const FORMAT_PARTS: u8 = 2;
const MAGIC: &[u8; 4] = b"FNCP";
pub const HASH_BYTES: usize = 16;
pub const HEAD_BYTES: usize = 8 + 16 + 8 + 16;

/// What the bytes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Entry = b'E' as isize,
    Snapshot = b'S' as isize,
}

/// The fields before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub log_id: LogId,
    pub slot: Slot,
    /// Of an entry: the hash of the one before. Of a snapshot: the hash of the entry at its slot.
    pub previous: Hash,
}

/// Finished bytes with their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub bytes: Vec<u8>,
    pub hash: Hash,
}

impl Content {
    fn noun(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Snapshot => "snapshot",
        }
    }
}

/// Starts the bytes; the body is to be appended.
///
/// `format` is what they are written in, and the oldest that a build must know to read them.
pub fn begin(content: Content, format: u8, envelope: Envelope, body_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body_bytes + HASH_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[content as u8, format, format, 0]);
    bytes.extend_from_slice(&envelope.log_id);
    bytes.extend_from_slice(&envelope.slot.get().to_le_bytes());
    bytes.extend_from_slice(&envelope.previous);
    bytes
}

pub fn hash(bytes: &[u8]) -> Hash {
    xxh3_128(bytes).to_le_bytes()
}

pub fn seal(mut bytes: Vec<u8>) -> Sealed {
    let hash = hash(&bytes);
    bytes.extend_from_slice(&hash);
    Sealed { bytes, hash }
}

/// Checks format and checksum, and gives the fields, the body and the hash.
///
/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn open(content: Content, bytes: &[u8]) -> Result<(Envelope, &[u8], Hash), Error> {
    let corrupt = |problem: &str| Error::corrupt(format!("{} {problem}", content.noun()));
    format_of(content, bytes)?.ok_or_else(|| corrupt("is too short"))?;
    let rest = &bytes[8..];
    let fields = || -> Option<(Envelope, &[u8], Hash)> {
        let (log_id, rest) = split(rest)?;
        let (slot, rest) = split(rest)?;
        let (previous, rest) = split(rest)?;
        let (body, hash) = rest.split_last_chunk::<HASH_BYTES>()?;
        let slot = Slot::try_from(u64::from_le_bytes(slot)).ok()?;
        Some((Envelope { log_id, slot, previous }, body, *hash))
    };
    let (envelope, body, hash) = fields().ok_or_else(|| corrupt("is too short"))?;
    let covered = &bytes[..bytes.len() - HASH_BYTES];
    if self::hash(covered) != hash {
        return Err(corrupt("does not match its checksum"));
    }
    Ok((envelope, body, hash))
}

/// The format that the bytes are in; `None` when there are too few to tell.
///
/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn format_of(content: Content, bytes: &[u8]) -> Result<Option<u8>, Error> {
    let corrupt = |problem: &str| Error::corrupt(format!("{} {problem}", content.noun()));
    let Some((magic, rest)) = split(bytes) else { return Ok(None) };
    if magic != *MAGIC {
        return Err(corrupt("does not begin as one"));
    }
    let Some(([kind, format, reader_min, _], _)) = split(rest) else { return Ok(None) };
    if reader_min > FORMAT {
        return Err(Error::FormatTooNew { format, supported: FORMAT });
    }
    if kind != content as u8 {
        return Err(corrupt("is something else"));
    }
    Ok(Some(format))
}

fn split<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
    bytes.split_first_chunk::<N>().map(|(head, rest)| (*head, rest))
}
