//! The words of a script line: where they are split, and what numbers and durations look like.
//!
//! Durations: `30ms` `5s` `2m` `3h` `1d` `forever`, and sums and differences without spaces, like
//! `30s+1ms` or `1d-1ms`. Text with spaces stands in double quotes.
//! Commas and semicolons behind a word are for readers only.

use std::collections::VecDeque;
use std::str::FromStr;

/// What is left of a line.
#[derive(Clone, Debug)]
pub struct Words {
    line: String,
    left: VecDeque<String>,
}

impl Words {
    /// `line` is for messages.
    pub fn split(text: &str, line: &str) -> Self {
        let mut left = VecDeque::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted
                    .split_once('"')
                    .unwrap_or_else(|| panic!("a quote does not end in the line\n  {line}")),
                None => {
                    let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                    (word.trim_end_matches([',', ';']), after)
                }
            };
            left.push_back(word.to_owned());
            rest = after.trim_start();
        }
        Self { line: line.to_owned(), left }
    }

    pub fn wrong(&self, problem: &str) -> ! {
        panic!("{problem} in the line\n  {}", self.line)
    }

    pub fn next(&mut self) -> Option<String> {
        self.left.pop_front()
    }

    pub fn peek(&self) -> Option<&str> {
        self.left.front().map(String::as_str)
    }

    pub fn take(&mut self, what: &str) -> String {
        self.next().unwrap_or_else(|| self.wrong(&format!("{what} is missing")))
    }

    /// Takes the next word if it is this one.
    pub fn accept(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        if is_next {
            self.left.pop_front();
        }
        is_next
    }

    pub fn expect(&mut self, word: &str) {
        if !self.accept(word) {
            self.wrong(&format!("the word {word:?} is missing"));
        }
    }

    pub fn number<T: FromStr>(&mut self, what: &str) -> T {
        let word = self.take(what);
        word.parse().unwrap_or_else(|_| self.wrong(&format!("{word:?} is no number")))
    }

    pub fn duration(&mut self, what: &str) -> u64 {
        let word = self.take(what);
        let milliseconds = offset(&word).and_then(|offset| u64::try_from(offset).ok());
        milliseconds.unwrap_or_else(|| self.wrong(&format!("{word:?} is no duration")))
    }

    /// From the start; may be negative.
    pub fn offset(&mut self, what: &str) -> i64 {
        let word = self.take(what);
        offset(&word).unwrap_or_else(|| self.wrong(&format!("{word:?} is no time")))
    }

    pub fn finish(&mut self) {
        if let Some(word) = self.next() {
            self.unknown(&word);
        }
    }

    pub fn unknown(&self, word: &str) -> ! {
        self.wrong(&format!("unknown word {word:?}"))
    }
}

/// Milliseconds from the start, as a script writes them.
pub fn offset(word: &str) -> Option<i64> {
    let mut sum = 0;
    let mut rest = word;
    loop {
        let end = rest[1.min(rest.len())..].find(['+', '-']).map_or(rest.len(), |end| end + 1);
        let (term, after) = rest.split_at(end);
        sum += signed(term)?;
        if after.is_empty() {
            return Some(sum);
        }
        rest = after;
    }
}

fn signed(term: &str) -> Option<i64> {
    match term.strip_prefix('-') {
        Some(term) => Some(-unsigned(term)?),
        None => unsigned(term.strip_prefix('+').unwrap_or(term)),
    }
}

fn unsigned(term: &str) -> Option<i64> {
    if term == "forever" {
        return Some((1 << 53) - 1);
    }
    let unit_at = term.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = term.split_at(unit_at);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(digits.parse::<i64>().ok()? * unit_ms)
}
