//! What the tests share. A test file uses a part of it.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

pub mod answer;
pub mod command;
pub mod domain;
pub mod engine_picture;
pub mod event_words;
pub mod history;
pub mod lease_commands;
pub mod log;
pub mod model;
pub mod on_engine;
pub mod operation;
pub mod read_commands;
pub mod rows;
pub mod run;
pub mod schedule_commands;
pub mod script;
pub mod task_commands;
pub mod words;

use fencepost::change::Entry;
use fencepost::codec::EntryWriter;
use fencepost::engine::{Engine, Options};
use fencepost::id::Instant;
use fencepost::limits::{PAYLOAD_BYTES_DEFAULT, STORE_BYTES_MAX};
use fencepost::name::NameRef;

/// `0ms` in scripts.
pub const START: Instant = Instant::saturating(1_700_000_000_000);

/// An empty replica.
pub fn engine(replica: u64) -> Engine {
    Engine::new(options(replica))
}

pub fn options(replica: u64) -> Options {
    Options {
        store: NameRef::shared("store", "tests").expect("a good name").to_name(),
        seed: 0x5eed + replica,
        replica,
        payload_bytes_max: PAYLOAD_BYTES_DEFAULT,
        store_bytes_max: STORE_BYTES_MAX,
    }
}

/// So many milliseconds after the start.
pub fn at(milliseconds: u64) -> Instant {
    Instant::saturating(START.get() + milliseconds)
}

/// Stores and merges what is staged; the bytes of its entry.
pub fn commit(engine: &mut Engine) -> Vec<u8> {
    let sealed = engine.seal().expect("nothing is sealed").expect("something is staged");
    engine.merge_sealed().expect("an entry is sealed");
    sealed.bytes
}

/// All is well with the indexes.
pub fn assert_verified(engine: &Engine) {
    assert_eq!(engine.verify().problems, Vec::<String>::new());
}

/// The bytes of an entry that no engine decided.
pub fn seal(entry: &Entry) -> Vec<u8> {
    let mut writer = EntryWriter::default();
    entry.body.changes.iter().for_each(|change| writer.append(change));
    writer.finish(entry).bytes
}
