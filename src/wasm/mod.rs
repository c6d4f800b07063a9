//! What crosses to JavaScript: decode, call, encode. No decision is made here.
//!
//! A request is packed into the scratch region, one call runs it, its reply is packed into the
//! reply region: no object trees on the way of enqueue, claim, complete, fail and heartbeat. A call
//! answers how many bytes the reply has, or [`REFUSED`] or [`FAILED`]; [`Core::take_answer`] then
//! gives the object that says why. Objects are for refusals, errors and inspection.
//!
//! **Invariant:** nothing of the user's is called from inside. After a trap the instance must not
//! be called again; the package drops it and builds a new one from the journal.

mod answer;
mod crash;
mod events;
mod inspect;
mod lease;
mod log;
mod queue;
mod reader;
mod records;
mod requests;
mod schedule;
mod transaction;
mod value;
mod writer;

use crate::engine::{CallerId, Context, Engine, Options};
use crate::error::{Error, Outcome};
use crate::id::Instant;
use crate::limits::COMMAND_BYTES_MAX;
use crate::name::NameRef;
use reader::Reader;
use wasm_bindgen::prelude::*;
use writer::Writer;

/// Smaller than the allocator of the standard library.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// The operation was refused.
const REFUSED: i32 = -1;
/// The operation failed.
const FAILED: i32 = -2;

/// An engine and the two regions of its border.
#[wasm_bindgen]
pub struct Core {
    engine: Engine,
    scratch: Vec<u8>,
    reply: Writer,
    answer: JsValue,
}

/// Who calls, and when, as numbers: caller 0 is the root.
#[derive(Clone, Copy)]
struct When {
    now: f64,
    caller: u32,
}

impl When {
    fn context(self) -> Result<Context, Error> {
        let now = Instant::saturating(reader::whole("now", self.now)?);
        Ok(Context { now, caller: self.caller.checked_sub(1).map(CallerId) })
    }
}

#[wasm_bindgen]
impl Core {
    /// `seed` and `replica` are random when they are absent.
    #[wasm_bindgen(constructor)]
    pub fn new(
        store: &str,
        seed: Option<u64>,
        replica: Option<f64>,
        payload_bytes_max: Option<f64>,
    ) -> Result<Core, JsValue> {
        let options = || {
            let store = NameRef::shared("store", store)?;
            let mut options = Options::random(store).map_err(|error| Error::InvalidArgument {
                argument: "seed",
                expected: "a source of random numbers",
                got: error.to_string(),
            })?;
            options.seed = seed.unwrap_or(options.seed);
            if let Some(replica) = replica {
                options.replica = reader::whole("replica", replica)?;
            }
            if let Some(bytes_max) = payload_bytes_max {
                let bytes_max = reader::whole("maxPayloadBytes", bytes_max)?;
                options.payload_bytes_max = bytes_max.min(COMMAND_BYTES_MAX as u64) as usize;
            }
            Ok(options)
        };
        let options = options().map_err(|error| answer::error(&error))?;
        Ok(Core {
            engine: Engine::new(options),
            scratch: Vec::new(),
            reply: Writer::default(),
            answer: JsValue::UNDEFINED,
        })
    }

    /// An object that gets a `message` when this engine panics.
    #[wasm_bindgen(js_name = crashReport)]
    pub fn crash_report() -> js_sys::Object {
        crash::report()
    }

    /// Makes room for a request and tells where. Views of the memory die when it grows.
    #[wasm_bindgen(js_name = scratchAt)]
    pub fn scratch_at(&mut self, bytes: u32) -> u32 {
        if self.scratch.len() < bytes as usize {
            self.scratch.resize(bytes as usize, 0);
        }
        self.scratch.as_ptr() as usize as u32
    }

    #[wasm_bindgen(js_name = replyAt)]
    pub fn reply_at(&self) -> u32 {
        self.reply.bytes().as_ptr() as usize as u32
    }

    /// The object that says why the last call was refused or failed.
    #[wasm_bindgen(js_name = takeAnswer)]
    pub fn take_answer(&mut self) -> JsValue {
        std::mem::replace(&mut self.answer, JsValue::UNDEFINED)
    }

    /// Throws unless the text is a name of the family.
    #[wasm_bindgen(js_name = checkName)]
    pub fn check_name(argument: &str, family: u8, text: &str) -> Result<(), JsValue> {
        let argument = match argument {
            "owner" => "owner",
            "key" => "key",
            "codec" => "codec",
            _ => "name",
        };
        reader::named(argument, family, text).map(|_| ()).map_err(|error| answer::error(&error))
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
}

type Answer = Result<Outcome<()>, Error>;

/// Decode, call, encode. As a `dyn Fn`, each would be compiled three times.
trait Step {
    fn run(
        &self,
        engine: &mut Engine,
        reader: &mut Reader<'_>,
        at: Context,
        reply: &mut Writer,
    ) -> Answer;
}

impl<F: Fn(&mut Engine, &mut Reader<'_>, Context, &mut Writer) -> Answer> Step for F {
    fn run(
        &self,
        engine: &mut Engine,
        reader: &mut Reader<'_>,
        at: Context,
        reply: &mut Writer,
    ) -> Answer {
        self(engine, reader, at, reply)
    }
}

impl Core {
    /// For operations that may be refused.
    fn refusable<T>(
        &mut self,
        request_bytes: u32,
        when: When,
        operation: impl Fn(&mut Engine, &mut Reader<'_>, Context) -> Result<Outcome<T>, Error>,
        encode: impl Fn(&mut Writer, T),
    ) -> i32 {
        self.step(
            request_bytes,
            when,
            &|engine: &mut Engine, reader: &mut Reader<'_>, at, reply: &mut Writer| {
                Ok(operation(engine, reader, at)?.map(|value| encode(reply, value)))
            },
        )
    }

    /// The same for operations that are never refused.
    fn command<T>(
        &mut self,
        request_bytes: u32,
        when: When,
        operation: impl Fn(&mut Engine, &mut Reader<'_>, Context) -> Result<T, Error>,
        encode: impl Fn(&mut Writer, T),
    ) -> i32 {
        self.step(
            request_bytes,
            when,
            &|engine: &mut Engine, reader: &mut Reader<'_>, at, reply: &mut Writer| {
                encode(reply, operation(engine, reader, at)?);
                Ok(Ok(()))
            },
        )
    }

    /// Compiled once, not into every call.
    fn step(&mut self, request_bytes: u32, when: When, step: &dyn Step) -> i32 {
        let request = &self.scratch[..self.scratch.len().min(request_bytes as usize)];
        let mut reader = Reader::new(request);
        self.reply.clear();
        let at = when.context();
        match at.and_then(|at| step.run(&mut self.engine, &mut reader, at, &mut self.reply)) {
            Ok(Ok(())) => self.reply.bytes().len() as i32,
            Ok(Err(refusal)) => {
                self.answer = answer::refusal(&refusal);
                REFUSED
            }
            Err(error) => {
                self.answer = answer::error(&error);
                FAILED
            }
        }
    }
}
