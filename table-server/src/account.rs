//! Accounts, each with a name, a key, an engine and settings.

use table_core::{Engine, QueueName, QueueStore, Result, TableName, TableStore};
use table_inspect::load::PartitionLoad;
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};
use table_wire::sas::{QueuePermissions, SasVerifier, StoredAccessPolicy};
use table_wire::{ServiceProperties, acl};
use tokio::sync::MutexGuard;

use crate::cors::Cors;
use crate::service::Service;
use crate::settings::{Kind, Settings};
use crate::traffic::{Throttle, Traffic};

/// An account, and the engine that stores its tables and queues.
#[derive(Debug)]
pub struct Account {
    pub(crate) key: AccountKey,
    pub(crate) engine: Engine,
    pub(crate) authority: SasVerifier,
    pub(crate) traffic: Traffic,
    pub(crate) settings: Settings,
    pub(crate) cors: Cors,
    pub(crate) is_resettable: bool,
}

impl Account {
    /// Creates an account with the given key.
    #[must_use]
    pub fn new(key: AccountKey, engine: Engine) -> Self {
        let authority = SasVerifier::new(key.clone());
        let settings = Settings::new(&engine);
        if let Some(exclusive) = &engine.capabilities().exclusive {
            exclusive.share();
        }
        Self {
            key,
            engine,
            authority,
            traffic: Traffic::default(),
            settings,
            cors: Cors::default(),
            is_resettable: false,
        }
    }

    /// Creates the emulator's account, whose key is published in Microsoft's documentation (AUTH-30).
    ///
    /// # Errors
    /// Returns no error in practice, because the key is valid.
    pub fn emulator(engine: Engine) -> Result<Self> {
        Ok(Self::new(AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY)?, engine))
    }

    /// Limits the account to the service's scalability targets (SCL-3).
    #[must_use]
    pub fn throttled(mut self, throttle: Throttle) -> Self {
        self.traffic.throttle = Some(throttle);
        self
    }

    /// Lets `POST /reset` at the address [`Config::observe`](crate::Config::observe) delete all tables, queues and settings of the account, for example
    /// between test runs.
    #[must_use]
    pub fn resettable(mut self) -> Self {
        self.is_resettable = true;
        self
    }

    /// Returns the request counts of the busiest partitions. They are updated while the account is served. A queue is counted as a partition of a table
    /// whose name is empty.
    #[must_use]
    pub fn partition_load(&self) -> PartitionLoad {
        self.traffic.load.clone()
    }

    /// Returns the name of the account.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.account()
    }

    /// Reads the settings that the engine stores.
    ///
    /// # Errors
    /// `Io`, `Corrupted` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn load(&self) -> Result<()> {
        self.settings.load().await?;
        for name in self.settings.names(Kind::TablePolicies) {
            let table = TableName::new(&name)?;
            self.authority.set_policies(&table, self.policies(&table))?;
        }
        for service in [Service::Tables, Service::Queues] {
            self.cors.set(service, &self.properties(service).cors.unwrap_or_default());
        }
        Ok(())
    }

    pub(crate) fn policies(&self, table: &TableName) -> Vec<StoredAccessPolicy> {
        let text = self.settings.get(Kind::TablePolicies, table.folded());
        text.and_then(|text| acl::read(&text)).unwrap_or_default()
    }

    /// Sets the stored access policies of a table. The caller must hold the lock for setting changes.
    ///
    /// # Errors
    /// `InvalidInput` if [`StoredAccessPolicy::check`] rejects the policies. `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set_policies(
        &self,
        _turn: &MutexGuard<'_, ()>,
        table: &TableName,
        policies: Vec<StoredAccessPolicy>,
    ) -> Result<()> {
        StoredAccessPolicy::check(&policies)?;
        let text = (!policies.is_empty()).then(|| acl::write(&policies));
        self.settings.set(Kind::TablePolicies, table.folded(), text).await?;
        self.authority.set_policies(table, policies)
    }

    pub(crate) fn queue_policies(&self, queue: &QueueName) -> Vec<StoredAccessPolicy<QueuePermissions>> {
        let text = self.settings.get(Kind::QueuePolicies, queue.as_str());
        text.and_then(|text| acl::read(&text)).unwrap_or_default()
    }

    pub(crate) fn properties(&self, of: Service) -> ServiceProperties {
        let text = self.settings.get(Kind::Properties, of.name());
        text.and_then(|text| ServiceProperties::read(&text)).unwrap_or_default()
    }

    /// Sets the properties of a service. Properties that are `None` do not change.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set_properties(&self, of: Service, new: ServiceProperties) -> Result<()> {
        let _turn = self.settings.turn.lock().await;
        let old = self.properties(of);
        let properties = ServiceProperties {
            logging: new.logging.or(old.logging),
            hour_metrics: new.hour_metrics.or(old.hour_metrics),
            minute_metrics: new.minute_metrics.or(old.minute_metrics),
            cors: new.cors.or(old.cors),
        };
        self.settings.set(Kind::Properties, of.name(), Some(properties.to_xml())).await?;
        self.cors.set(of, properties.cors.as_deref().unwrap_or_default());
        Ok(())
    }

    /// Deletes all tables, queues and settings.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn reset(&self) -> Result<()> {
        let engine = self.engine.without_fault_injection();
        let _turn = self.settings.turn.lock().await;
        loop {
            let page = engine.list_tables("", None, 1_000).await?;
            if page.names.is_empty() {
                break;
            }
            for table in &page.names {
                engine.delete_table(table).await?;
                self.authority.set_policies(table, Vec::new())?;
            }
        }
        loop {
            let queues = engine.list_queues("", 1_000)?;
            if queues.is_empty() {
                break;
            }
            for queue in &queues {
                engine.delete_queue(queue).await?;
            }
        }
        self.settings.clear().await?;
        for service in [Service::Tables, Service::Queues] {
            self.cors.set(service, &[]);
        }
        Ok(())
    }
}
