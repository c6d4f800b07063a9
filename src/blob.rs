//! Opaque bytes that never change: payloads, results, values, progress, metadata.
//!
//! **Cost:** a clone counts a reference. The engine never looks inside.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Immutable bytes, cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob(Arc<[u8]>);

impl Deref for Blob {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Blob {
    /// Shows the length only: payloads do not belong into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}
