//! The operations on key-value rows.

use super::call::{Answer, Call, DONE};

pub fn put(call: &mut Call<'_>) -> Answer {
    let (key, value) =
        call.request.read(|request| (request.name("key"), request.required_blob("value")))?;
    call.reply.number(call.engine.put_value(call.at, key, value)?);
    DONE
}

pub fn delete(call: &mut Call<'_>) -> Answer {
    let key = call.request.read(|request| request.name("key"))?;
    call.reply.flag(call.engine.delete_value(call.at, key)?);
    DONE
}
