//! Reading values out of bytes that nobody vouches for.
//!
//! **Invariant:** a [`Reader`] that met a byte which does not fit is at its end for good. Whatever
//! is read from then on is zero, empty or a variant 0, and in the end [`read`] gives nothing. So
//! nothing on the way has to ask, and no half-made row has to be taken down.

use crate::id::SAFE_MAX;
use std::sync::Arc;

/// What is left to read.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    failed: bool,
}

/// `None` unless all bytes are used up by what `take` takes.
pub fn read<T>(bytes: &[u8], take: impl FnOnce(&mut Reader<'_>) -> T) -> Option<T> {
    let mut reader = Reader { rest: bytes, failed: false };
    let value = take(&mut reader);
    (!reader.failed && reader.rest.is_empty()).then_some(value)
}

impl<'a> Reader<'a> {
    pub fn failed(&self) -> bool {
        self.failed
    }

    pub fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    #[cold]
    pub fn fail(&mut self) {
        self.rest = &[];
        self.failed = true;
    }

    fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                *byte
            }
            None => {
                self.fail();
                0
            }
        }
    }

    /// A number of at most so many bits; groups of zeros may follow it, as far as there is room.
    #[inline(never)]
    pub fn number(&mut self, bits: u32) -> u64 {
        let mut value = 0;
        let mut room = bits;
        loop {
            let byte = self.byte();
            let group = u64::from(byte & 0x7f);
            if room < 7 && (byte >> room) != 0 {
                self.fail();
                return 0;
            }
            value |= group << (bits - room);
            if byte < 0x80 {
                return value;
            }
            room -= 7;
        }
    }

    /// A number that JavaScript holds exactly.
    pub fn safe_number(&mut self) -> u64 {
        let value = self.number(u64::BITS);
        if value <= SAFE_MAX {
            return value;
        }
        self.fail();
        0
    }

    fn length(&mut self) -> usize {
        self.number(u32::BITS) as usize
    }

    /// Which of so many variants it is.
    pub fn variant(&mut self, variants: u32) -> u32 {
        let variant = self.number(u32::BITS) as u32;
        if variant < variants {
            return variant;
        }
        self.fail();
        0
    }

    #[inline(never)]
    pub fn flag(&mut self) -> bool {
        match self.byte() {
            0 => false,
            1 => true,
            _ => {
                self.fail();
                false
            }
        }
    }

    #[inline(never)]
    pub fn slice(&mut self) -> &'a [u8] {
        let length = self.length();
        match self.rest.split_at_checked(length) {
            Some((slice, rest)) => {
                self.rest = rest;
                slice
            }
            None => {
                self.fail();
                &[]
            }
        }
    }

    #[inline(never)]
    pub fn text(&mut self) -> Arc<str> {
        let text = str::from_utf8(self.slice()).unwrap_or_else(|_| {
            self.fail();
            ""
        });
        text.into()
    }

    /// How many items of a list follow, none of them smaller than a byte.
    pub fn items(&mut self) -> usize {
        let items = self.length();
        if items <= self.rest.len() {
            return items;
        }
        self.fail();
        0
    }
}
