//! Tests as tables: a time, a command, `=>`, and the answer.
//!
//! ```text
//!  0ms   enqueue mail hello key k        => task 1
//!  0ms   claim mail as w1 for 30ms       => task 1, token A
//!  +     put progress begun              => version V
//!  31ms  complete 1 token A              => expired
//!        caller ann may queue:mail:enqueue kv:a*:read,write
//!  31ms  ann: claim mail as w1           => PERMISSION_DENIED
//! ```
//!
//! Every command is an entry of its own; a line that begins with `+` shares the entry (and the
//! time) of the line before, and so do the lines from `begin` to `commit` or `abort`. Symbols like
//! `A` name the token or version that the answer gave; `A-1` is a wrong one. A line that begins
//! with `#` is a comment. What the commands are called and take is written above their functions.
//!
//! `events` answers what was told since the caller asked last; it needs no rights to ask.
//!
//! [`check`] runs a script in every [`Mode`]; all must give the same answers. After each entry the
//! indexes are verified, and all replicas have told the same events; at the end the log is replayed
//! from the start and from a snapshot.

use super::answer::{Answer, Symbols};
use super::command::{Stage, instant, wants_merged};
use super::event_words::in_words;
use super::words::Words;
use super::{assert_verified, engine};
use fencepost::engine::{Context, Engine};
use fencepost::event::Event;
use fencepost::id::TaskId;
use fencepost::rights::{Caller, Grant, Names, Realm, Right};
use std::collections::BTreeMap;

/// How the entries of a script come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// One entry per command.
    Alone,
    /// Two replicas decide in turn and merge each other's bytes.
    TwoReplicas,
    /// After each entry the engine is thrown away and restored from its snapshot.
    Restored,
    /// Commands at one instant share an entry.
    Grouped,
    /// Up to eight commands share an entry, whatever their instants.
    Gathered,
    /// Each entry is decided, sealed, discarded and decided again.
    DecidedTwice,
}

const MODES: [Mode; 6] = [
    Mode::Alone,
    Mode::TwoReplicas,
    Mode::Restored,
    Mode::Grouped,
    Mode::Gathered,
    Mode::DecidedTwice,
];

/// A command and its answer.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    offset: i64,
    joins: bool,
    caller: Option<String>,
    command: String,
    words: Words,
    expected: String,
}

struct Script {
    lines: Vec<Line>,
    callers: BTreeMap<String, Caller>,
}

/// Runs the script in every mode.
#[track_caller]
pub fn check(script: &str) {
    let script = parse(script);
    for mode in MODES {
        Run::new(&script, mode).run();
    }
}

fn parse(text: &str) -> Script {
    let mut script = Script { lines: Vec::new(), callers: BTreeMap::new() };
    let mut now = 0;
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(caller) = line.strip_prefix("caller ") {
            let caller = parse_caller(Words::split(caller, line));
            script.callers.insert(caller.actor.clone(), caller);
            continue;
        }
        let (command, expected) =
            line.split_once("=>").unwrap_or_else(|| panic!("no => in the line\n  {line}"));
        let mut words = Words::split(command, line);
        let joins = words.accept("+");
        if !joins {
            now = words.offset("the time");
        }
        let caller = words.peek().and_then(|word| word.strip_suffix(':')).map(str::to_owned);
        if caller.is_some() {
            words.next();
        }
        let command = words.peek().unwrap_or_else(|| words.wrong("no command")).to_owned();
        let (text, expected) = (line.to_owned(), expected.trim().to_owned());
        script.lines.push(Line { text, offset: now, joins, caller, command, words, expected });
    }
    script
}

/// `NAME may REALM:PATTERN:RIGHT,RIGHT …`
fn parse_caller(mut words: Words) -> Caller {
    let actor = words.take("the caller");
    words.expect("may");
    let mut may = Vec::new();
    while let Some(grant) = words.next() {
        let (realm, rest) = grant.split_once(':').unwrap_or_else(|| words.unknown(&grant));
        let (pattern, rights) = rest.rsplit_once(':').unwrap_or_else(|| words.unknown(&grant));
        let realm = match realm {
            "queue" => Realm::Queue,
            "lease" => Realm::Lease,
            "kv" => Realm::Kv,
            other => words.unknown(other),
        };
        let right = |name: &str| match name {
            "enqueue" => Right::Enqueue,
            "claim" => Right::Claim,
            "settle" => Right::Settle,
            "inspect" => Right::Inspect,
            "manage" => Right::Manage,
            "acquire" => Right::Acquire,
            "read" => Right::Read,
            "write" => Right::Write,
            other => words.unknown(other),
        };
        let rights = rights.split(',').map(right).collect();
        may.push(Grant { realm, names: Names::of(pattern), rights });
    }
    Caller { actor, may: vec![may] }
}

/// A script under way.
struct Run<'a> {
    script: &'a Script,
    mode: Mode,
    replicas: Vec<Engine>,
    /// Which replica decides.
    turn: usize,
    log: Vec<Vec<u8>>,
    events: Vec<Event>,
    /// How many of them each caller has asked for.
    told: BTreeMap<Option<String>, usize>,
    symbols: Symbols,
    queue_of: BTreeMap<TaskId, String>,
    /// The lines of the entry that is not sealed yet.
    open: Vec<&'a Line>,
    in_transaction: bool,
}

impl<'a> Run<'a> {
    fn new(script: &'a Script, mode: Mode) -> Self {
        let replicas = if mode == Mode::TwoReplicas { 2 } else { 1 };
        Self {
            script,
            mode,
            replicas: (1..=replicas).map(listening).collect(),
            turn: 0,
            log: Vec::new(),
            events: Vec::new(),
            told: BTreeMap::new(),
            symbols: Symbols::default(),
            queue_of: BTreeMap::new(),
            open: Vec::new(),
            in_transaction: false,
        }
    }

    fn run(mut self) {
        for line in &self.script.lines {
            let is_read = wants_merged(&line.command) && !self.in_transaction;
            if is_read || !self.joins(line) {
                self.commit();
            }
            if line.command == "restart" {
                self.restart();
                continue;
            }
            self.execute(line);
            if !is_read {
                self.open.push(line);
            }
        }
        self.commit();
        self.replay();
    }

    fn joins(&self, line: &Line) -> bool {
        let same_time = self.open.last().is_none_or(|last| last.offset == line.offset);
        let gathers = match self.mode {
            Mode::Grouped => same_time,
            Mode::Gathered => self.open.len() < 8,
            _ => false,
        };
        line.joins || self.in_transaction || gathers
    }

    fn execute(&mut self, line: &Line) {
        let answer = match line.command.as_str() {
            "events" => self.tell(line),
            _ => self.carry_out(line),
        };
        assert!(
            answer.matches(&line.expected, &mut self.symbols),
            "{:?}: the answer differs in the line\n  {}\n- {}\n+ {answer}\n",
            self.mode,
            line.text,
            line.expected,
        );
    }

    fn tell(&mut self, line: &Line) -> Answer {
        let name = line.caller.as_ref();
        let caller = name.map(|name| &self.script.callers[name]);
        let told = self.told.insert(name.cloned(), self.events.len()).unwrap_or_default();
        let shown = |event: &&Event| caller.is_none_or(|caller| event.is_shown_to(caller));
        in_words(self.events[told..].iter().filter(shown))
    }

    fn carry_out(&mut self, line: &Line) -> Answer {
        let engine = &mut self.replicas[self.turn];
        let caller = line.caller.as_ref().map(|name| {
            let caller = self.script.callers.get(name);
            engine.add_caller(caller.unwrap_or_else(|| line.words.unknown(name)).clone())
        });
        let at = Context { now: instant(line.offset), caller };
        let (symbols, in_transaction) = (&self.symbols, self.in_transaction);
        let queue_of = &mut self.queue_of;
        let mut stage = Stage { engine, at, symbols, queue_of, in_transaction };
        let answer = stage.run(line.words.clone());
        caller.into_iter().for_each(|id| engine.remove_caller(id));
        match line.command.as_str() {
            "begin" => self.in_transaction = true,
            "commit" | "abort" => self.in_transaction = false,
            _ => {}
        }
        answer
    }

    fn commit(&mut self) {
        let lines = std::mem::take(&mut self.open);
        if self.mode == Mode::DecidedTwice && !lines.is_empty() {
            let engine = &mut self.replicas[self.turn];
            engine.seal().expect("nothing is sealed");
            engine.discard();
            lines.into_iter().for_each(|line| self.execute(line));
        }
        if let Some(sealed) = self.replicas[self.turn].seal().expect("nothing is sealed") {
            for (position, replica) in self.replicas.iter_mut().enumerate() {
                match position == self.turn {
                    true => replica.merge_sealed().expect("an entry is sealed"),
                    false => replica.merge(&sealed.bytes).expect("the entry fits"),
                }
            }
            self.log.push(sealed.bytes);
        }
        let events = self.replicas.iter_mut().map(take_events).collect::<Vec<_>>();
        assert!(events.iter().all(|told| *told == events[0]), "replicas tell the same");
        self.events.extend(events.into_iter().next().expect("there is a replica"));
        let first = &self.replicas[0];
        for replica in &self.replicas {
            assert_verified(replica);
            assert_same(first, replica);
        }
        if self.mode == Mode::Restored {
            self.restart();
        }
        self.turn = (self.turn + 1) % self.replicas.len();
    }

    fn restart(&mut self) {
        for replica in &mut self.replicas {
            let mut restored = engine(replica.options().replica);
            restored.record_events(replica.state().head.version);
            if replica.state().head.store.is_some() {
                restored.restore(&replica.snapshot().bytes).expect("its own snapshot");
            }
            assert_same(replica, &restored);
            assert_verified(&restored);
            *replica = restored;
        }
    }

    /// From the start, and from a snapshot in the middle of the log.
    fn replay(&self) {
        let mut replayed = listening(8);
        let mut restored = engine(9);
        for (position, bytes) in self.log.iter().enumerate() {
            if position > 0 && position == self.log.len() / 2 {
                restored.restore(&replayed.snapshot().bytes).expect("a snapshot");
            }
            replayed.merge(bytes).expect("the entry fits");
            if restored.state().head.store.is_some() {
                restored.merge(bytes).expect("the entry fits");
            }
        }
        assert_same(&self.replicas[0], &replayed);
        assert_eq!(take_events(&mut replayed), self.events, "a replay tells what was told");
        if self.log.len() > 1 {
            assert_same(&replayed, &restored);
        }
    }
}

/// An empty replica that records from the start.
fn listening(replica: u64) -> Engine {
    let mut engine = engine(replica);
    engine.record_events(engine.state().head.version);
    engine
}

/// What it recorded since the last call.
pub fn take_events(engine: &mut Engine) -> Vec<Event> {
    let events = engine.events(None).cloned().collect();
    engine.forget_events();
    events
}

/// Two replicas know the same.
#[track_caller]
pub fn assert_same(one: &Engine, other: &Engine) {
    let (one, other) = (one.state(), other.state());
    assert_eq!(one.rows(), other.rows());
    assert_eq!(one.head, other.head);
    assert_eq!(one.counters, other.counters);
    assert_eq!(one.replicas, other.replicas);
}
