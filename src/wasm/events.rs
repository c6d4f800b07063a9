//! Events of what is merged.

use super::{Core, When, reader, records};
use crate::id::Version;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    /// Records the events of commands after a version, from here on.
    #[wasm_bindgen(js_name = recordEvents)]
    pub fn record_events(&mut self, told: f64) -> i32 {
        self.command(
            0,
            When::ROOT,
            |engine, _, _| {
                engine.record_events(Version::saturating(reader::whole("version", told)?));
                Ok(())
            },
            |_, ()| {},
        )
    }

    #[wasm_bindgen(js_name = stopRecording)]
    pub fn stop_recording(&mut self) {
        self.engine.stop_recording();
    }

    /// What was recorded, as far as the caller may inspect it.
    pub fn events(&mut self, caller: u32) -> i32 {
        self.command(
            0,
            When { caller, ..When::ROOT },
            |engine, _, at| Ok(engine.events(at.caller).cloned().collect::<Vec<_>>()),
            |reply, events| events.iter().for_each(|event| records::event(reply, event)),
        )
    }

    #[wasm_bindgen(js_name = forgetEvents)]
    pub fn forget_events(&mut self) {
        self.engine.forget_events();
    }
}
