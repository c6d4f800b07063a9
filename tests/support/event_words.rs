//! Events in the words of a script.
//!
//! ```text
//!  completed mail 1 w A + enqueued mail 2 | claimed mail 2 w B
//! ```
//!
//! `+` stands between events of one command, `|` between commands. A key, the owner and the token
//! of a claim, and a reason follow where there are any.

use super::answer::Answer;
use fencepost::event::{Event, EventKind, Subject};

pub fn in_words<'a>(events: impl IntoIterator<Item = &'a Event>) -> Answer {
    let mut answer = Answer::default();
    let mut before = None;
    for event in events {
        answer = match before {
            None => answer,
            Some(version) if version == event.version => answer.and("+"),
            Some(_) => answer.and("|"),
        };
        before = Some(event.version);
        answer = one(answer.and(kind_in_words(event.kind)), event);
    }
    answer.or_nothing()
}

fn one(answer: Answer, event: &Event) -> Answer {
    let mut answer = match &event.subject {
        Subject::Task { queue, id, key } => {
            let answer = answer.and(queue.as_str()).and(id.to_string());
            key.iter().fold(answer, |answer, key| answer.and("key").and(key.as_str()))
        }
        Subject::Queue(name) | Subject::Lease(name) | Subject::Value(name) => {
            answer.and(name.as_str())
        }
        Subject::Schedule { name, queue, made } => {
            let answer = answer.and(name.as_str()).and(queue.as_str());
            made.iter().fold(answer, |answer, id| answer.and(id.to_string()))
        }
        Subject::Log => answer,
    };
    if let Some((owner, token)) = &event.holder {
        answer = answer.and(owner.as_str()).and_token(*token);
    }
    event.reason.iter().fold(answer, |answer, reason| answer.and("for").and(reason))
}

fn kind_in_words(kind: EventKind) -> String {
    let name = format!("{kind:?}");
    let words = name.split_inclusive(|_: char| true).map(|letter| {
        let dash = if letter.starts_with(char::is_uppercase) { "-" } else { "" };
        dash.to_owned() + &letter.to_lowercase()
    });
    words.collect::<String>().trim_start_matches('-').to_owned()
}
