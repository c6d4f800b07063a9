//! Writes the seeds of every target into a folder, as libFuzzer takes them.

#[allow(dead_code, reason = "the targets themselves are not run here")]
mod targets;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).expect("a folder to write to"));
    let all = [
        ("entries", targets::entry_seeds()),
        ("snapshots", targets::snapshot_seeds()),
        ("requests", targets::recordings()),
    ];
    for (name, seeds) in all {
        fs::create_dir_all(folder.join(name))?;
        for (position, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(name).join(format!("seed-{position:03}")), seed)?;
        }
    }
    Ok(())
}
