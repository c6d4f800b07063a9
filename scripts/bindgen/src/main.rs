//! Writes the JavaScript side of the compiled engine: `bindgen ENGINE.wasm OUT_DIR`.
//!
//! The generator runs as a library, so the version in `Cargo.lock` is the version used. There is
//! one output, for the web: it has no idea where its `.wasm` lies; the package's entries hand it
//! over.

use std::error::Error;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, out_dir] = arguments.as_slice() else {
        return Err("expected two arguments: ENGINE.wasm OUT_DIR".into());
    };
    Bindgen::new()
        .input_path(engine)
        .out_name("fencepost")
        .web(true)?
        .omit_default_module_path(true)
        .typescript(true)
        // Names of functions are for debuggers. They are dropped here and not by `strip`, which
        // drops the list of target features as well, and the generator reads that.
        .remove_name_section(true)
        .generate(out_dir)?;
    Ok(())
}
