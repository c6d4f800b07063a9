//! The format, byte by byte: what one build writes, every other one reads.
//!
//! The digits in `format.txt` were taken once and stay: where one differs, there are journals that
//! cannot be read any more. A new change gets digits of its own.

mod support;

use fencepost::accept::hex;
use fencepost::change::Change;
use fencepost::codec::decode_entry;
use support::rows::{entry_of, every_change, founded, newer_changes};
use support::{engine, seal};

const ENVELOPE_BYTES: usize = 48;
const HASH_BYTES: usize = 16;
/// Commit, time and counters, and the change as the only one of a command.
const BODY_BEGINS: &str = "ffffffffffffffffff01800180d095ffbc31ac02ffffffffffffff0f010101";
/// What follows on the digits of the changes.
const OTHERS: usize = 4;

/// What is known of the format, in the order of the file.
fn known() -> Vec<String> {
    let pieces = include_str!("format.txt").split("\n\n");
    pieces.map(|piece| piece.lines().skip(1).collect()).collect()
}

#[test]
fn every_change_is_written_as_ever_and_reads_back() {
    let known = known();
    let changes: Vec<Change> = every_change().into_iter().chain(newer_changes()).collect();
    assert_eq!(changes.len(), known.len() - OTHERS);
    for (change, known) in changes.into_iter().zip(known) {
        let entry = entry_of(vec![change]);
        let bytes = seal(&entry);
        let body = hex(&bytes[ENVELOPE_BYTES..bytes.len() - HASH_BYTES]);
        assert_eq!(body, format!("{BODY_BEGINS}{known}"), "{:?}", entry.body.changes);
        assert_eq!(decode_entry(&bytes).unwrap().0, entry);
    }
}

/// As the words of the format have it: seven bits after seven bits.
fn groups(mut number: u64) -> Vec<u8> {
    let mut groups = Vec::new();
    while number >= 0x80 {
        groups.push(number as u8 | 0x80);
        number >>= 7;
    }
    groups.push(number as u8);
    groups
}

#[test]
fn a_number_of_any_length_is_written_in_groups_of_seven_bits_and_reads_back() {
    let bits = (0..u64::BITS).map(|bit| 1 << bit);
    let patterns = [0, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    for pattern in bits.chain(patterns) {
        for number in (0..u64::BITS).map(|shift| pattern >> shift).chain([pattern.wrapping_sub(1)])
        {
            let mut entry = entry_of(vec![Change::ClockRepaired]);
            entry.body.commit.replica = number;
            let bytes = seal(&entry);
            let expected = groups(number);
            assert_eq!(bytes[ENVELOPE_BYTES..][..expected.len()], expected, "{number}");
            assert_eq!(decode_entry(&bytes).unwrap().0, entry);
        }
    }
}

#[test]
fn a_snapshot_in_one_piece_as_the_first_format_has_it_is_read() {
    let known = known();
    let old = &known[known.len() - OTHERS + 1];
    let digits = |at: usize| u8::from_str_radix(&old[2 * at..][..2], 16).unwrap();
    let bytes: Vec<u8> = (0..old.len() / 2).map(digits).collect();
    let mut replica = engine(1);
    replica.merge(&seal(&entry_of(vec![founded()]))).unwrap();
    let mut restored = engine(2);
    restored.restore(&bytes).unwrap();
    assert_eq!(restored.state().rows(), replica.state().rows());
    assert_eq!(restored.snapshot(), replica.snapshot());
}

#[test]
fn an_entry_and_a_snapshot_are_written_as_ever_and_read_back() {
    let known = known();
    let [entry_hash, _, snapshot, rows_hash] = &known[known.len() - OTHERS..] else {
        panic!("four pieces follow on the changes")
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
    let mut restored = engine(2);
    restored.restore(&sealed.bytes).unwrap();
    assert_eq!(restored.state().rows(), replica.state().rows());
    assert_eq!(restored.snapshot(), sealed);
}
