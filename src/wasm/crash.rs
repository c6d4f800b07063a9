//! Keeps the words of a panic where JavaScript finds them after the trap.
//!
//! A crashed instance must not be called again, so the words lie in a JavaScript object that was
//! handed out before.

use js_sys::{Object, Reflect};
use std::cell::OnceCell;
use std::panic;

thread_local! {
    static REPORT: OnceCell<Object> = const { OnceCell::new() };
}

/// The object that gets a `message` when the engine panics.
pub fn report() -> Object {
    REPORT.with(|report| {
        let object = report.get_or_init(|| {
            panic::set_hook(Box::new(|panic| write(&panic.to_string())));
            Object::new()
        });
        object.clone()
    })
}

fn write(message: &str) {
    // Setting a property of a plain object cannot fail, and there is nobody left to tell.
    let _ = REPORT.try_with(|report| {
        report.get().map(|object| Reflect::set(object, &"message".into(), &message.into()))
    });
}
