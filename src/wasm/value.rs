//! The operations on key-value rows.

use super::call::{Answer, Call, DONE};
use super::requests;

pub fn put(call: &mut Call<'_>) -> Answer {
    let key = call.request.name("key")?;
    let value = call.request.blob()?.ok_or_else(|| requests::absent("value"))?;
    call.reply.number(call.engine.put_value(call.at, key, value)?);
    DONE
}

pub fn delete(call: &mut Call<'_>) -> Answer {
    let key = call.request.name("key")?;
    call.reply.flag(call.engine.delete_value(call.at, key)?);
    DONE
}
