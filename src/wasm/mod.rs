//! What crosses to JavaScript: decode, call, encode. No decision is made here.
//!
//! A request is packed into the scratch region; [`Core::call`] runs the operation with a number and
//! packs its reply, or why there is none, into the reply region. That is all that crosses: no
//! object, no text and no array of JavaScript's is ever made or read in here.
//!
//! ```text
//!  pack ──> scratch ──call(number, size, now, caller)──> reply ──> read
//!                          └ operations.rs                └ its size; negative: refused or failed
//! ```
//!
//! **Invariant:** nothing of the user's is called from inside. After a trap the instance must not
//! be called again; the package drops it and builds a new one from the journal.
//!
//! **Cost:** an exported method weighs a hundred bytes on each side of the border, a row in the
//! table of operations a number.

mod answer;
mod call;
mod crash;
mod events;
mod inspect;
mod lease;
mod log;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod memory;
mod operations;
mod queue;
mod reader;
mod records;
mod requests;
mod schedule;
mod transaction;
mod value;
mod writer;

use crate::engine::{CallerId, Context, Engine, Options};
use crate::id::Instant;
use crate::limits::{PAYLOAD_BYTES_DEFAULT, STORE_BYTES_MAX};
use crate::name::NameRef;
use call::Call;
pub use operations::Operation;
use reader::Request;
use wasm_bindgen::prelude::*;
use writer::Writer;

/// An engine and the two regions of its border.
#[wasm_bindgen]
pub struct Core {
    engine: Engine,
    scratch: Vec<u8>,
    reply: Writer,
}

#[wasm_bindgen]
impl Core {
    /// The first call is [`Operation::Start`], which says whose engine this is.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        crash::report_panics();
        // The trap: what is expected of a `Result` brings the words for debugging of its error.
        let Ok(store) = NameRef::shared("store", "engine") else { panic!("a plain name") };
        let store = store.to_name();
        let (payload_bytes_max, store_bytes_max) = (PAYLOAD_BYTES_DEFAULT, STORE_BYTES_MAX);
        let options = Options { store, seed: 0, replica: 0, payload_bytes_max, store_bytes_max };
        let engine = Engine::new(options);
        Self { engine, scratch: Vec::new(), reply: Writer::default() }
    }

    /// Where the words of a panic will lie, behind their size: 4 bytes, 0 before there was one.
    #[wasm_bindgen(js_name = crashAt)]
    pub fn crash_at() -> u32 {
        crash::report_at()
    }

    /// Gives the scratch region a size and tells where it is. Views of the memory die when it
    /// grows.
    #[wasm_bindgen(js_name = scratchAt)]
    pub fn scratch_at(&mut self, bytes: u32) -> u32 {
        self.scratch.resize(bytes as usize, 0);
        self.scratch.shrink_to_fit();
        self.scratch.as_ptr() as usize as u32
    }

    #[wasm_bindgen(js_name = replyAt)]
    pub fn reply_at(&self) -> u32 {
        self.reply.bytes().as_ptr() as usize as u32
    }

    /// Runs an operation on the first `request` bytes of the scratch region. Answers how many bytes
    /// the reply has; as a negative number when it is an error or a refusal.
    ///
    /// `now` are milliseconds since the Unix epoch; caller 0 is the root.
    pub fn call(&mut self, operation: u32, request: u32, now: f64, caller: u32) -> i32 {
        self.reply.clear();
        let request = &self.scratch[..self.scratch.len().min(request as usize)];
        let answer = operations::number(operation).and_then(|run| {
            let now = Instant::saturating(reader::whole("now", now)?);
            run(&mut Call {
                engine: &mut self.engine,
                request: Request::new(request),
                at: Context { now, caller: caller.checked_sub(1).map(CallerId) },
                reply: &mut self.reply,
            })
        });
        match answer {
            Ok(Ok(())) => self.reply.size(),
            Ok(Err(refusal)) => answer::refusal(&mut self.reply, &refusal),
            Err(fault) => answer::fault(&mut self.reply, fault),
        }
    }
}

impl Default for Core {
    fn default() -> Self {
        Self::new()
    }
}

/// The regions, for a host in Rust.
impl Core {
    /// Writes a request into the scratch region.
    pub fn put_request(&mut self, request: &[u8]) {
        self.scratch.clear();
        self.scratch.extend_from_slice(request);
    }

    pub fn reply_bytes(&self) -> &[u8] {
        self.reply.bytes()
    }

    /// The bytes that the reply has said the place of.
    pub fn bytes_beside(&self) -> &[u8] {
        self.reply.bytes_beside()
    }
}
