//! Accounts, each with a name, a key, an engine and settings.

use std::sync::Arc;

use table_core::{Engine, QueueName, QueueStore, Result, TableName, TableStore};
use table_inspect::load::PartitionLoad;
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};
use table_wire::sas::{QueuePermissions, SasVerifier, StoredAccessPolicy};
use table_wire::{ServiceProperties, acl};
use tokio::sync::MutexGuard;

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
    pub(crate) settings: Arc<Settings>,
    pub(crate) is_resettable: bool,
}

impl Account {
    /// Creates an account with the given key. Accounts created with handles to the same engine share its tables, queues and settings, even on different
    /// servers.
    #[must_use]
    pub fn new(key: AccountKey, engine: Engine) -> Self {
        let authority = SasVerifier::new(key.clone());
        let settings = Settings::of(&engine, authority.clone());
        if let Some(exclusive) = &engine.capabilities().exclusive {
            exclusive.share();
        }
        Self { key, engine, authority, traffic: Traffic::default(), settings, is_resettable: false }
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

    /// Allows `POST /reset` at the [`Config::observe`](crate::Config::observe) address to delete all tables, queues and settings of the account, for example
    /// between test runs.
    #[must_use]
    pub fn resettable(mut self) -> Self {
        self.is_resettable = true;
        self
    }

    /// Returns the request counts of the busiest partitions, which are updated while the account is served. A queue counts as a partition of a table with an
    /// empty name.
    #[must_use]
    pub fn partition_load(&self) -> PartitionLoad {
        self.traffic.load.clone()
    }

    /// Returns the account name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.account()
    }

    /// Reads the settings stored in the engine.
    ///
    /// # Errors
    /// `Io`, `Corrupted` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn load(&self) -> Result<()> {
        self.settings.load().await
    }

    pub(crate) fn policies(&self, table: &TableName) -> Vec<StoredAccessPolicy> {
        self.settings.policies(table)
    }

    /// Sets the stored access policies of a table. The caller must hold the lock for changes to the account's settings.
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
        self.settings.authorize(table)
    }

    pub(crate) fn queue_policies(&self, queue: &QueueName) -> Vec<StoredAccessPolicy<QueuePermissions>> {
        let text = self.settings.get(Kind::QueuePolicies, queue.as_str());
        text.and_then(|text| acl::read(&text)).unwrap_or_default()
    }

    pub(crate) fn properties(&self, of: Service) -> ServiceProperties {
        self.settings.properties(of)
    }

    /// Sets the properties of a service. Properties that are `None` in `new` keep their values.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set_properties(
        &self,
        _turn: &MutexGuard<'_, ()>,
        of: Service,
        new: ServiceProperties,
    ) -> Result<()> {
        let old = self.properties(of);
        let properties = ServiceProperties {
            logging: new.logging.or(old.logging),
            hour_metrics: new.hour_metrics.or(old.hour_metrics),
            minute_metrics: new.minute_metrics.or(old.minute_metrics),
            cors: new.cors.or(old.cors),
        };
        self.settings.set(Kind::Properties, of.name(), Some(properties.to_xml())).await?;
        self.settings.cors.set(of, properties.cors.as_deref().unwrap_or_default());
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
                self.settings.authorize(table)?;
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
            self.settings.cors.set(service, &[]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::{TimeDelta, Utc};
    use table_core::ErrorCode;
    use table_wire::CorsRule;
    use table_wire::sas::{AccessPolicy, SasToken, TablePermissions, TableSas};

    use super::*;

    fn readers() -> Vec<StoredAccessPolicy> {
        let expiry = Some(Utc::now() + TimeDelta::hours(1));
        let read = AccessPolicy { start: None, expiry, permissions: Some(TablePermissions::READ) };
        vec![StoredAccessPolicy::new("readers", read).unwrap()]
    }

    async fn set(account: &Account, table: &TableName, policies: Vec<StoredAccessPolicy>) {
        account.set_policies(&account.settings.turn.lock().await, table, policies).await.unwrap();
    }

    /// Tests a table and a queue that the embedding program deletes directly through its engine, so the server is not notified.
    #[tokio::test]
    async fn acl_4_settings_end_with_their_table_or_queue_whoever_deletes_it() {
        for is_restarted in [false, true] {
            let engine = Engine::in_memory();
            let first = Account::new(AccountKey::new("contoso", "a2V5").unwrap(), engine.clone());
            let (table, queue) = (TableName::new("Employee").unwrap(), QueueName::new("work").unwrap());
            engine.create_table(&table).await.unwrap();
            engine.create_queue(&queue).await.unwrap();
            set(&first, &table, readers()).await;
            for (kind, text) in [
                (
                    Kind::QueuePolicies,
                    "<SignedIdentifiers><SignedIdentifier><Id>a</Id></SignedIdentifier></SignedIdentifiers>",
                ),
                (Kind::QueueMetadata, "{\"color\":\"red\"}"),
            ] {
                first.settings.set(kind, "work", Some(text.to_owned())).await.unwrap();
                assert!(first.settings.get(kind, "work").is_some());
            }
            assert_eq!((first.policies(&table).len(), first.queue_policies(&queue).len()), (1, 1));

            engine.delete_table(&table).await.unwrap();
            engine.create_table(&table).await.unwrap();
            engine.delete_queue(&queue).await.unwrap();
            engine.create_queue(&queue).await.unwrap();
            let account = if is_restarted {
                drop(first);
                let second = Account::new(AccountKey::new("contoso", "a2V5").unwrap(), engine.clone());
                second.load().await.unwrap();
                second
            } else {
                first
            };
            assert_eq!((account.policies(&table).len(), account.queue_policies(&queue).len()), (0, 0));
            assert_eq!(account.settings.get(Kind::QueueMetadata, "work"), None);
            let token = TableSas::table(table.clone()).policy("readers").sign(&account.key).unwrap();
            account.settings.authorize(&table).unwrap();
            assert_eq!(account.authority.verify(&token).unwrap_err().code(), ErrorCode::AuthenticationFailed);
            set(&account, &table, readers()).await;
            assert!(account.authority.verify(&token).is_ok());
        }
    }

    /// Tests two servers on one engine, for example one for HTTP and one for HTTPS. Each server has its own account object, and a change through either account
    /// takes effect in both immediately.
    #[tokio::test]
    async fn acl_1_and_4_accounts_on_one_engine_share_their_settings() {
        let engine = Engine::in_memory();
        let account = |name: &str| Account::new(AccountKey::new(name, "a2V5").unwrap(), engine.clone());
        let (first, second) = (account("contoso"), account("contoso"));
        let table = TableName::new("Employee").unwrap();
        engine.create_table(&table).await.unwrap();
        let sas = TableSas::table(table.clone()).policy("readers");
        let token: SasToken = sas.sign(&first.key).unwrap();
        set(&first, &table, readers()).await;
        let third = account("contoso");
        third.load().await.unwrap();
        for (setter, policies) in [(&second, 0), (&third, 1), (&first, 0)] {
            set(setter, &table, readers().into_iter().take(policies).collect()).await;
            for account in [&first, &second, &third] {
                assert_eq!(account.policies(&table).len(), policies);
                let verified = account.authority.verify(&token).map(drop).map_err(|error| error.code());
                assert_eq!(verified.is_ok(), policies == 1, "{verified:?}");
                assert!(verified.is_ok() || verified == Err(ErrorCode::AuthenticationFailed));
            }
        }
        let rule = CorsRule {
            allowed_origins: "*".into(),
            allowed_methods: "GET".into(),
            allowed_headers: String::new(),
            exposed_headers: String::new(),
            max_age_seconds: 60,
        };
        let properties = ServiceProperties { cors: Some(vec![rule]), ..ServiceProperties::default() };
        first.set_properties(&first.settings.turn.lock().await, Service::Tables, properties).await.unwrap();
        assert_eq!(second.settings.cors.preflight(Service::Tables, "https://a.com", "GET", ""), Some(60));

        // A different engine has separate settings. After all accounts on an engine are dropped, a new account can read the settings from the engine.
        let other = Account::emulator(Engine::in_memory()).unwrap();
        assert_eq!(other.settings.cors.preflight(Service::Tables, "https://a.com", "GET", ""), None);
        drop((first, second, third));
        let again = account("contoso");
        assert_eq!(again.settings.cors.preflight(Service::Tables, "https://a.com", "GET", ""), None);
        again.load().await.unwrap();
        assert_eq!(again.settings.cors.preflight(Service::Tables, "https://a.com", "GET", ""), Some(60));
    }
}
