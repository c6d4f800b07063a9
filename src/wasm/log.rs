//! From commands to the journal and back.

use super::{Core, FAILED, When, answer};
use crate::accept::hex;
use crate::error::Error;
use wasm_bindgen::prelude::*;

fn thrown(error: Error) -> JsValue {
    answer::error(&error)
}

#[wasm_bindgen]
impl Core {
    /// Seals what is staged: the reply is the entry. 0: nothing was changed.
    #[wasm_bindgen(js_name = takeEntry)]
    pub fn take_entry(&mut self) -> i32 {
        self.reply.clear();
        match self.engine.seal() {
            Ok(Some(sealed)) => {
                self.reply.raw(&sealed.bytes);
                self.reply.bytes().len() as i32
            }
            Ok(None) => 0,
            Err(error) => {
                self.answer = answer::error(&error);
                FAILED
            }
        }
    }

    /// The sealed entry is in the journal.
    #[wasm_bindgen(js_name = mergeSealed)]
    pub fn merge_sealed(&mut self) -> Result<(), JsValue> {
        self.engine.merge_sealed().map_err(thrown)
    }

    /// Merges an entry that follows on the newest one.
    pub fn merge(&mut self, entry: &[u8]) -> Result<(), JsValue> {
        self.engine.merge(entry).map_err(thrown)
    }

    pub fn discard(&mut self) {
        self.engine.discard();
    }

    /// Founds a log that goes on from the snapshot of another one.
    #[wasm_bindgen(js_name = foundFrom)]
    pub fn found_from(&mut self, snapshot: &[u8], now: f64) -> Result<(), JsValue> {
        let at = When { now, caller: 0 }.context().map_err(thrown)?;
        self.engine.found_from(snapshot, at.now).map_err(thrown)
    }

    /// Founds an empty log.
    pub fn found(&mut self, now: f64) -> Result<(), JsValue> {
        let at = When { now, caller: 0 }.context().map_err(thrown)?;
        self.engine.found_if_empty(at.now).map_err(thrown)
    }

    pub fn snapshot(&self) -> Vec<u8> {
        self.engine.snapshot().bytes
    }

    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), JsValue> {
        self.engine.restore(snapshot).map_err(thrown)
    }

    /// Enforces expiry and retention, one commit's worth.
    pub fn maintain(&mut self, now: f64) -> i32 {
        self.command(
            0,
            When { now, caller: 0 },
            |engine, _, at| engine.maintain(at.now),
            |reply, swept| {
                reply.number(swept.expired as u64);
                reply.number(swept.purged as u64);
                reply.byte(u8::from(swept.more));
            },
        )
    }
}

/// Where the log stands.
#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(getter)]
    pub fn store(&self) -> Option<String> {
        self.engine.state().head.store.as_ref().map(|name| name.as_str().to_owned())
    }

    #[wasm_bindgen(getter, js_name = logId)]
    pub fn log_id(&self) -> String {
        hex(&self.engine.state().head.log_id)
    }

    #[wasm_bindgen(getter)]
    pub fn version(&self) -> f64 {
        self.engine.state().head.version.get() as f64
    }

    #[wasm_bindgen(getter)]
    pub fn slot(&self) -> f64 {
        self.engine.state().head.slot.get() as f64
    }

    /// Log id and hash of the newest merged entry: what a journal calls its tag.
    #[wasm_bindgen(getter)]
    pub fn tag(&self) -> Vec<u8> {
        let head = &self.engine.state().head;
        [head.log_id, head.hash].concat()
    }

    /// The time of the newest merged entry.
    #[wasm_bindgen(getter)]
    pub fn time(&self) -> f64 {
        self.engine.state().head.time.get() as f64
    }

    /// The tag of the sealed entry.
    #[wasm_bindgen(getter, js_name = sealedTag)]
    pub fn sealed_tag(&self) -> Option<Vec<u8>> {
        self.engine.sealed_tag().map(|tag| tag.to_vec())
    }

    /// Replica and counter of the sealed commit.
    #[wasm_bindgen(getter, js_name = sealedCommit)]
    pub fn sealed_commit(&self) -> Option<Vec<f64>> {
        let commit = self.engine.sealed_commit()?;
        Some(vec![commit.replica as f64, commit.counter as f64])
    }

    /// Whether a commit is in the merged log.
    pub fn holds(&self, replica: f64, counter: f64) -> bool {
        let (replica, counter) = (replica as u64, counter as u64);
        self.engine.holds(crate::change::CommitId { replica, counter })
    }

    /// How many staged commands have changed something.
    #[wasm_bindgen(getter, js_name = stagedCommands)]
    pub fn staged_commands(&self) -> u32 {
        self.engine.staged_commands() as u32
    }

    /// Whether the staged commands fill an entry.
    #[wasm_bindgen(getter, js_name = groupIsFull)]
    pub fn group_is_full(&self) -> bool {
        self.engine.group_is_full()
    }

    /// When time alone changes an answer; `undefined` when nothing waits.
    #[wasm_bindgen(getter, js_name = nextDue)]
    pub fn next_due(&self) -> Option<f64> {
        self.engine.state().next_due().map(|at| at.get() as f64)
    }

    /// A hash over all rows: replicas at one version have the same.
    #[wasm_bindgen(js_name = rowsHash)]
    pub fn rows_hash(&self) -> String {
        hex(&self.engine.rows_hash())
    }
}
