//! The measured cycle: enqueue, claim, complete; 200 bytes of payload, a unique key, the bytes of
//! an entry made for each of the three. `bench/js` does the same from JavaScript.

use fencepost::blob::Blob;
use fencepost::engine::{Engine, Options};
use fencepost::id::Instant;
use fencepost::name::NameRef;
use fencepost::ops::{ClaimRef, ClaimRequest, Completion, Enqueue};

pub const START: u64 = 1_700_000_000_000;
const PAYLOAD: [u8; 200] = [b'x'; 200];

/// One engine and the names the cycle uses.
pub struct Bench {
    pub engine: Engine,
    serial: u64,
    entry_bytes: usize,
}

/// A checked queue name.
pub fn queue(name: &str) -> NameRef<'_> {
    NameRef::shared("queue", name).expect("a plain name")
}

impl Default for Bench {
    fn default() -> Self {
        let store = queue("bench").to_name();
        let (payload_bytes_max, store_bytes_max) = (1 << 20, u64::MAX);
        let options = Options { store, seed: 1, replica: 1, payload_bytes_max, store_bytes_max };
        Self { engine: Engine::new(options), serial: 0, entry_bytes: 0 }
    }
}

impl Bench {
    pub fn now(&self) -> Instant {
        Instant::saturating(START + self.serial)
    }

    /// Seals what was decided and merges it, as a host does once the entry is stored.
    pub fn commit(&mut self) {
        if let Some(sealed) = self.engine.seal().expect("nothing is sealed") {
            self.entry_bytes += sealed.bytes.len();
            self.engine.merge_sealed().expect("an entry is sealed");
        }
    }

    pub fn enqueue(&mut self, name: &str) {
        self.serial += 1;
        let key = format!("key-{}", self.serial);
        let mut request = Enqueue::new(queue(name), Blob::from(&PAYLOAD[..]));
        request.key = Some(NameRef::key(&key).expect("a plain key"));
        self.engine.enqueue(self.now(), request).expect("a right request");
    }

    pub fn claim(&mut self, name: &str) -> ClaimRef<'static> {
        let owner = NameRef::owner("worker").expect("a plain name");
        let request = ClaimRequest { queue: queue(name), owner, max: 1, lease: None };
        let tasks = self.engine.claim(self.now(), request).expect("a right request");
        let claim = tasks[0].claim().expect("it was just claimed");
        ClaimRef { queue: queue("work"), id: tasks[0].id, token: claim.token }
    }

    pub fn complete(&mut self, name: &str, claim: ClaimRef<'_>) {
        let claim = ClaimRef { queue: queue(name), ..claim };
        let (follow_ups, writes) = (Vec::new(), Vec::new());
        let request = Completion { claim, result: None, follow_ups, writes };
        self.engine.complete(self.now(), request).expect("a right request").expect("it holds");
    }

    /// Answers the bytes written so far, so that no optimiser leaves anything out.
    pub fn cycles(&mut self, count: u32) -> usize {
        for _ in 0..count {
            self.enqueue("work");
            self.commit();
            let claim = self.claim("work");
            self.commit();
            self.complete("work", claim);
            self.commit();
        }
        self.entry_bytes
    }
}

#[cfg(target_arch = "wasm32")]
mod inside {
    use super::Bench;
    use wasm_bindgen::prelude::*;

    /// The same cycle inside WebAssembly, without a crossing.
    #[wasm_bindgen]
    #[derive(Default)]
    pub struct Core(Bench);

    #[wasm_bindgen]
    impl Core {
        #[wasm_bindgen(constructor)]
        pub fn new() -> Self {
            Self::default()
        }

        pub fn cycles(&mut self, count: u32) -> usize {
            self.0.cycles(count)
        }
    }
}
