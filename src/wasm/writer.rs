//! Packs replies for JavaScript, in the packing that `reader.rs` reads.

use crate::id::Instant;

/// The reply region never moves for replies up to this size.
const REPLY_BYTES_MIN: usize = 64 << 10;

/// What was larger once is given back before the next reply: `border.ts` counts on it.
const REPLY_BYTES_KEPT: usize = 4 << 20;

/// The reply region, and bytes that lie beside it.
pub struct Writer {
    bytes: Vec<u8>,
    beside: Vec<u8>,
}

impl Default for Writer {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(REPLY_BYTES_MIN), beside: Vec::new() }
    }
}

impl Writer {
    pub fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > REPLY_BYTES_KEPT {
            self.bytes = Vec::with_capacity(REPLY_BYTES_MIN);
        }
        self.beside = Vec::new();
    }

    /// An entry or a snapshot stays where it is until the next call; the reply says where.
    pub fn beside(&mut self, bytes: Vec<u8>) {
        self.count(bytes.as_ptr() as usize);
        self.count(bytes.len());
        self.beside = bytes;
    }

    pub fn bytes_beside(&self) -> &[u8] {
        &self.beside
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn size(&self) -> i32 {
        self.bytes.len() as i32
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    pub fn count(&mut self, count: usize) {
        self.bytes.extend_from_slice(&(count as u32).to_le_bytes());
    }

    pub fn number(&mut self, number: impl Into<u64>) {
        self.float(number.into() as f64);
    }

    pub fn float(&mut self, number: f64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn optional(&mut self, number: Option<impl Into<u64>>) {
        self.float(number.map_or(f64::NAN, |number| number.into() as f64));
    }

    /// An instant that may never come.
    pub fn finite(&mut self, at: Instant) {
        self.optional((at < Instant::NEVER).then_some(at));
    }

    pub fn blob(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                self.count(bytes.len());
                self.bytes.extend_from_slice(bytes);
            }
            None => self.bytes.extend_from_slice(&u32::MAX.to_le_bytes()),
        }
    }

    pub fn text(&mut self, text: Option<&str>) {
        self.blob(text.map(str::as_bytes));
    }

    /// Writes what `fill` writes behind its own length.
    pub fn measured(&mut self, fill: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.count(0);
        fill(self);
        let size = (self.bytes.len() - start - 4) as u32;
        self.bytes[start..start + 4].copy_from_slice(&size.to_le_bytes());
    }
}
