//! Rows by idempotency key, against a plain map, with hashes that collide all the time.

use fencepost::keys::Keys;
use fencepost::name::NameRef;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// Two bits of a hash: the length of what was hashed.
#[derive(Clone, Debug, Default)]
struct Colliding(u64);

impl Hasher for Colliding {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.len() as u64 % 4;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(String, u32),
    Remove(String),
}

fn step() -> impl Strategy<Value = Step> {
    let key = "[a-e]{1,3}";
    prop_oneof![
        3 => (key, any::<u32>()).prop_map(|(key, row)| Step::Insert(key, row)),
        2 => key.prop_map(Step::Remove),
    ]
}

proptest! {
    #[test]
    fn keys_of_one_hash_are_told_apart_whatever_comes_and_goes(
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut keys = Keys::<u32, Colliding>::default();
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(key, row) => {
                    let name = NameRef::key(&key).expect("a plain key").to_name();
                    prop_assert_eq!(keys.insert(name, row), model.insert(key, row));
                }
                Step::Remove(key) => prop_assert_eq!(keys.remove(&key), model.remove(&key)),
            }
            prop_assert_eq!(keys.iter().len(), model.len());
            for (key, row) in &model {
                prop_assert_eq!(keys.get(key), Some(row));
            }
        }
        prop_assert_eq!(keys.get("never there"), None);
    }
}

#[test]
fn tables_are_equal_by_their_rows_whatever_came_first() {
    let of = |rows: &[(&str, u32)]| {
        let mut keys = Keys::<u32, Colliding>::default();
        for (key, row) in rows {
            keys.insert(NameRef::key(key).expect("a plain key").to_name(), *row);
        }
        keys
    };
    assert_eq!(
        of(&[("one", 1), ("two", 2), ("six", 6)]),
        of(&[("six", 6), ("two", 2), ("one", 1)])
    );
    assert_ne!(of(&[("one", 1), ("two", 2)]), of(&[("one", 1), ("six", 2)]));
    assert_ne!(of(&[("one", 1), ("two", 2)]), of(&[("one", 1)]));
}
