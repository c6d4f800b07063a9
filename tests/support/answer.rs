//! What a command answered, and whether it is what the script expects.
//!
//! Tokens and versions are symbols: the first answer that holds one gives it its name, from then on
//! the name means that number. Instants are written as time from the start, or as a range `2s..5s`.
//! Commas and semicolons are for readers only.

use super::START;
use super::words::offset;
use fencepost::error::{Error, Refusal};
use fencepost::id::{Instant, Token, Version};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Word(String),
    /// A token or version.
    Number(u64),
    At(Instant),
}

/// An answer, word by word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer(Vec<Piece>);

/// Names of tokens and versions.
#[derive(Clone, Debug, Default)]
pub struct Symbols(BTreeMap<String, u64>);

impl Answer {
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::default().and(text)
    }

    pub fn and(mut self, text: impl AsRef<str>) -> Self {
        self.0.extend(text.as_ref().split_whitespace().map(|word| Piece::Word(word.to_owned())));
        self
    }

    pub fn and_at(mut self, at: Instant) -> Self {
        self.0.push(Piece::At(at));
        self
    }

    pub fn and_token(mut self, token: Token) -> Self {
        self.0.push(Piece::Number(token.get()));
        self
    }

    pub fn and_version(mut self, version: Version) -> Self {
        self.0.push(Piece::Number(version.get()));
        self
    }

    /// `nothing` in place of no words.
    pub fn or_nothing(self) -> Self {
        if self.0.is_empty() { Self::text("nothing") } else { self }
    }

    /// Compares, and names the numbers that have no name yet.
    pub fn matches(&self, expected: &str, symbols: &mut Symbols) -> bool {
        let words: Vec<&str> = expected
            .split_whitespace()
            .map(|word| word.trim_end_matches([',', ';']))
            .filter(|word| !word.is_empty())
            .collect();
        words.len() == self.0.len()
            && self.0.iter().zip(words).all(|(piece, word)| match piece {
                Piece::Word(actual) => actual == word,
                Piece::Number(number) => symbols.is(word, *number),
                Piece::At(at) => is_at(*at, word),
            })
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Self::text(error.code().as_str())
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let answer = Self::text(refusal.reason());
        match refusal {
            Refusal::Held(Some((owner, until))) => {
                answer.and("by").and(owner.as_str()).and("until").and_at(until)
            }
            Refusal::Changed(check) => answer.and(check.key.as_str()),
            _ => answer,
        }
    }
}

fn is_at(at: Instant, word: &str) -> bool {
    let actual = Some(from_start(at));
    match word.split_once("..") {
        Some((from, to)) => actual >= offset(from) && actual <= offset(to),
        None => actual == offset(word),
    }
}

fn from_start(at: Instant) -> i64 {
    if at == Instant::NEVER {
        return at.get() as i64;
    }
    at.get() as i64 - START.get() as i64
}

impl Symbols {
    fn is(&mut self, name: &str, number: u64) -> bool {
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return name.parse() == Ok(number);
        }
        match self.0.get(name) {
            Some(known) => *known == number,
            // Another name means another number.
            None if self.0.values().any(|known| *known == number) => false,
            None => {
                self.0.insert(name.to_owned(), number);
                true
            }
        }
    }

    /// `A`, `A-1`, `A+1` or a plain number.
    pub fn number(&self, word: &str) -> Option<u64> {
        let end = word.find(['+', '-']).unwrap_or(word.len());
        let (name, change) = word.split_at(end);
        let number = name.parse().ok().or_else(|| self.0.get(name).copied())?;
        match change.is_empty() {
            true => Some(number),
            false => number.checked_add_signed(change.parse().ok()?),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, piece) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_char(' ')?;
            }
            match piece {
                Piece::Word(word) => f.write_str(word)?,
                Piece::Number(number) => write!(f, "{number}")?,
                Piece::At(at) if *at == Instant::NEVER => f.write_str("forever")?,
                Piece::At(at) => write!(f, "{}ms", from_start(*at))?,
            }
        }
        Ok(())
    }
}
