//! The border to JavaScript, from the far side: requests packed by hand, replies read by hand.
#![cfg(target_arch = "wasm32")]

use fencepost::wasm::{Core, Operation};
use wasm_bindgen_test::wasm_bindgen_test;

const NOW: f64 = 1_000_000_000_000.0;
const ABSENT: f64 = f64::NAN;

/// A request as `pkg/src/packing.ts` packs it.
#[derive(Default)]
struct Request(Vec<u8>);

impl Request {
    fn name(mut self, family: u8, text: &str) -> Self {
        self.0.push(family);
        self.bytes(Some(text.as_bytes()))
    }

    fn bytes(mut self, bytes: Option<&[u8]>) -> Self {
        let size = bytes.map_or(u32::MAX, |bytes| bytes.len() as u32);
        self.0.extend_from_slice(&size.to_le_bytes());
        self.0.extend_from_slice(bytes.unwrap_or_default());
        self
    }

    fn absent_name(mut self) -> Self {
        self.0.push(0);
        self.bytes(None)
    }

    fn numbers(mut self, numbers: &[f64]) -> Self {
        numbers.iter().for_each(|number| self.0.extend_from_slice(&number.to_le_bytes()));
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Runs an operation on it and tells the size of the reply; negative: refused or failed.
    fn call(self, core: &mut Core, operation: Operation, now: f64) -> i32 {
        core.put_request(&self.0);
        core.call(operation as u32, self.0.len() as u32, now, 0)
    }
}

fn core() -> Core {
    let mut core = Core::new();
    let start = Request::default().name(0, "test").raw(&1_u64.to_le_bytes());
    let start = start.numbers(&[1.0, ABSENT, ABSENT]);
    assert_eq!(start.call(&mut core, Operation::Start, NOW), 0);
    core
}

fn enqueue(queue: &str, priority: f64) -> Request {
    Request::default()
        .name(0, queue)
        .bytes(Some(b"payload"))
        .absent_name()
        .absent_name()
        .numbers(&[priority, ABSENT, ABSENT, ABSENT])
        .numbers(&[ABSENT, ABSENT, ABSENT, ABSENT])
        .raw(&[0])
        .numbers(&[ABSENT, ABSENT, ABSENT])
        .raw(&0_u32.to_le_bytes())
}

fn call(core: &mut Core, operation: Operation) -> i32 {
    Request::default().call(core, operation, NOW)
}

fn number_at(core: &Core, position: usize) -> f64 {
    let bytes = core.reply_bytes()[position..position + 8].try_into().expect("eight bytes");
    f64::from_le_bytes(bytes)
}

/// The texts at the start of a reply; `None` is absent.
fn texts(core: &Core, count: usize) -> Vec<Option<String>> {
    let mut rest = core.reply_bytes();
    let mut text = || {
        let (size, behind) = rest.split_first_chunk::<4>().expect("a size");
        let size = u32::from_le_bytes(*size);
        let (text, behind) = behind.split_at(if size == u32::MAX { 0 } else { size as usize });
        rest = behind;
        (size < u32::MAX).then(|| String::from_utf8(text.to_vec()).expect("a text"))
    };
    (0..count).map(|_| text()).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Version, slot and time, whether the entry is full, the tag and the name.
fn head(core: &mut Core) -> Vec<u8> {
    assert!(call(core, Operation::Head) > 0);
    core.reply_bytes().to_vec()
}

fn rows_hash(core: &mut Core) -> Vec<Option<String>> {
    assert!(call(core, Operation::RowsHash) > 0);
    texts(core, 1)
}

#[wasm_bindgen_test]
fn a_task_goes_through_the_border_and_back() {
    let mut core = core();
    assert!(enqueue("mail", 0.0).call(&mut core, Operation::QueueEnqueue, NOW) > 0);
    assert_eq!(number_at(&core, 0), 1.0, "the first id");

    let claim = Request::default().name(0, "mail").name(5, "worker").numbers(&[1.0, ABSENT]);
    assert!(claim.call(&mut core, Operation::QueueClaim, NOW) > 0);
    assert_eq!(number_at(&core, 4), 1.0, "the id, behind the record's length");
    let token = number_at(&core, 4 + 6 * 8);
    assert!(token >= NOW * 1_000.0, "tokens follow the clock");

    let complete = |token: f64| {
        let claim = Request::default().name(0, "mail").numbers(&[1.0, token]).bytes(None);
        claim.raw(&0_u32.to_le_bytes()).raw(&0_u32.to_le_bytes())
    };
    assert!(complete(token - 1.0).call(&mut core, Operation::QueueComplete, NOW) < 0);
    assert_eq!(texts(&core, 2), [None, some("fenced")], "no code, a reason");
    assert_eq!(complete(token).call(&mut core, Operation::QueueComplete, NOW), 0);

    assert!(call(&mut core, Operation::TakeEntry) > 0);
    assert_eq!(call(&mut core, Operation::MergeSealed), 0);
    head(&mut core);
    assert_eq!(number_at(&core, 8), 1.0, "the slot");
}

#[wasm_bindgen_test]
fn an_entry_of_one_engine_is_merged_by_another() {
    let (mut one, mut other) = (core(), core());
    assert!(enqueue("mail", 0.0).call(&mut one, Operation::QueueEnqueue, NOW) > 0);
    assert!(call(&mut one, Operation::TakeEntry) > 0);
    let entry = Request::default().raw(one.bytes_beside());
    assert_eq!(call(&mut one, Operation::MergeSealed), 0);
    assert_eq!(entry.call(&mut other, Operation::Merge, NOW), 0);
    assert_eq!(rows_hash(&mut one), rows_hash(&mut other));
    assert_eq!(head(&mut one), head(&mut other));
}

#[wasm_bindgen_test]
fn an_error_has_a_code_a_message_and_details() {
    let mut core = core();
    let failed = enqueue("mail", 1.5).call(&mut core, Operation::QueueEnqueue, NOW);
    assert_eq!(failed, -(core.reply_bytes().len() as i32));
    let code = "INVALID_ARGUMENT";
    let expected = "a whole number between -(2^53 - 1) and 2^53 - 1";
    let message = format!("priority: expected {expected}, got ");
    let reply = Request::default().bytes(Some(code.as_bytes())).bytes(Some(message.as_bytes()));
    let reply = reply.raw(&[1]).numbers(&[1.5]);
    let reply = reply.bytes(Some(b"argument")).raw(&[1]).bytes(Some(b"priority"));
    assert_eq!(core.reply_bytes(), reply.0, "the number that is wrong, then the details");
}

#[wasm_bindgen_test]
fn a_request_that_is_cut_anywhere_is_refused_and_changes_nothing() {
    let mut core = core();
    let whole = enqueue("mail", 0.0).0;
    for size in 0..whole.len() {
        core.put_request(&whole);
        let answer = core.call(Operation::QueueEnqueue as u32, size as u32, NOW, 0);
        assert!(answer < 0, "cut at {size}");
    }
    assert_eq!(call(&mut core, Operation::Discard), 0);
    assert_eq!(call(&mut core, Operation::TakeEntry), 0, "nothing was staged");
}

#[wasm_bindgen_test]
fn a_state_without_a_name_is_refused_and_not_taken_for_every_state() {
    let mut core = core();
    for state in [5.0, 4_294_967_300.0] {
        let purge = Request::default().name(0, "mail").numbers(&[state]).raw(&[0]);
        assert!(purge.call(&mut core, Operation::QueuePurge, NOW) < 0);
        let message = texts(&core, 2).pop().flatten();
        assert_eq!(message, some("state: expected the number of a state, got "));
    }
}

#[wasm_bindgen_test]
fn a_broken_clock_name_or_operation_is_refused_by_name() {
    let mut core = core();
    for now in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert!(enqueue("mail", 0.0).call(&mut core, Operation::QueueEnqueue, now) < 0);
        let message = texts(&core, 2).pop().flatten().expect("a message");
        assert!(message.starts_with("now: "), "{message}");
    }
    let name = Request::default().raw(&[0]).name(0, "__fencepost_x");
    assert!(name.call(&mut core, Operation::CheckName, NOW) < 0);
    assert_eq!(texts(&core, 1), [some("RESERVED_NAME")]);
    assert!(core.call(u32::MAX, 0, NOW, 0) < 0);
    let message = texts(&core, 2).pop().flatten();
    assert_eq!(message, some("operation: expected the number of an operation, got "));
}

/// Every step is a new buffer to JavaScript, of the whole size, and brings a collection nearer. Its
/// limit is below what the allocator's sums can pass: beyond, what is at the end of all addresses
/// would be taken for something among the rows.
#[wasm_bindgen_test]
fn memory_grows_by_an_eighth_and_stays_as_it_was_written_up_to_its_limit() {
    let pages = || core::arch::wasm32::memory_size::<0>();
    let mut steps = vec![pages()];
    let mut rows = Vec::new();
    while rows.len() < 40_000 {
        rows.push(vec![rows.len() as u8; 1_000]);
        if steps.last() != Some(&pages()) {
            steps.push(pages());
        }
    }
    assert!(steps.len() > 3, "{steps:?}");
    for step in steps.windows(2) {
        assert!(step[1] - step[0] >= (step[0] / 8).max(16), "{steps:?}");
    }

    let limit = 2_usize << 30;
    let reserves = |size: usize| {
        let mut block: Vec<u8> = Vec::new();
        block.try_reserve_exact(size).is_ok().then_some(block)
    };
    // From large to small, so that it is full to the last pages.
    let mut full = Vec::with_capacity(64);
    let mut size = limit - 1;
    while size >= 64 << 10 {
        match reserves(size) {
            Some(block) => full.push(block),
            None => size /= 2,
        }
    }
    let bytes = pages() << 16;
    assert!(bytes > limit - (1 << 20) && bytes < limit, "{bytes} bytes");
    for shift in 17..31 {
        let sizes = [1_usize << shift, (1 << shift) + (63 << 10), limit - (1 << shift)];
        assert!(sizes.into_iter().all(|size| reserves(size).is_none()), "{sizes:?} bytes more");
    }
    for (number, row) in rows.iter().enumerate() {
        assert!(row.iter().all(|&byte| byte == number as u8), "row {number}");
    }
}
