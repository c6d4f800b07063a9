//! Reads a request that JavaScript packed into the scratch region.
//!
//! The packing is `pkg/src/packing.ts`: numbers are 8 bytes (NaN: absent), texts and bytes have a
//! length before them (all ones: absent). Every length and every number is checked here again.

use crate::blob::Blob;
use crate::error::Error;
use crate::id::{Millis, SAFE_MAX};
use crate::limits::PAGE_ITEMS_MAX;
use crate::name::{EFFECT_PREFIX, LOCK_PREFIX, NameRef, OUTBOX_PREFIX};
use wasm_bindgen::prelude::*;

const ABSENT: u32 = u32::MAX;

/// A cursor over a packed request.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(request: &'a [u8]) -> Self {
        Self { rest: request }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*head)
    }

    pub fn byte(&mut self) -> Result<u8, Error> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub fn flag(&mut self) -> Result<bool, Error> {
        self.byte().map(|byte| byte != 0)
    }

    /// 64 bits of a seed.
    pub fn bits(&mut self) -> Result<u64, Error> {
        self.take().map(u64::from_le_bytes)
    }

    /// All that is left: an entry, a snapshot.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub fn count(&mut self) -> Result<usize, Error> {
        self.take().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    pub fn number(&mut self) -> Result<Option<f64>, Error> {
        let number = f64::from_le_bytes(self.take()?);
        Ok((!number.is_nan()).then_some(number))
    }

    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, Error> {
        let size = u32::from_le_bytes(self.take()?);
        if size == ABSENT {
            return Ok(None);
        }
        let (bytes, rest) = self.rest.split_at_checked(size as usize).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(Some(bytes))
    }

    pub fn blob(&mut self) -> Result<Option<Blob>, Error> {
        self.bytes().map(|bytes| bytes.map(Blob::from))
    }

    pub fn text(&mut self, argument: &'static str) -> Result<Option<&'a str>, Error> {
        let Some(bytes) = self.bytes()? else {
            return Ok(None);
        };
        let expected = "text in UTF-8";
        let got = "other bytes".to_owned();
        let invalid = Error::InvalidArgument { argument, expected, got };
        std::str::from_utf8(bytes).map(Some).map_err(|_| invalid)
    }

    /// A name behind the byte that says which family it is of.
    pub fn name(&mut self, argument: &'static str) -> Result<NameRef<'a>, Error> {
        self.optional_name(argument)?.ok_or_else(|| missing(argument))
    }

    pub fn optional_name(&mut self, argument: &'static str) -> Result<Option<NameRef<'a>>, Error> {
        let family = self.byte()?;
        let Some(text) = self.text(argument)? else {
            return Ok(None);
        };
        named(argument, family, text).map(Some)
    }

    /// A whole number from 0 on.
    pub fn whole(&mut self, argument: &'static str) -> Result<Option<u64>, Error> {
        self.number()?.map(|number| whole(argument, number)).transpose()
    }

    pub fn required_whole(&mut self, argument: &'static str) -> Result<u64, Error> {
        self.whole(argument)?.ok_or_else(|| missing(argument))
    }

    /// How many a page may have: cut to what one holds, before it becomes a 32-bit number.
    pub fn page_size(&mut self, argument: &'static str) -> Result<usize, Error> {
        let wanted = self.required_whole(argument)?;
        Ok(wanted.min(PAGE_ITEMS_MAX as u64) as usize)
    }

    /// A duration; `Infinity` is for ever.
    pub fn millis(&mut self, argument: &'static str) -> Result<Option<Millis>, Error> {
        match self.number()? {
            Some(f64::INFINITY) => Ok(Some(Millis::FOREVER)),
            Some(number) => whole(argument, number).map(|ms| Some(Millis::saturating(ms))),
            None => Ok(None),
        }
    }
}

/// A name of a family, as `packing.ts` numbers them.
pub fn named<'a>(argument: &'static str, family: u8, text: &'a str) -> Result<NameRef<'a>, Error> {
    match family {
        0 => NameRef::shared(argument, text),
        1 => NameRef::of_family(argument, OUTBOX_PREFIX, text),
        2 => NameRef::of_family(argument, LOCK_PREFIX, text),
        3 => NameRef::of_family(argument, EFFECT_PREFIX, text),
        4 => NameRef::key(text),
        _ => NameRef::owner(text),
    }
}

/// A JavaScript number as a safe integer from 0 on.
pub fn whole(argument: &'static str, number: f64) -> Result<u64, Error> {
    if number.fract() == 0.0 && (0.0..=SAFE_MAX as f64).contains(&number) {
        return Ok(number as u64);
    }
    let expected = "a whole number from 0 to 2^53 - 1";
    Err(Error::InvalidArgument { argument, expected, got: shown(number) })
}

fn missing(argument: &'static str) -> Error {
    Error::InvalidArgument { argument, expected: "a value", got: "none".to_owned() }
}

fn cut_short() -> Error {
    Error::InvalidArgument {
        argument: "request",
        expected: "a complete packed request",
        got: "one that is cut short".to_owned(),
    }
}

#[wasm_bindgen]
extern "C" {
    /// A number as JavaScript shows it; Rust's own way weighs twenty kilobytes.
    #[wasm_bindgen(js_name = String)]
    pub fn shown(number: f64) -> String;
}
