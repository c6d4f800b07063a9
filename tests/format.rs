//! The format, byte by byte: what one build writes, every other one reads.
//!
//! The digits in `format.txt` were taken once and stay: where one differs, there are journals that
//! cannot be read any more. A new change gets digits of its own.

mod support;

use fencepost::accept::hex;
use fencepost::codec::{decode_entry, decode_snapshot};
use support::rows::{entry_of, every_change, founded};
use support::{engine, seal};

const ENVELOPE_BYTES: usize = 48;
const HASH_BYTES: usize = 16;
/// Commit, time and counters, and the change as the only one of a command.
const BODY_BEGINS: &str = "ffffffffffffffffff01800180d095ffbc31ac02ffffffffffffff0f010101";
/// What follows on the digits of the changes.
const OTHERS: usize = 3;

/// What is known of the format, in the order of the file.
fn known() -> Vec<String> {
    let pieces = include_str!("format.txt").split("\n\n");
    pieces.map(|piece| piece.lines().skip(1).collect()).collect()
}

#[test]
fn every_change_is_written_as_ever_and_reads_back() {
    let (known, changes) = (known(), every_change());
    assert_eq!(changes.len(), known.len() - OTHERS);
    for (change, known) in changes.into_iter().zip(known) {
        let entry = entry_of(vec![change]);
        let bytes = seal(&entry);
        let body = hex(&bytes[ENVELOPE_BYTES..bytes.len() - HASH_BYTES]);
        assert_eq!(body, format!("{BODY_BEGINS}{known}"), "{:?}", entry.body.changes);
        assert_eq!(decode_entry(&bytes).unwrap().0, entry);
    }
}

#[test]
fn an_entry_and_a_snapshot_are_written_as_ever_and_read_back() {
    let known = known();
    let [entry_hash, snapshot, rows_hash] = &known[known.len() - OTHERS..] else {
        panic!("three pieces follow on the changes")
    };
    let entry = entry_of(every_change());
    let bytes = seal(&entry);
    let (read, hash) = decode_entry(&bytes).unwrap();
    assert_eq!((&hex(&hash), read), (entry_hash, entry));
    let mut replica = engine(1);
    replica.merge(&seal(&entry_of(vec![founded()]))).unwrap();
    let sealed = replica.snapshot();
    assert_eq!(&hex(&sealed.bytes), snapshot);
    assert_eq!(&hex(&replica.rows_hash()), rows_hash);
    let (read, _) = decode_snapshot(&sealed.bytes).unwrap();
    assert_eq!(read.rows, replica.state().rows());
    let mut restored = engine(2);
    restored.restore(&sealed.bytes).unwrap();
    assert_eq!(restored.snapshot(), sealed);
}
