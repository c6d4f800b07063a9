//! Leases, values and guards.

use super::{DAY, Lease, Model, Reply, Value, sum};
use crate::support::operation::{GuardWish, WriteWish};

impl Lease {
    /// Nobody has held it for a day.
    pub fn is_gone(&self, now: u64) -> bool {
        let free_since = self.held.map_or_else(|at| at, |(_, until)| until);
        sum(free_since, DAY) <= now
    }

    pub fn is_held(&self, now: u64) -> bool {
        matches!(self.held, Ok((_, until)) if now < until)
    }
}

/// Leases.
impl Model {
    pub fn lease(&self, name: &str) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.name == name && !lease.is_gone(self.now))
    }

    fn put_lease(&mut self, lease: Lease) {
        self.changed = true;
        self.leases.retain(|other| other.name != lease.name);
        self.leases.push(lease);
    }

    pub fn acquire(
        &mut self,
        name: &'static str,
        owner: &'static str,
        ttl: u64,
        meta: Option<&'static str>,
    ) -> Reply {
        let now = self.now;
        let old = self.lease(name).cloned();
        if let Some(Lease { held: Ok((holder, until)), .. }) = old
            && now < until
            && holder != owner
        {
            return Reply::Refused(format!("held by {holder} until {until}"));
        }
        let token = self.take_token();
        let meta = meta.or(old.and_then(|old| old.meta));
        let until = sum(now, ttl);
        self.put_lease(Lease {
            name,
            token,
            acquired_at: now,
            ttl,
            meta,
            held: Ok((owner, until)),
        });
        Reply::Granted { token, until, meta }
    }

    fn require_unreleased(&self, name: &str, token: u64) -> Result<Lease, &'static str> {
        let lease = self.lease(name).ok_or("gone")?;
        match lease.held {
            _ if lease.token != token => Err("fenced"),
            Err(_) => Err("released"),
            Ok(_) => Ok(lease.clone()),
        }
    }

    pub fn require_lease(&self, name: &str, token: u64) -> Result<(), &'static str> {
        match self.require_unreleased(name, token)?.is_held(self.now) {
            true => Ok(()),
            false => Err("expired"),
        }
    }

    pub fn renew(
        &mut self,
        name: &str,
        token: u64,
        ttl: Option<u64>,
        meta: Option<&'static str>,
    ) -> Reply {
        let lease = match self.require_unreleased(name, token) {
            Ok(lease) => lease,
            Err(reason) => return Reply::Refused(reason.to_owned()),
        };
        let ttl = ttl.unwrap_or(lease.ttl);
        let until = sum(self.now, ttl);
        let held = lease.held.map(|(owner, _)| (owner, until));
        self.put_lease(Lease { ttl, meta: meta.or(lease.meta), held, ..lease });
        Reply::Until(until)
    }

    pub fn give_back(&mut self, name: &str, token: u64) -> Reply {
        let Ok(lease) = self.require_unreleased(name, token) else {
            return Reply::Flag(false);
        };
        self.put_lease(Lease { held: Err(self.now), ..lease });
        Reply::Flag(true)
    }

    pub fn guarded_commit(&mut self, name: &str, token: u64, writes: &[WriteWish]) -> Reply {
        if let Err(reason) = self.require_lease(name, token) {
            return Reply::Refused(reason.to_owned());
        }
        if let Some(check) = self.failing_check(writes) {
            return Reply::Refused(check);
        }
        self.write(writes);
        Reply::Ok
    }
}

/// Values.
impl Model {
    /// What checks see: the state before the transaction, or before the command.
    fn version_before(&self, key: &str) -> Option<u64> {
        self.before.iter().find(|value| value.key == key).map(|value| value.version)
    }

    /// The refusal of the first check that does not hold.
    pub fn failing_check(&self, writes: &[WriteWish]) -> Option<String> {
        writes.iter().find_map(|write| match write {
            WriteWish::Check(key, expected) => {
                let actual = self.version_before(key);
                (actual != *expected).then(|| format!("changed {key} {expected:?} {actual:?}"))
            }
            _ => None,
        })
    }

    pub fn write(&mut self, writes: &[WriteWish]) {
        for write in writes {
            match write {
                WriteWish::Put(key, value) => {
                    self.put(key, value);
                }
                WriteWish::Delete(key) => {
                    self.delete(key);
                }
                WriteWish::Check(..) => {}
            }
        }
    }

    pub fn put(&mut self, key: &'static str, value: &'static str) -> Reply {
        self.changed = true;
        let version = self.version + 1;
        self.values.retain(|other| other.key != key);
        self.values.push(Value { key, value, version });
        Reply::Version(version)
    }

    pub fn delete(&mut self, key: &str) -> Reply {
        let values = self.values.len();
        self.values.retain(|other| other.key != key);
        let did = values != self.values.len();
        self.changed |= did;
        Reply::Flag(did)
    }

    pub fn require(&self, guard: GuardWish) -> Reply {
        let refused = |held: Result<(), &'static str>| match held {
            Ok(()) => Reply::Ok,
            Err(reason) => Reply::Refused(reason.to_owned()),
        };
        match guard {
            GuardWish::Claim(claim) => refused(self.require_claim(claim).map(|_| ())),
            GuardWish::Lease(name, token) => refused(self.require_lease(name, token)),
            GuardWish::Version(key, version) => {
                let check = [WriteWish::Check(key, version)];
                self.failing_check(&check).map_or(Reply::Ok, Reply::Refused)
            }
        }
    }
}
