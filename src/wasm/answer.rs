//! Errors and refusals, as replies. `pkg/src/answers.ts` makes objects of them.

use super::call::Fault;
use super::writer::Writer;
use crate::error::{Error, FailedCheck, Refusal};
use crate::id::Version;

/// Code and message, perhaps a number that belongs to the end of it, then the details by name.
pub fn fault(reply: &mut Writer, fault: Fault) -> i32 {
    let (error, number) = match fault {
        Fault::Error(error) => (error, None),
        Fault::Number { argument, expected, number } => {
            (Error::InvalidArgument { argument, expected, got: String::new() }, Some(number))
        }
    };
    reply.clear();
    reply.text(Some(error.code().as_str()));
    reply.text(Some(&error.to_string()));
    reply.flag(number.is_some());
    if let Some(number) = number {
        reply.float(number);
    }
    let mut details = Details(reply);
    if let Some(argument) = error.argument() {
        details.text("argument", &argument);
    }
    let inner = if let Error::Within { error, .. } = &error { error } else { &error };
    match inner {
        Error::PayloadTooLarge { size, limit, .. } => {
            details.sizes(*size as f64, *limit as f64);
        }
        Error::LimitExceeded { size, limit, .. } => {
            details.sizes(*size as f64, *limit as f64);
        }
        Error::PermissionDenied { actor, right, on } => {
            details.text("actor", actor);
            details.text("right", right);
            details.text("on", on);
        }
        Error::StoreFull { size, limit } => {
            details.number("size", *size as f64);
            details.number("limit", *limit as f64);
        }
        Error::CheckFailed(check) => details.check(check),
        Error::JournalCorrupt { problem } => details.text("problem", problem),
        Error::FormatTooNew { format, supported } => {
            details.number("format", f64::from(*format));
            details.number("supported", f64::from(*supported));
        }
        Error::LogReplaced { expected, found } => {
            details.text("expected", expected);
            details.text("found", found);
        }
        Error::InvalidArgument { .. }
        | Error::InvalidName { .. }
        | Error::InvalidSchedule { .. }
        | Error::ReservedName { .. }
        | Error::Within { .. } => {}
    }
    -reply.size()
}

/// No code but a reason, then the details by name.
pub fn refusal(reply: &mut Writer, refusal: &Refusal) -> i32 {
    reply.clear();
    reply.text(None);
    reply.text(Some(refusal.reason()));
    let mut details = Details(reply);
    match refusal {
        Refusal::Held(Some((owner, until))) => {
            details.text("owner", owner.as_str());
            details.number("until", until.get() as f64);
        }
        Refusal::Changed(check) => details.check(check),
        _ => {}
    }
    -reply.size()
}

/// Each has a name, a byte that says whether it is text, and its value; NaN: null.
struct Details<'a>(&'a mut Writer);

impl Details<'_> {
    fn number(&mut self, name: &str, number: f64) {
        self.0.text(Some(name));
        self.0.byte(0);
        self.0.float(number);
    }

    fn text(&mut self, name: &str, text: &str) {
        self.0.text(Some(name));
        self.0.byte(1);
        self.0.text(Some(text));
    }

    fn sizes(&mut self, size: f64, limit: f64) {
        self.number("size", size);
        self.number("limit", limit);
    }

    fn check(&mut self, check: &FailedCheck) {
        let version =
            |version: Option<Version>| version.map_or(f64::NAN, |version| version.get() as f64);
        self.text("key", check.key.as_str());
        self.number("expected", version(check.expected));
        self.number("actual", version(check.actual));
    }
}
