//! Account settings: service properties, stored access policies, and queue metadata.
//!
//! Each setting is a string, held in memory and in an entity of a private table, whose name is not available to clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query};
use table_core::row::RowWriter;
use table_core::store::Exclusive;
use table_core::{
    Engine, Error, ErrorCode, Operation, OperationKind, PartitionKey, QueueName, Result, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};
use table_wire::sas::{SasVerifier, StoredAccessPolicy};
use table_wire::{ServiceProperties, acl};

use crate::cors::Cors;
use crate::service::Service;

/// The property that contains the setting's string.
const TEXT: &str = "Text";
/// The property that contains the creation time of the setting's table or queue, which identifies that table or queue. Service properties do not have it. Queue
/// metadata stored before its queue is created, and settings stored by earlier releases, do not have it either. When the server starts, it assigns these
/// settings to the table or queue with their name.
const CREATED: &str = "Created";

/// The kind of a setting. Its name is the `PartitionKey` of the stored settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The properties of a service, in XML.
    Properties,
    /// The stored policies of a table, in XML.
    TablePolicies,
    /// The stored policies of a queue, in XML.
    QueuePolicies,
    /// The metadata of a queue, as a JSON object.
    QueueMetadata,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Properties, Self::TablePolicies, Self::QueuePolicies, Self::QueueMetadata];

    const fn name(self) -> &'static str {
        match self {
            Self::Properties => "properties",
            Self::TablePolicies => "table-policies",
            Self::QueuePolicies => "queue-policies",
            Self::QueueMetadata => "queue-metadata",
        }
    }
}

/// The settings of each engine used by an account.
static ALL: Mutex<Vec<(Exclusive, Weak<Settings>)>> = Mutex::new(Vec::new());

type Texts = BTreeMap<(Kind, String), Setting>;

/// A stored setting.
#[derive(Clone, Debug)]
struct Setting {
    text: Arc<str>,
    /// The creation time of the table or queue that the setting belongs to. `None` for service properties, and for a setting that belongs to whichever table or
    /// queue has its name.
    owner: Option<i64>,
}

/// The settings of the accounts on one engine. The accounts share them, because they also share the tables and queues.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The engine without injected faults, so a server with `--faults busy=1` can start and store settings.
    engine: Engine,
    table: TableName,
    texts: RwLock<Texts>,
    pub(crate) cors: Cors,
    /// The verifiers of all accounts on the engine.
    authorities: RwLock<Vec<SasVerifier>>,
    /// The lock held while a setting changes, possibly together with its table or queue.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Settings {
    /// Returns the settings of an engine, after adding an account's verifier to them. All handles to an engine share one settings object. Stored settings are
    /// not read until [`load`](Self::load) is called.
    pub(crate) fn of(engine: &Engine, authority: SasVerifier) -> Arc<Self> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, settings)| settings.strong_count() > 0);
        let own = engine.capabilities().exclusive.as_ref();
        let shared = all.iter().find(|(exclusive, _)| own == Some(exclusive));
        let settings = shared.and_then(|(_, settings)| settings.upgrade()).unwrap_or_else(|| {
            let settings = Arc::new(Self::new(engine));
            all.extend(own.map(|own| (own.clone(), Arc::downgrade(&settings))));
            settings
        });
        settings.authorities.write().unwrap_or_else(PoisonError::into_inner).push(authority);
        settings
    }

    /// Creates the settings of an engine without reading them.
    fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.without_fault_injection(),
            table: Engine::private_table("server"),
            texts: RwLock::default(),
            cors: Cors::default(),
            authorities: RwLock::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Reads the settings from the engine. A server may have stopped between deleting a table or queue and deleting its settings, so settings without a table
    /// or queue are removed. It may also have stopped after creating a queue and before storing the owner of its metadata, so such metadata is assigned its
    /// owner.
    ///
    /// # Errors
    /// `Io`, `Corrupted` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn load(&self) -> Result<()> {
        // Another server on the same engine may be changing the settings.
        let _turn = self.turn.lock().await;
        let engine = &self.engine;
        let (mut texts, query, mut from) = (Texts::new(), Query::new(KeyRange::ALL), None);
        loop {
            let page = match engine.query(&self.table, &query, from.as_ref()).await {
                Err(error) if error.code() == ErrorCode::TableNotFound => break,
                page => page?,
            };
            for entity in page.rows.iter() {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == entity.partition_key);
                let text = entity.row.find(TEXT, &mut 0)?;
                if let (Some(kind), Some(ValueRef::String(text))) = (kind, text) {
                    let owner = match entity.row.find(CREATED, &mut 0)? {
                        Some(ValueRef::Int64(created)) => Some(created),
                        _ => None,
                    };
                    texts.insert((kind, entity.row_key.to_owned()), Setting { text: text.into(), owner });
                }
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        let keys: Vec<_> = texts.keys().cloned().collect();
        *self.texts.write().unwrap_or_else(PoisonError::into_inner) = texts;
        for (kind, name) in keys {
            match self.owner(kind, &name) {
                Err(error) if is_deleted(&error) => self.set(kind, &name, None).await?,
                owner => {
                    owner?;
                    self.settle(kind, &name).await?;
                }
            }
        }
        for name in self.names(Kind::TablePolicies) {
            let table = TableName::new(&name)?;
            self.authorize(&table)?;
        }
        for service in [Service::Tables, Service::Queues] {
            self.cors.set(service, &self.properties(service).cors.unwrap_or_default());
        }
        Ok(())
    }

    pub(crate) fn policies(&self, table: &TableName) -> Vec<StoredAccessPolicy> {
        let text = self.get(Kind::TablePolicies, table.folded());
        text.and_then(|text| acl::read(&text)).unwrap_or_default()
    }

    pub(crate) fn properties(&self, of: Service) -> ServiceProperties {
        let text = self.get(Kind::Properties, of.name());
        text.and_then(|text| ServiceProperties::read(&text)).unwrap_or_default()
    }

    /// Copies a table's stored policies to the verifiers of all accounts. If the embedding program deletes and recreates a table, the new table has no
    /// policies.
    ///
    /// # Errors
    /// `InvalidInput` if [`StoredAccessPolicy::check`] rejects the policies.
    pub(crate) fn authorize(&self, table: &TableName) -> Result<()> {
        // While this lock is held, the stored policies cannot change. A later change updates the verifiers again.
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        let text = self.current(&texts, Kind::TablePolicies, table.folded());
        let policies: Vec<_> = text.and_then(|text| acl::read(&text)).unwrap_or_default();
        let authorities = self.authorities.read().unwrap_or_else(PoisonError::into_inner);
        authorities.iter().try_for_each(|authority| authority.set_policies(table, policies.clone()))
    }

    /// Returns the text of a setting, unless it belongs to an earlier table or queue with the same name.
    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<Arc<str>> {
        self.current(&self.texts.read().unwrap_or_else(PoisonError::into_inner), kind, name)
    }

    fn current(&self, texts: &Texts, kind: Kind, name: &str) -> Option<Arc<str>> {
        let setting = texts.get(&(kind, name.to_owned()))?;
        let found = self.owner(kind, name).ok()?;
        let is_current = setting.owner.is_none() || setting.owner == found;
        is_current.then(|| Arc::clone(&setting.text))
    }

    /// Returns the creation time of the table or queue with the given name, or `None` for service properties.
    ///
    /// # Errors
    /// - `TableNotFound`, `QueueNotFound`, `TableBeingDeleted` or `QueueBeingDeleted` if the table or queue does not exist.
    /// - `EngineClosed` or `EnginePoisoned`.
    /// - `OutOfRangeInput` if the time exceeds the range of a property value.
    fn owner(&self, kind: Kind, name: &str) -> Result<Option<i64>> {
        let created = match kind {
            Kind::Properties => return Ok(None),
            Kind::TablePolicies => self.engine.incarnation(&TableName::new(name)?)?,
            Kind::QueuePolicies | Kind::QueueMetadata => {
                self.engine.queue_incarnation(&QueueName::new(name)?)?
            }
        };
        let refuse =
            |_| Error::new(ErrorCode::OutOfRangeInput, "the creation time exceeds the range of Edm.Int64");
        i64::try_from(created).map(Some).map_err(refuse)
    }

    /// Returns the names of all settings of the given kind.
    pub(crate) fn names(&self, kind: Kind) -> Vec<String> {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        texts.keys().filter(|(own, _)| *own == kind).map(|(_, name)| name.clone()).collect()
    }

    /// Removes all settings.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn clear(&self) -> Result<()> {
        for kind in Kind::ALL {
            for name in self.names(kind) {
                self.set(kind, &name, None).await?;
            }
        }
        Ok(())
    }

    /// Stores the text of a setting, or removes the setting if `text` is `None`. A setting does not outlive its table or queue, so it is also removed if the
    /// table or queue no longer exists.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set(&self, kind: Kind, name: &str, text: Option<String>) -> Result<()> {
        let setting = match text.map(|text| (text, self.owner(kind, name))) {
            Some((text, Ok(owner))) => Some(Setting { text: text.into(), owner }),
            Some((_, Err(error))) if !is_deleted(&error) => return Err(error),
            _ => None,
        };
        self.write(kind, name, setting).await
    }

    /// Stores the metadata of a queue that does not exist yet, or removes it if `text` is `None`. The metadata belongs to the next queue with this name until
    /// [`settle`](Self::settle) is called.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set_for_next_queue(&self, queue: &QueueName, text: Option<String>) -> Result<()> {
        let setting = text.map(|text| Setting { text: text.into(), owner: None });
        self.write(Kind::QueueMetadata, queue.as_str(), setting).await
    }

    /// Assigns a setting stored without an owner to the current table or queue with its name.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn settle(&self, kind: Kind, name: &str) -> Result<()> {
        match self.stored(kind, name) {
            Some(Setting { text, owner: None }) if kind != Kind::Properties => {
                self.set(kind, name, Some(text.as_ref().to_owned())).await
            }
            _ => Ok(()),
        }
    }

    fn stored(&self, kind: Kind, name: &str) -> Option<Setting> {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        texts.get(&(kind, name.to_owned())).cloned()
    }

    async fn write(&self, kind: Kind, name: &str, setting: Option<Setting>) -> Result<()> {
        let engine = &self.engine;
        if setting.is_none() && self.stored(kind, name).is_none() {
            return Ok(());
        }
        let operation = match &setting {
            Some(setting) => {
                let mut row = RowWriter::new();
                row.property(TEXT, ValueRef::String(&setting.text));
                if let Some(owner) = setting.owner {
                    row.property(CREATED, ValueRef::Int64(owner));
                }
                OperationKind::InsertOrReplace(row.finish())
            }
            None => OperationKind::Delete(IfMatch::Any),
        };
        let write = || -> Result<Transaction> {
            let partition = PartitionKey::new(kind.name())?;
            let mut transaction = Transaction::new(partition, engine.capabilities().limits)?;
            transaction.push(Operation { row_key: RowKey::new(name)?, kind: operation.clone() })?;
            Ok(transaction)
        };
        match engine.submit(&self.table, write()?).await {
            // The setting to remove does not exist.
            Err(error) if setting.is_none() && error.is_not_found() => {}
            Err(error) if error.code() == ErrorCode::TableNotFound => {
                match engine.create_table(&self.table).await {
                    Err(error) if error.code() != ErrorCode::TableAlreadyExists => return Err(error),
                    _ => drop(engine.submit(&self.table, write()?).await?),
                }
            }
            done => drop(done?),
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, name.to_owned());
        match setting {
            Some(setting) => drop(texts.insert(key, setting)),
            None => drop(texts.remove(&key)),
        }
        Ok(())
    }
}

/// Returns `true` if an error states that a table or queue does not exist or is being deleted.
fn is_deleted(error: &Error) -> bool {
    error.is_not_found()
        || matches!(error.code(), ErrorCode::TableBeingDeleted | ErrorCode::QueueBeingDeleted)
}

#[cfg(test)]
mod tests;
