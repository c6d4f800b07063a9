//! Error texts and reasons.

use crate::limits::TEXT_BYTES_MAX;
use std::sync::Arc;

/// Cut to the limit on a character boundary.
pub fn bounded(text: &str) -> Arc<str> {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].into()
}
