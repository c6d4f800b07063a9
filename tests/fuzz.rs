//! The fuzz targets of `fuzz/`, some thousand times each, with the ordinary compiler: recorded
//! runs and seeded changes of them. `npm run fuzz` looks longer, and with libFuzzer where it can.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// How often each target runs, unless `FENCEPOST_FUZZ_RUNS` says otherwise.
const RUNS: usize = 10_000;
const BYTES_MAX: usize = 8 << 10;
const INTERESTING: [u8; 10] = [0, 1, 2, 0x10, 0x7f, 0x80, 0x81, 0xef, 0xfe, 0xff];

/// SplitMix64: the same changes again for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }

    /// One to eight small changes.
    fn change(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(7) {
                _ if bytes.is_empty() => bytes.push(self.below(256) as u8),
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = INTERESTING[self.below(INTERESTING.len())],
                2 => bytes.insert(at, self.below(256) as u8),
                3 => drop(bytes.drain(at..end)),
                4 => {
                    let piece = bytes[at..end].to_vec();
                    drop(bytes.splice(at..at, piece));
                }
                5 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len());
                    let to = (from + self.below(64)).min(other.len());
                    drop(bytes.splice(at..end, other[from..to].iter().copied()));
                }
                _ => {
                    let number = self.below(usize::MAX) as u64 >> self.below(64);
                    drop(bytes.splice(at..end, number.to_le_bytes()));
                }
            }
        }
        bytes.truncate(BYTES_MAX);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// All seeds, what was found before, and changes of both.
fn run(name: &str, mut seeds: Vec<Vec<u8>>, target: fn(&[u8])) {
    assert!(!seeds.is_empty(), "{}", targets::RECORD_AGAIN);
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/found").join(name);
    seeds.extend(targets::files_in(&found));
    write_out(name, &seeds);
    let try_one = |bytes: &[u8], what: &str| {
        if catch_unwind(|| target(bytes)).is_err() {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            panic!("{name}, {what}: {hex}");
        }
    };
    for (position, seed) in seeds.iter().enumerate() {
        try_one(seed, &format!("the {position}. of its seeds"));
    }
    let seed = number("FENCEPOST_FUZZ_SEED").unwrap_or(1);
    println!("{name}: FENCEPOST_FUZZ_SEED={seed}");
    let mut draw = Draw(seed);
    let runs = number("FENCEPOST_FUZZ_RUNS").map_or(RUNS, |runs| runs as usize);
    for turn in 0..runs {
        let mut bytes = seeds[draw.below(seeds.len())].clone();
        draw.change(&mut bytes, &seeds);
        try_one(&bytes, &format!("FENCEPOST_FUZZ_SEED={seed}, run {turn}"));
    }
}

/// For libFuzzer, which takes a folder of seeds.
fn write_out(name: &str, seeds: &[Vec<u8>]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(name);
    fs::create_dir_all(&folder).expect("a folder can be made");
    for (position, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{position:03}")), seed).expect("there is room");
    }
}

#[test]
fn the_recorded_requests_are_those_of_this_engine() {
    for calls in targets::recordings() {
        assert!(targets::share_answered(&calls) > 800, "{}", targets::RECORD_AGAIN);
    }
}

#[test]
fn any_entry_is_merged_or_refused() {
    run("entries", targets::entry_seeds(), targets::entries);
}

#[test]
fn any_snapshot_is_restored_or_refused() {
    run("snapshots", targets::snapshot_seeds(), targets::snapshots);
}

#[test]
fn any_request_is_answered_or_refused() {
    run("requests", targets::recordings(), targets::requests);
}
