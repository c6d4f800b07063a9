//! One call over the border: what an operation is given, and what it answers.

use super::reader::Request;
use super::writer::Writer;
use crate::engine::{Context, Engine};
use crate::error::{Error, Outcome};

/// What an operation works on.
pub struct Call<'a> {
    pub engine: &'a mut Engine,
    pub request: Request<'a>,
    pub at: Context,
    pub reply: &'a mut Writer,
}

/// The reply is packed, or there is none and this says why.
pub type Answer = Result<Outcome<()>, Fault>;

/// What is wrong with a call.
pub enum Fault {
    Error(Error),
    /// A number that is not as expected. JavaScript shows it: Rust's way weighs twenty kilobytes.
    Number {
        argument: &'static str,
        expected: &'static str,
        number: f64,
    },
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

pub type Run = fn(&mut Call<'_>) -> Answer;

/// The reply is as it should be.
pub const DONE: Answer = Ok(Ok(()));
