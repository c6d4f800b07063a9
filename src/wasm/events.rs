//! Events of what is merged.

use super::{Core, records};
use crate::engine::CallerId;
use crate::id::Version;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    /// Records the events of commands after a version, from here on.
    #[wasm_bindgen(js_name = recordEvents)]
    pub fn record_events(&mut self, told: f64) {
        self.engine.record_events(Version::saturating(told as u64));
    }

    #[wasm_bindgen(js_name = stopRecording)]
    pub fn stop_recording(&mut self) {
        self.engine.stop_recording();
    }

    /// What was recorded, as far as the caller may inspect it.
    pub fn events(&mut self, caller: u32) -> i32 {
        self.reply.clear();
        for event in self.engine.events(caller.checked_sub(1).map(CallerId)) {
            records::event(&mut self.reply, event);
        }
        self.reply.bytes().len() as i32
    }

    #[wasm_bindgen(js_name = forgetEvents)]
    pub fn forget_events(&mut self) {
        self.engine.forget_events();
    }
}
