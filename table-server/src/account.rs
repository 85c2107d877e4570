//! An account: a name, a key, an engine, and what belongs to the account but not to a table.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use table_core::{Engine, Result, TableName};
use table_wire::ServiceProperties;
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};
use table_wire::sas::{Authority, StoredAccessPolicy};

use crate::traffic::{Throttle, Traffic};

/// An account and the engine that holds its tables and queues.
#[derive(Debug)]
pub struct Account {
    pub(crate) key: AccountKey,
    pub(crate) engine: Engine,
    pub(crate) authority: Authority,
    pub(crate) traffic: Traffic,
    policies: Mutex<BTreeMap<String, Vec<StoredAccessPolicy>>>,
    /// Of tables, and of queues.
    properties: Mutex<[ServiceProperties; 2]>,
}

impl Account {
    /// An account of this name and key.
    #[must_use]
    pub fn new(key: AccountKey, engine: Engine) -> Self {
        let authority = Authority::new(key.clone());
        Self {
            key,
            engine,
            authority,
            traffic: Traffic::default(),
            policies: Mutex::default(),
            properties: Mutex::default(),
        }
    }

    /// The emulator's account, with the key that every client knows (AUTH-30).
    ///
    /// # Errors
    /// None: the key is well formed.
    pub fn emulator(engine: Engine) -> Result<Self> {
        Ok(Self::new(AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY)?, engine))
    }

    /// The same, held to the targets of the service (SCL-3).
    #[must_use]
    pub fn throttled(mut self, throttle: Throttle) -> Self {
        self.traffic.throttle = Some(throttle);
        self
    }

    /// The account's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.account()
    }

    pub(crate) fn policies(&self, table: &TableName) -> Vec<StoredAccessPolicy> {
        lock(&self.policies).get(table.folded()).cloned().unwrap_or_default()
    }

    /// # Errors
    /// Those of [`StoredAccessPolicy::check`].
    pub(crate) fn set_policies(&self, table: &TableName, policies: Vec<StoredAccessPolicy>) -> Result<()> {
        let mut all = lock(&self.policies);
        self.authority.set_policies(table, policies.clone())?;
        all.insert(table.folded().to_owned(), policies);
        Ok(())
    }

    pub(crate) fn properties(&self, of: Service) -> ServiceProperties {
        let [tables, queues] = &*lock(&self.properties);
        if of == Service::Tables { tables.clone() } else { queues.clone() }
    }

    /// What the document does not name stays as it is.
    pub(crate) fn set_properties(&self, of: Service, new: ServiceProperties) {
        let [tables, queues] = &mut *lock(&self.properties);
        let own = if of == Service::Tables { tables } else { queues };
        own.logging = new.logging.or(own.logging.take());
        own.hour_metrics = new.hour_metrics.or(own.hour_metrics.take());
        own.minute_metrics = new.minute_metrics.or(own.minute_metrics.take());
        own.cors = new.cors.or(own.cors.take());
    }
}

/// What a port serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Queues,
    Blobs,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
