//! Errors, refusals and what nobody is in a hurry for, as JavaScript objects.

use crate::error::{Error, FailedCheck, Refusal};
use crate::id::Version;
use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

/// `{ code, kind, message, details }`
pub fn error(error: &Error) -> JsValue {
    let details = Object::new();
    match error {
        Error::InvalidArgument { argument, .. }
        | Error::InvalidName { argument, .. }
        | Error::InvalidSchedule { argument, .. }
        | Error::ReservedName { argument, .. } => set(&details, "argument", *argument),
        Error::PayloadTooLarge { argument, size, limit } => {
            set(&details, "argument", *argument);
            set(&details, "size", *size as f64);
            set(&details, "limit", *limit as f64);
        }
        Error::LimitExceeded { what, size, limit } => {
            set(&details, "argument", *what);
            set(&details, "size", *size as f64);
            set(&details, "limit", *limit as f64);
        }
        Error::PermissionDenied { actor, right, on } => {
            set(&details, "actor", actor);
            set(&details, "right", *right);
            set(&details, "on", on);
        }
        Error::CheckFailed(check) => set_check(&details, check),
        Error::JournalCorrupt { problem } => set(&details, "problem", problem),
        Error::FormatTooNew { format, supported } => {
            set(&details, "format", f64::from(*format));
            set(&details, "supported", f64::from(*supported));
        }
        Error::LogReplaced { expected, found } => {
            set(&details, "expected", expected);
            set(&details, "found", found);
        }
    }
    let object = Object::new();
    set(&object, "code", error.code().as_str());
    set(&object, "kind", error.kind().as_str());
    set(&object, "message", error.to_string());
    set(&object, "details", details);
    object.into()
}

/// `{ ok: false, reason, details? }`
pub fn refusal(refusal: &Refusal) -> JsValue {
    let object = Object::new();
    set(&object, "ok", false);
    set(&object, "reason", refusal.reason());
    match refusal {
        Refusal::Held(Some((owner, until))) => {
            let details = Object::new();
            set(&details, "owner", owner.as_str());
            set(&details, "until", until.get() as f64);
            set(&object, "details", details);
        }
        Refusal::Changed(check) => {
            let details = Object::new();
            set_check(&details, check);
            set(&object, "details", details);
        }
        _ => {}
    }
    object.into()
}

fn set_check(details: &Object, check: &FailedCheck) {
    let version = |version: Option<Version>| match version {
        Some(version) => JsValue::from(version.get() as f64),
        None => JsValue::NULL,
    };
    set(details, "key", check.key.as_str());
    set(details, "expected", version(check.expected));
    set(details, "actual", version(check.actual));
}

pub fn set(object: &Object, name: &str, value: impl Into<JsValue>) {
    set_value(object, name, &value.into());
}

fn set_value(object: &Object, name: &str, value: &JsValue) {
    // Setting a property of a fresh plain object cannot fail.
    let _ = Reflect::set(object, &name.into(), value);
}

/// Leaves the property out where there is no value.
pub fn set_some(object: &Object, name: &str, value: Option<impl Into<JsValue>>) {
    if let Some(value) = value {
        set(object, name, value);
    }
}
