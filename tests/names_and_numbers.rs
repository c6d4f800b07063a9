//! Names, payloads and numbers at their limits: promises 45 to 47.

mod support;

use fencepost::blob::Blob;
use fencepost::engine::{Engine, Options};
use fencepost::error::{Code, Error};
use fencepost::id::{Instant, Millis, Priority, SAFE_MAX, Seq, TaskId, Token, Version};
use fencepost::limits::{BATCH_ITEMS_MAX, NOTE_BYTES_MAX, PAYLOAD_BYTES_DEFAULT, TEXT_BYTES_MAX};
use fencepost::name::{EFFECT_PREFIX, LOCK_PREFIX, Name, NameRef, OUTBOX_PREFIX};
use fencepost::ops::read::Way;
use fencepost::ops::{
    Acquire, ClaimRef, ClaimRequest, Completion, Enqueue, Failure, Heartbeat, Write,
};
use support::command::{blob, queue};
use support::script::check;
use support::{assert_verified, at, commit, engine, options};

const HARMLESS: [&str; 15] = [
    "a",
    " a ",
    "a b",
    ":",
    "::",
    "a:b",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "00123",
    "e\u{301}",
    "\u{e9}",
    "😀",
    "a\0b",
    "__fencepost",
];
const BLANK: [&str; 7] = ["", " ", "\t", "\n", "\u{a0}", "\u{2003}", " \r\n\t "];

fn code<T: std::fmt::Debug>(answer: Result<T, Error>) -> Code {
    answer.unwrap_err().code()
}

#[test]
fn harmless_names_are_taken_as_they_are_in_every_position() {
    for name in HARMLESS {
        assert_eq!(NameRef::shared("queue", name).unwrap().as_str(), name);
        assert_eq!(NameRef::owner(name).unwrap().as_str(), name);
        assert_eq!(NameRef::key(name).unwrap().as_str(), name);
        let mut engine = engine(1);
        let (queue, owner) = (queue(name).unwrap(), NameRef::owner(name).unwrap());
        let key = NameRef::key(name).unwrap();
        let task = Enqueue { key: Some(key), ..Enqueue::new(queue, blob(name)) };
        let task = Enqueue { writes: vec![Write::Put { key, value: blob(name) }], ..task };
        assert!(engine.enqueue(at(0), task.clone()).unwrap().created);
        assert!(!engine.enqueue(at(0), task).unwrap().created);
        let request = ClaimRequest { queue, owner, max: 1, lease: None };
        assert_eq!(engine.claim(at(0), request).unwrap()[0].last_owner().unwrap().as_str(), name);
        let request = Acquire { name: queue, owner, ttl: Millis::FOREVER, meta: None };
        assert!(engine.acquire(at(0), request).unwrap().is_ok());
        commit(&mut engine);
        assert_verified(&engine);
        let view = engine.view(at(0));
        assert_eq!(view.queues()[0].name.as_str(), name);
        assert_eq!(&*view.value(key).unwrap().unwrap().value, name.as_bytes());
        assert_eq!(view.values("", None, 9).items[0].0.as_str(), name);
        assert_eq!(view.leases("", None, 9).items[0].0.as_str(), name);
    }
}

#[test]
fn names_that_look_alike_are_different_names() {
    check(
        "
        0ms  put e\u{301} one             => version A
        0ms  put \u{e9} two               => version B
        0ms  put \" a\" three             => version C
        0ms  put a four                   => version D
        0ms  value e\u{301}               => one version A
        0ms  value \u{e9}                 => two version B
        0ms  value \" a\"                 => three version C
        0ms  enqueue a:b x key c          => task 1
        0ms  enqueue a x key b:c          => task 2
        0ms  enqueue 00123 x key 123      => task 3
        0ms  enqueue 123 x key 00123      => task 4
    ",
    );
}

#[test]
fn blank_names_are_refused_in_every_position() {
    for name in BLANK {
        assert_eq!(code(NameRef::shared("queue", name)), Code::InvalidName, "{name:?}");
        assert_eq!(code(NameRef::owner(name)), Code::InvalidName, "{name:?}");
        assert_eq!(code(NameRef::key(name)), Code::InvalidName, "{name:?}");
    }
}

#[test]
fn names_end_at_255_bytes_and_keys_at_1024() {
    type Make = for<'a> fn(&'a str) -> Result<NameRef<'a>, Error>;
    let makers: [(Make, usize); 3] = [
        (|text| NameRef::shared("queue", text), 255),
        (|text| NameRef::owner(text), 255),
        (|text| NameRef::key(text), 1_024),
    ];
    for (make, limit) in makers {
        assert!(make(&"x".repeat(limit)).is_ok());
        assert_eq!(code(make(&"x".repeat(limit + 1))), Code::InvalidName);
        assert_eq!(code(make(&"x".repeat(10_000))), Code::InvalidName);
        let wide = "é".repeat(limit / 2);
        assert!(make(&wide).is_ok());
        assert_eq!(code(make(&format!("{wide}é"))), Code::InvalidName);
    }
}

#[test]
fn reserved_names_are_refused_for_all_but_owners() {
    for name in ["__fencepost_", "__fencepost_x", OUTBOX_PREFIX, "__fencepost_lock:x"] {
        assert_eq!(code(NameRef::shared("queue", name)), Code::ReservedName);
        assert_eq!(code(NameRef::key(name)), Code::ReservedName);
        assert!(NameRef::owner(name).is_ok());
    }
    assert!(NameRef::shared("queue", "x__fencepost_").is_ok());
    assert!(NameRef::shared("queue", "__FENCEPOST_x").is_ok());
}

#[test]
fn the_engines_own_families_check_the_part_behind_their_prefix() {
    let family = |prefix, plain: &str| {
        let text = format!("{prefix}{plain}");
        NameRef::of_family("name", prefix, &text).map(|name| name.as_str().to_owned())
    };
    assert_eq!(family(OUTBOX_PREFIX, "mail").unwrap(), "__fencepost_outbox:mail");
    assert!(family(LOCK_PREFIX, &"x".repeat(200)).is_ok());
    assert_eq!(code(family(LOCK_PREFIX, &"x".repeat(201))), Code::InvalidName);
    assert!(family(EFFECT_PREFIX, &"x".repeat(200)).is_ok());
    assert_eq!(code(family(EFFECT_PREFIX, &"x".repeat(201))), Code::InvalidName);
    assert_eq!(code(family(OUTBOX_PREFIX, " ")), Code::InvalidName);
    assert_eq!(code(family(OUTBOX_PREFIX, "__fencepost_x")), Code::ReservedName);
}

#[test]
fn a_refused_name_is_shown_with_its_argument_escaped_and_cut() {
    let error = NameRef::shared("queue", "\u{1b}[2J\n").map(|_| ());
    assert!(error.is_ok(), "control characters are allowed");
    let error = NameRef::shared("queue", &format!("\n{}", "x".repeat(300))).unwrap_err();
    let shown = error.to_string();
    assert!(shown.starts_with("queue: expected at most 255 bytes, got \"\\nxxx"), "{shown}");
    assert!(shown.chars().count() < 120, "{shown}");
    let error = NameRef::key("__fencepost_x").unwrap_err().to_string();
    assert_eq!(
        error,
        "key: names that begin with __fencepost_ are reserved, got \"__fencepost_x\""
    );
}

#[test]
fn payloads_come_back_byte_for_byte() {
    let payloads = ["", "null", "\"\"", "{\"__proto__\":1}", "é😀\0", "[[[]]]"];
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    for payload in payloads {
        engine.enqueue(at(0), Enqueue::new(name, blob(payload))).unwrap();
    }
    let bytes: Vec<u8> = (0..=255).collect();
    engine.enqueue(at(0), Enqueue::new(name, Blob::from(&bytes[..]))).unwrap();
    commit(&mut engine);
    let mut restored = support::engine(2);
    restored.restore(&engine.snapshot().bytes).unwrap();
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: name, owner, max: 9, lease: None };
    let claimed = restored.claim(at(0), request).unwrap();
    let found: Vec<&[u8]> = claimed.iter().map(|task| &*task.spec.payload).collect();
    let mut expected: Vec<&[u8]> = payloads.iter().map(|payload| payload.as_bytes()).collect();
    expected.push(&bytes);
    assert_eq!(found, expected);
}

#[test]
fn sizes_are_refused_one_byte_above_their_limit() {
    let large = |bytes: usize| Blob::from(&vec![b'x'; bytes][..]);
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    let owner = NameRef::owner("w").unwrap();
    let key = NameRef::key("k").unwrap();
    let limit = PAYLOAD_BYTES_DEFAULT;
    assert!(engine.enqueue(at(0), Enqueue::new(name, large(limit))).is_ok());
    commit(&mut engine);
    let request = ClaimRequest { queue: name, owner, max: 1, lease: None };
    let task = engine.claim(at(0), request).unwrap().remove(0);
    let claim = ClaimRef { queue: name, id: task.id, token: task.claim().unwrap().token };
    let too_large = Error::PayloadTooLarge { argument: "payload", size: limit + 1, limit };
    let answer = engine.enqueue(at(0), Enqueue::new(name, large(limit + 1)));
    assert_eq!(answer.unwrap_err(), too_large);
    assert_eq!(too_large.to_string(), "payload: expected at most 1048576 bytes, got 1048577");
    assert_eq!(code(engine.put_value(at(0), key, large(limit + 1))), Code::PayloadTooLarge);
    let completion = Completion {
        claim,
        result: Some(large(limit + 1)),
        follow_ups: Vec::new(),
        writes: Vec::new(),
    };
    assert_eq!(code(engine.complete(at(0), completion)), Code::PayloadTooLarge);
    let progress = Some(large(NOTE_BYTES_MAX + 1));
    let answer = engine.heartbeat(at(0), Heartbeat { claim, extend: None, progress });
    assert_eq!(code(answer), Code::PayloadTooLarge);
    let meta = Some(large(NOTE_BYTES_MAX + 1));
    let answer = engine.acquire(at(0), Acquire { name, owner, ttl: Millis::ZERO, meta });
    assert_eq!(code(answer), Code::PayloadTooLarge);
    let progress = Some(large(NOTE_BYTES_MAX));
    assert!(engine.heartbeat(at(0), Heartbeat { claim, extend: None, progress }).unwrap().is_ok());
}

#[test]
fn too_many_items_are_refused_before_anything_is_made() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    let task = Enqueue::new(name, blob("x"));
    let answer = engine.enqueue_many(at(0), vec![task.clone(); BATCH_ITEMS_MAX + 1]);
    assert_eq!(code(answer), Code::LimitExceeded);
    let claim = ClaimRef { queue: name, id: TaskId::default(), token: Token::default() };
    let answer = engine.complete_many(at(0), &vec![claim; BATCH_ITEMS_MAX + 1]);
    assert_eq!(code(answer), Code::LimitExceeded);
    assert_eq!(engine.complete_many(at(0), &vec![claim; BATCH_ITEMS_MAX]).unwrap(), 0);
    let made = engine.enqueue_many(at(0), vec![task; BATCH_ITEMS_MAX]).unwrap();
    assert_eq!(made.len(), BATCH_ITEMS_MAX);
}

#[test]
fn members_that_fit_and_whose_sum_does_not_are_refused_together() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    let task = Enqueue::new(name, Blob::from(&vec![b'x'; PAYLOAD_BYTES_DEFAULT][..]));
    let small = Enqueue::new(name, blob("small"));
    engine.enqueue(at(0), small.clone()).unwrap();
    let answer = engine.enqueue_many(at(0), vec![task.clone(); 15]);
    assert_eq!(code(answer), Code::LimitExceeded);
    let made = engine.enqueue(at(0), small).unwrap();
    assert_eq!((made.id.get(), made.seq.get()), (2, 2));
    assert!(commit(&mut engine).len() < 1_000);
    assert_eq!(engine.enqueue_many(at(0), vec![task; 14]).unwrap().len(), 14);
    commit(&mut engine);
    assert_verified(&engine);
}

#[test]
fn claims_and_pages_are_cut_to_a_thousand() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    engine.enqueue_many(at(0), vec![Enqueue::new(name, blob("x")); 1_001]).unwrap();
    commit(&mut engine);
    let page = engine.view(at(0)).tasks(name, None, (Way::Up, None), usize::MAX);
    assert_eq!((page.items.len(), page.more), (1_000, true));
    let page = engine.view(at(0)).tasks(name, None, (Way::Up, None), 0);
    assert_eq!((page.items.len(), page.more), (0, false));
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: name, owner, max: usize::MAX, lease: None };
    assert_eq!(engine.claim(at(0), request).unwrap().len(), 1_000);
    assert_eq!(engine.claim(at(0), request).unwrap().len(), 1);
}

#[test]
fn claims_and_pages_end_where_their_bytes_would_not_fit() {
    let mut engine = Engine::new(Options { payload_bytes_max: 8 << 20, ..options(1) });
    let many = queue("many").unwrap();
    let large = Blob::from(&vec![b'x'; 6 << 20][..]);
    for number in 0..5 {
        engine.enqueue(at(0), Enqueue::new(many, large.clone())).unwrap();
        let key = format!("k{number}");
        engine.put_value(at(0), NameRef::key(&key).unwrap(), large.clone()).unwrap();
        commit(&mut engine);
    }
    let view = engine.view(at(0));
    let page = view.tasks(many, None, (Way::Up, None), 5);
    assert_eq!((page.items.len(), page.more), (2, true));
    let page = view.tasks(many, None, (Way::Up, Some(page.items[1].id)), 5);
    assert_eq!((page.items.len(), page.more), (2, true));
    let page = view.tasks(many, None, (Way::Up, Some(page.items[1].id)), 5);
    assert_eq!((page.items.len(), page.more), (1, false));
    let page = view.values("k", Some("k2"), 2);
    assert_eq!((page.items.len(), page.more), (2, false));
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: many, owner, max: 5, lease: None };
    let served: Vec<usize> = (0..4).map(|_| engine.claim(at(0), request).unwrap().len()).collect();
    assert_eq!(served, [2, 2, 1, 0]);
    commit(&mut engine);
    assert_verified(&engine);
}

#[test]
fn a_long_error_text_is_cut_on_a_character_boundary() {
    let mut engine = engine(1);
    let name = queue("mail").unwrap();
    let made = engine.enqueue(at(0), Enqueue::new(name, blob("x"))).unwrap();
    let owner = NameRef::owner("w").unwrap();
    let request = ClaimRequest { queue: name, owner, max: 1, lease: None };
    let token = engine.claim(at(0), request).unwrap()[0].claim().unwrap().token;
    let text = format!("x{}", "é".repeat(TEXT_BYTES_MAX));
    let failure = Failure {
        claim: ClaimRef { queue: name, id: made.id, token },
        text: Some(&text),
        delay: None,
        is_final: true,
        writes: Vec::new(),
    };
    engine.fail(at(0), failure).unwrap().unwrap();
    commit(&mut engine);
    let kept = engine.view(at(0)).task(name, made.id).unwrap().unwrap().last_error.clone().unwrap();
    assert_eq!(kept.len(), TEXT_BYTES_MAX - 1);
    assert!(text.starts_with(&*kept));
}

#[test]
fn numbers_end_at_two_to_the_53_minus_one() {
    let above = SAFE_MAX + 1;
    assert!(TaskId::try_from(SAFE_MAX).is_ok() && TaskId::try_from(above).is_err());
    assert!(Seq::try_from(SAFE_MAX).is_ok() && Seq::try_from(above).is_err());
    assert!(Token::try_from(SAFE_MAX).is_ok() && Token::try_from(u64::MAX).is_err());
    assert!(Version::try_from(SAFE_MAX).is_ok() && Version::try_from(above).is_err());
    assert!(Instant::try_from(SAFE_MAX).is_ok() && Instant::try_from(above).is_err());
    assert!(Millis::try_from(SAFE_MAX).is_ok() && Millis::try_from(above).is_err());
    let safe = i64::try_from(SAFE_MAX).unwrap();
    for priority in [safe, -safe, 0] {
        assert_eq!(Priority::try_from(priority).unwrap().get(), priority);
    }
    for priority in [safe + 1, -safe - 1, i64::MAX, i64::MIN] {
        assert!(Priority::try_from(priority).is_err());
    }
    assert_eq!(TaskId::saturating(SAFE_MAX).next(), None);
    assert_eq!(Instant::saturating(SAFE_MAX - 1).after(Millis::FOREVER), Instant::NEVER);
}

#[test]
fn sums_of_instants_and_durations_stop_at_the_end_of_time() {
    check(
        "
        0ms   enqueue mail a delay forever    => task 1
        0ms   enqueue mail b expires forever lease forever => task 2
        0ms   get 1 due state                 => forever scheduled
        0ms   get 2 expires                   => -
        0ms   claim mail as w max 2           => task 2, token A
        0ms   get 2 deadline                  => forever
        0ms   explain 2                       => inflight claimed
        0ms   heartbeat 2 token A extend forever => until forever
        9999d heartbeat 2 token A             => until forever
        9999d fail 2 token A delay forever    => scheduled forever
        9999d claim mail as w                 => nothing
        9999d acquire l as w for forever      => token L, until forever
    ",
    );
}

#[test]
fn used_up_tokens_and_ids_are_an_error_and_change_nothing() {
    let mut origin = engine(1);
    let name = queue("mail").unwrap();
    let owner = NameRef::owner("w").unwrap();
    origin.enqueue(at(0), Enqueue::new(name, blob("x"))).unwrap();
    let bytes = commit(&mut origin);
    let (mut entry, _) = fencepost::codec::decode_entry(&bytes).unwrap();
    entry.body.counters.token = Token::saturating(SAFE_MAX);
    entry.body.counters.task_id = TaskId::saturating(SAFE_MAX);
    let mut engine = engine(2);
    engine.merge(&support::seal(&entry)).unwrap();
    let rows = engine.state().rows();
    let request = ClaimRequest { queue: name, owner, max: 1, lease: None };
    assert_eq!(code(engine.claim(at(0), request)), Code::LimitExceeded);
    let request = Acquire { name, owner, ttl: Millis::ZERO, meta: None };
    assert_eq!(code(engine.acquire(at(0), request)), Code::LimitExceeded);
    let answer = engine.enqueue(at(0), Enqueue::new(name, blob("x")));
    assert_eq!(code(answer), Code::LimitExceeded);
    assert!(engine.seal().unwrap().is_none());
    assert_eq!(engine.state().rows(), rows);
}

#[test]
fn a_name_is_compared_by_its_bytes() {
    let name = |text| -> Name { NameRef::key(text).unwrap().to_name() };
    let mut names = ["é", "z", "Z", "a", "e\u{301}", "😀"].map(name);
    names.sort();
    let sorted: Vec<&str> = names.iter().map(Name::as_str).collect();
    assert_eq!(sorted, ["Z", "a", "e\u{301}", "z", "é", "😀"]);
}
