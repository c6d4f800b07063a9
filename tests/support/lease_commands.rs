//! The commands on leases, values and guards.

use super::answer::Answer;
use super::command::{Stage, WriteWords, blob, millis, outcome, queue};
use super::words::Words;
use fencepost::error::Error;
use fencepost::name::NameRef;
use fencepost::ops::{Acquire, ClaimRef, Guard, Renew, transactional};

/// Leases.
impl Stage<'_> {
    /// `acquire NAME as OWNER for D [meta TEXT]`
    pub fn acquire(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the lease");
        words.expect("as");
        let owner = words.take("the owner");
        words.expect("for");
        let ttl = millis(words, "the duration");
        let meta = words.accept("meta").then(|| blob(&words.take("the metadata")));
        let (name, owner) = (lease(&name)?, NameRef::owner(&owner)?);
        let granted = self.engine.acquire(self.at, Acquire { name, owner, ttl, meta })?;
        outcome(granted, |grant| {
            Answer::text("token").and_token(grant.token).and("until").and_at(grant.until)
        })
    }

    /// `renew NAME token T [for D] [meta TEXT]`
    pub fn renew(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the lease");
        let token = self.token(words);
        let ttl = words.accept("for").then(|| millis(words, "the duration"));
        let meta = words.accept("meta").then(|| blob(&words.take("the metadata")));
        let renewed =
            self.engine.renew(self.at, Renew { name: lease(&name)?, token, ttl, meta })?;
        outcome(renewed, |until| Answer::text("until").and_at(until))
    }

    pub fn give_back(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the lease");
        let token = self.token(words);
        let did = self.engine.release_lease(self.at, lease(&name)?, token)?;
        Ok(Answer::text(if did { "released" } else { "nothing" }))
    }

    /// `guard NAME token T [writes]`
    pub fn guarded_commit(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the lease");
        let token = self.token(words);
        let mut writes = WriteWords::default();
        while let Some(option) = words.next() {
            if !writes.accept(&option, self, words) {
                words.unknown(&option);
            }
        }
        let (name, writes) = (lease(&name)?, writes.writes()?);
        let committed = self.engine.guarded_commit(self.at, name, token, writes)?;
        outcome(committed, |()| Answer::text("ok"))
    }
}

/// Values.
impl Stage<'_> {
    pub fn put(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (key, value) = (words.take("the key"), words.take("the value"));
        let version = self.engine.put_value(self.at, NameRef::key(&key)?, blob(&value))?;
        Ok(Answer::text("version").and_version(version))
    }

    pub fn delete(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let key = words.take("the key");
        let did = self.engine.delete_value(self.at, NameRef::key(&key)?)?;
        Ok(Answer::text(if did { "deleted" } else { "nothing" }))
    }

    /// A read inside a transaction.
    pub fn peek(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let key = words.take("the key");
        let seen = |value: &[u8]| Answer::text(String::from_utf8_lossy(value));
        self.engine.peek(self.at, |txn| {
            let found = transactional::value(txn, NameRef::key(&key)?)?;
            Ok(found.map_or(Answer::text("nothing"), |found| seen(&found.value)))
        })
    }
}

/// Guards by themselves.
impl Stage<'_> {
    pub fn check(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let key = words.take("the key");
        let version = self.version(words);
        self.require(Guard::Version { key: NameRef::key(&key)?, version })
    }

    pub fn require_task(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        self.require(Guard::Claim(ClaimRef { queue: queue(&name)?, id, token }))
    }

    pub fn require_lease(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the lease");
        let token = self.token(words);
        self.require(Guard::Lease { name: lease(&name)?, token })
    }

    fn require(&mut self, guard: Guard<'_>) -> Result<Answer, Error> {
        let held = self.engine.require(self.at, guard)?;
        outcome(held, |()| Answer::text("ok"))
    }
}

pub fn lease(name: &str) -> Result<NameRef<'_>, Error> {
    NameRef::shared("lease", name)
}
