//! The border to JavaScript, from the far side: requests packed by hand, replies read by hand.
#![cfg(target_arch = "wasm32")]

use fencepost::wasm::Core;
use js_sys::Reflect;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const NOW: f64 = 1_000_000_000_000.0;
const ABSENT: f64 = f64::NAN;
const REFUSED: i32 = -1;
const FAILED: i32 = -2;

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

    /// Puts it into the scratch region and tells its size.
    fn put(self, core: &mut Core) -> u32 {
        core.put_request(&self.0);
        self.0.len() as u32
    }
}

fn core() -> Core {
    Core::new("test", Some(1), Some(1.0), None).expect("the arguments are right")
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

fn number_at(core: &Core, position: usize) -> f64 {
    let bytes = core.reply_bytes()[position..position + 8].try_into().expect("eight bytes");
    f64::from_le_bytes(bytes)
}

fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).expect("an object")
}

#[wasm_bindgen_test]
fn a_task_goes_through_the_border_and_back() {
    let mut core = core();
    let size = enqueue("mail", 0.0).put(&mut core);
    assert!(core.queue_enqueue(size, NOW, 0) > 0);
    assert_eq!(number_at(&core, 0), 1.0, "the first id");

    let claim = Request::default().name(0, "mail").name(5, "worker").numbers(&[1.0, ABSENT]);
    let size = claim.put(&mut core);
    assert!(core.queue_claim(size, NOW, 0) > 0);
    assert_eq!(number_at(&core, 4), 1.0, "the id, behind the record's length");
    let token = number_at(&core, 4 + 6 * 8);
    assert!(token >= NOW * 1_000.0, "tokens follow the clock");

    let complete = |token: f64| {
        let claim = Request::default().name(0, "mail").numbers(&[1.0, token]).bytes(None);
        claim.raw(&0_u32.to_le_bytes()).raw(&0_u32.to_le_bytes())
    };
    let size = complete(token - 1.0).put(&mut core);
    assert_eq!(core.queue_complete(size, NOW, 0), REFUSED);
    assert_eq!(field(&core.take_answer(), "reason"), JsValue::from("fenced"));
    let size = complete(token).put(&mut core);
    assert_eq!(core.queue_complete(size, NOW, 0), 0);

    assert!(core.take_entry() > 0);
    core.merge_sealed().expect("an entry was taken");
    assert_eq!(core.slot(), 1.0);
}

#[wasm_bindgen_test]
fn an_entry_of_one_engine_is_merged_by_another() {
    let (mut one, mut other) = (core(), core());
    let size = enqueue("mail", 0.0).put(&mut one);
    assert!(one.queue_enqueue(size, NOW, 0) > 0);
    assert!(one.take_entry() > 0);
    let entry = one.reply_bytes().to_vec();
    one.merge_sealed().expect("an entry was taken");
    other.merge(&entry).expect("it follows");
    assert_eq!(one.rows_hash(), other.rows_hash());
    assert_eq!(one.tag(), other.tag());
}

#[wasm_bindgen_test]
fn an_error_is_an_object_with_code_kind_and_details() {
    let mut core = core();
    let size = enqueue("mail", 1.5).put(&mut core);
    assert_eq!(core.queue_enqueue(size, NOW, 0), FAILED);
    let error = core.take_answer();
    assert_eq!(field(&error, "code"), JsValue::from("INVALID_ARGUMENT"));
    assert_eq!(field(&error, "kind"), JsValue::from("invalid"));
    assert_eq!(field(&field(&error, "details"), "argument"), JsValue::from("priority"));
    assert!(core.take_answer().is_undefined(), "an answer is taken once");
}

#[wasm_bindgen_test]
fn a_request_that_is_cut_anywhere_is_refused_and_changes_nothing() {
    let mut core = core();
    let whole = enqueue("mail", 0.0).0;
    for size in 0..whole.len() {
        core.put_request(&whole);
        assert_eq!(core.queue_enqueue(size as u32, NOW, 0), FAILED, "cut at {size}");
    }
    core.discard();
    assert_eq!(core.take_entry(), 0, "nothing was staged");
}

#[wasm_bindgen_test]
fn a_broken_clock_or_name_is_refused_by_name() {
    let mut core = core();
    for now in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
        let size = enqueue("mail", 0.0).put(&mut core);
        assert_eq!(core.queue_enqueue(size, now, 0), FAILED);
        let details = field(&core.take_answer(), "details");
        assert_eq!(field(&details, "argument"), JsValue::from("now"));
    }
    let error = Core::check_name("queue", 0, "__fencepost_x").expect_err("it is reserved");
    assert_eq!(field(&error, "code"), JsValue::from("RESERVED_NAME"));
}
