//! The operations on key-value rows.

use super::{Core, When};
use crate::error::Error;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = kvPut)]
    pub fn kv_put(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let key = reader.name("key")?;
                let got = || "none".to_owned();
                let value = reader.blob()?.ok_or_else(|| Error::InvalidArgument {
                    argument: "value",
                    expected: "bytes",
                    got: got(),
                })?;
                engine.put_value(at, key, value)
            },
            |reply, version| reply.number(version),
        )
    }

    #[wasm_bindgen(js_name = kvDelete)]
    pub fn kv_delete(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.delete_value(at, reader.name("key")?),
            |reply, was_there| reply.byte(u8::from(was_there)),
        )
    }
}
