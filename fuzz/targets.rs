//! Bytes that nobody vouches for: entries, snapshots, and requests over the border.
//!
//! The same three functions run under libFuzzer (`npm run fuzz`) and, a few thousand times, in
//! `tests/fuzz.rs`. Each takes any bytes and must neither panic nor leave a state that contradicts
//! itself: what is wrong is refused, and what is taken can be worked with.
//!
//! Seeds are real runs of the package: the calls that its engine got, recorded by `record.mjs`.
//! Played again they give the entries and the snapshots, too.

use fencepost::engine::{Engine, Options};
use fencepost::error::Code;
use fencepost::id::Instant;
use fencepost::limits::{PAYLOAD_BYTES_DEFAULT, STORE_BYTES_MAX};
use fencepost::name::NameRef;
use fencepost::ops::ClaimRequest;
use fencepost::wasm::{Core, Operation};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_128;

/// What stands before a body: `src/codec/envelope.rs`.
const ENVELOPE_BYTES: usize = 48;
const HASH_BYTES: usize = 16;
const DAY_MS: u64 = 86_400_000;

/// A log, and the snapshot at its end.
pub struct Log {
    entries: Vec<Vec<u8>>,
    snapshot: Vec<u8>,
}

/// Which log and which of its entries, one byte each; then a body in the place of its own.
pub fn entries(data: &[u8]) {
    let [log, slot, body @ ..] = data else { return };
    let log = &logs()[usize::from(*log) % logs().len()];
    let slot = usize::from(*slot) % log.entries.len();
    let mut engine = engine();
    for entry in &log.entries[..slot] {
        engine.merge(entry).expect("the log was written by an engine");
    }
    let before = engine.rows_hash();
    match engine.merge(&sealed(&log.entries[slot], body)) {
        Ok(()) => work_with(engine),
        Err(error) => {
            assert_eq!(error.code(), Code::JournalCorrupt, "{error}");
            assert_eq!(engine.rows_hash(), before, "what is refused changes nothing");
        }
    }
}

/// Which log, one byte; then a body in the place of its snapshot's.
pub fn snapshots(data: &[u8]) {
    let [log, body @ ..] = data else { return };
    let log = &logs()[usize::from(*log) % logs().len()];
    let bytes = sealed(&log.snapshot, body);
    let mut restored = engine();
    match restored.restore(&bytes) {
        Ok(()) => {
            let mut founder = engine();
            founder.found_restoring(Instant::saturating(0)).expect("an empty log");
            let entry = founder.seal().expect("nothing is sealed").expect("it was founded").bytes;
            let mut founded = engine();
            founded.restore(&bytes).expect("as before");
            founded.adopt(&entry).expect("it founds a log on a snapshot");
            work_with(founded);
            work_with(restored);
        }
        Err(error) => assert_eq!(error.code(), Code::JournalCorrupt, "{error}"),
    }
}

/// The time of the first call, 8 bytes; then calls, each with an operation, a caller, the
/// milliseconds since the call before (two bytes), the size of its request (two bytes), and that.
pub fn requests(data: &[u8]) {
    play(data, |_, _, _| ());
}

/// Calls one engine as the bytes say. `look` is shown every call and whether it was answered.
fn play(data: &[u8], mut look: impl FnMut(&Core, u8, bool)) {
    let Some((first, mut rest)) = data.split_first_chunk() else { return };
    let mut now = f64::from_le_bytes(*first);
    let mut core = new_core();
    let mut protocol = Protocol::default();
    while let Some(([operation, caller, low, high, size @ ..], after)) =
        rest.split_first_chunk::<6>()
    {
        let size = usize::from(u16::from_le_bytes(*size)).min(after.len());
        now += f64::from(u16::from_le_bytes([*low, *high]));
        rest = &after[size..];
        if !protocol.allows(*operation) {
            continue;
        }
        core.put_request(&after[..size]);
        let caller = protocol.caller(*caller);
        let answer = core.call(u32::from(*operation), size as u32, now, caller);
        assert_eq!(core.reply_bytes().len(), answer.unsigned_abs() as usize, "the size is told");
        protocol.note(*operation, answer >= 0);
        look(&core, *operation, answer >= 0);
    }
}

/// What the host owes the engine, whatever its user asks for: it counts its callers, and ends a
/// transaction before it begins another one or takes an entry. The engine asserts that.
#[derive(Default)]
struct Protocol {
    callers: u32,
    is_in_transaction: bool,
}

impl Protocol {
    const BEGIN: u8 = Operation::TxBegin as u8;
    const COMMIT: u8 = Operation::TxCommit as u8;
    const TAKE: u8 = Operation::TakeEntry as u8;

    fn allows(&self, operation: u8) -> bool {
        match operation {
            Self::BEGIN | Self::TAKE => !self.is_in_transaction,
            Self::COMMIT => self.is_in_transaction,
            _ => true,
        }
    }

    fn caller(&self, number: u8) -> u32 {
        u32::from(number) % (self.callers + 1)
    }

    fn note(&mut self, operation: u8, is_answered: bool) {
        const ADD: u8 = Operation::AddCaller as u8;
        const REMOVE: u8 = Operation::RemoveCaller as u8;
        const START: u8 = Operation::Start as u8;
        const ENDS: [u8; 6] = [
            Protocol::COMMIT,
            Operation::TxAbort as u8,
            Operation::Discard as u8,
            Operation::Merge as u8,
            Operation::MergeSealed as u8,
            Operation::RestoreEnd as u8,
        ];
        match operation {
            ADD if is_answered => self.callers += 1,
            // Which one it was is not known here, and all of them are there no more.
            REMOVE | START if is_answered => self.callers = 0,
            _ => {}
        }
        if operation == Self::BEGIN {
            self.is_in_transaction = is_answered;
        } else if operation == Self::COMMIT
            || is_answered && (operation == START || ENDS.contains(&operation))
        {
            self.is_in_transaction = false;
        }
    }
}

/// The trap: a new core takes the words of every panic for itself.
fn new_core() -> Core {
    let hook = std::panic::take_hook();
    let core = Core::new();
    std::panic::set_hook(hook);
    core
}

fn engine() -> Engine {
    let store = NameRef::shared("store", "fuzz").expect("a good name").to_name();
    Engine::new(Options {
        store,
        seed: 1,
        replica: 9,
        payload_bytes_max: PAYLOAD_BYTES_DEFAULT,
        store_bytes_max: STORE_BYTES_MAX,
    })
}

/// Another body in the same envelope, with the checksum that fits.
fn sealed(bytes: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = [&bytes[..ENVELOPE_BYTES], body].concat();
    // A part of a snapshot says first how long it is.
    if bytes[4] == b'S' && body.len() >= 8 {
        let length = (body.len() - 8) as u64;
        bytes[ENVELOPE_BYTES..][..8].copy_from_slice(&length.to_le_bytes());
    }
    bytes.extend_from_slice(&xxh3_128(&bytes).to_le_bytes());
    bytes
}

fn body_of(bytes: &[u8]) -> &[u8] {
    &bytes[ENVELOPE_BYTES..bytes.len() - HASH_BYTES]
}

/// A state that was taken holds together, is written and read as the same, and serves.
fn work_with(mut engine: Engine) {
    require_sound(&engine);
    let snapshot = engine.snapshot().bytes;
    let mut copy = self::engine();
    copy.restore(&snapshot).expect("what was written can be read");
    assert_eq!(copy.rows_hash(), engine.rows_hash(), "the copy has the same rows");
    for days in [0, 1, 400] {
        let now = Instant::saturating(engine.state().head.time.get() + days * DAY_MS);
        serve(&mut engine, now);
        require_sound(&engine);
    }
}

fn require_sound(engine: &Engine) {
    let report = engine.verify();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

/// Everything that time may make due, and a claim of every queue.
fn serve(engine: &mut Engine, now: Instant) {
    // What does not fit any more, such as a number at its end, is refused: no harm.
    let _ = engine.fire_due(now);
    let _ = engine.maintain(now);
    let queues: Vec<_> = engine.state().queues.iter().map(|queue| queue.name.clone()).collect();
    let owner = NameRef::owner("w").expect("a good name");
    for name in &queues {
        let queue = NameRef::from(name);
        let _ = engine.claim(now, ClaimRequest { queue, owner, max: 3, lease: None });
    }
    if engine.seal().is_ok_and(|sealed| sealed.is_some()) {
        engine.merge_sealed().expect("an entry is sealed");
    }
    engine.discard();
}

/// The logs that the recorded runs wrote.
fn logs() -> &'static [Log] {
    static LOGS: OnceLock<Vec<Log>> = OnceLock::new();
    LOGS.get_or_init(|| {
        let logs: Vec<_> = recordings().iter().map(|calls| log_of(calls)).collect();
        assert!(logs.iter().all(|log| log.entries.len() > 3), "{RECORD_AGAIN}");
        logs
    })
}

pub const RECORD_AGAIN: &str =
    "the recorded requests are not those of this engine: `npm run fuzz -- --record`";

fn log_of(calls: &[u8]) -> Log {
    let mut sealed = Vec::new();
    let mut entries = Vec::new();
    play(calls, |core, operation, is_answered| {
        if operation == Operation::TakeEntry as u8 && is_answered {
            sealed = core.bytes_beside().to_vec();
        } else if operation == Operation::MergeSealed as u8 && is_answered {
            entries.push(std::mem::take(&mut sealed));
        }
    });
    let mut engine = engine();
    // A run that began with an older log, or ended one, gives what was before.
    entries.retain(|entry| engine.merge(entry).is_ok());
    Log { snapshot: engine.snapshot().bytes, entries }
}

/// Each of the recorded runs.
pub fn recordings() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = if folder.ends_with("fuzz") { folder.to_owned() } else { folder.join("fuzz") };
    files_in(&folder.join("corpus/requests"))
}

/// The files of a folder, in the order of their names.
pub fn files_in(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = files.map(|file| file.expect("it is listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("it is a file")).collect()
}

/// How many of the calls were answered, in thousandths.
pub fn share_answered(calls: &[u8]) -> usize {
    let (mut all, mut answered) = (0, 0);
    play(calls, |_, _, is_answered| {
        all += 1;
        answered += usize::from(is_answered);
    });
    answered * 1_000 / all.max(1)
}

pub fn entry_seeds() -> Vec<Vec<u8>> {
    let numbered = logs().iter().enumerate();
    numbered
        .flat_map(|(log, Log { entries, .. })| {
            let seed = move |(slot, entry): (usize, &Vec<u8>)| {
                [&[log as u8, slot as u8], body_of(entry)].concat()
            };
            entries.iter().take(256).enumerate().map(seed)
        })
        .collect()
}

pub fn snapshot_seeds() -> Vec<Vec<u8>> {
    let numbered = logs().iter().enumerate();
    numbered.map(|(log, one)| [&[log as u8], body_of(&one.snapshot)].concat()).collect()
}
