//! Settings of an account: service properties, stored access policies, and queue metadata.
//!
//! Each setting is a string, stored in memory and in an entity of a private table, whose name no client can use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query};
use table_core::row::RowWriter;
use table_core::store::Exclusive;
use table_core::{
    Engine, ErrorCode, Operation, OperationKind, PartitionKey, QueueName, Result, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};
use table_wire::sas::{SasVerifier, StoredAccessPolicy};
use table_wire::{ServiceProperties, acl};

use crate::cors::Cors;
use crate::service::Service;

/// The property that contains the setting's string.
const TEXT: &str = "Text";
/// The property that contains the creation time of the setting's table or queue, which identifies that table or queue. Earlier releases did not store it. A
/// setting without this property belongs to the table or queue that has its name when the server starts.
const OWNER: &str = "Created";
/// The owner of a setting that was stored while its table or queue did not exist. No table or queue has this creation time. Queue metadata with this owner
/// belongs to the next queue with the same name, because the metadata is stored before the queue is created.
const NO_OWNER: u64 = 0;

/// The kind of a setting. Its name is the `PartitionKey` of the stored settings of this kind.
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

/// The settings of each engine that is used by an account.
static ALL: Mutex<Vec<(Exclusive, Weak<Settings>)>> = Mutex::new(Vec::new());

type Texts = BTreeMap<(Kind, String), Setting>;

/// A stored setting.
#[derive(Clone, Debug)]
struct Setting {
    text: Arc<str>,
    /// The creation time of the table or queue that the setting belongs to, or `None` for the properties of a service.
    owner: Option<u64>,
}

impl Setting {
    /// Returns `true` if the setting belongs to the next queue with its name.
    fn is_of_next(&self, kind: Kind) -> bool {
        kind == Kind::QueueMetadata && self.owner == Some(NO_OWNER)
    }
}

/// The settings of the accounts on one engine. The accounts share them, because they also share the tables and queues.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The engine without the injected faults that clients see, so a server with `--faults busy=1` can start and store settings.
    engine: Engine,
    table: TableName,
    texts: RwLock<Texts>,
    pub(crate) cors: Cors,
    /// The verifiers of all accounts on the engine.
    authorities: RwLock<Vec<SasVerifier>>,
    /// The lock that is held while a setting changes, possibly together with its table or queue.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Settings {
    /// Returns the settings of an engine, and adds the verifier of an account to them. All handles of an engine share one settings object. Stored settings are
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
    /// or queue are removed. It may also have stopped after creating a queue and before storing the queue as the owner of its metadata, so such metadata is
    /// stored again with its owner.
    ///
    /// # Errors
    /// `Io`, `Corrupted` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn load(&self) -> Result<()> {
        // Another server on the same engine may be running and changing the settings.
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
                    let owner = match entity.row.find(OWNER, &mut 0)? {
                        Some(ValueRef::Int64(created)) => Some(u64::try_from(created).unwrap_or(NO_OWNER)),
                        _ => self.owner(kind, entity.row_key),
                    };
                    texts.insert((kind, entity.row_key.to_owned()), Setting { text: text.into(), owner });
                }
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        let mut changes = Vec::new();
        for ((kind, name), setting) in &texts {
            if !is_there(engine, *kind, name).await? {
                changes.push((*kind, name.clone(), None));
            } else if setting.is_of_next(*kind) {
                changes.push((*kind, name.clone(), Some(setting.text.as_ref().to_owned())));
            }
        }
        *self.texts.write().unwrap_or_else(PoisonError::into_inner) = texts;
        for (kind, name, text) in changes {
            self.set(kind, &name, text).await?;
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

    /// Sets the policies of a table in the verifiers of all accounts to the stored policies. A table that the program deleted and created again has no
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
        let is_current = setting.owner.is_none_or(|owner| match self.owner(kind, name) {
            None | Some(NO_OWNER) => false,
            Some(found) => found == owner || setting.is_of_next(kind),
        });
        is_current.then(|| Arc::clone(&setting.text))
    }

    /// Returns the creation time of the table or queue with this name, or `NO_OWNER` if it does not exist. Returns `None` for the properties of a service.
    fn owner(&self, kind: Kind, name: &str) -> Option<u64> {
        let found = match kind {
            Kind::Properties => return None,
            Kind::TablePolicies => TableName::new(name).and_then(|table| self.engine.incarnation(&table)),
            Kind::QueuePolicies | Kind::QueueMetadata => {
                QueueName::new(name).and_then(|queue| self.engine.queue_incarnation(&queue))
            }
        };
        Some(found.unwrap_or(NO_OWNER))
    }

    /// Returns the names of all settings of this kind.
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

    /// Stores the text of a setting, or removes the setting if `text` is `None`.
    ///
    /// # Errors
    /// `Io` or `EnginePoisoned` if the engine fails.
    pub(crate) async fn set(&self, kind: Kind, name: &str, text: Option<String>) -> Result<()> {
        let engine = &self.engine;
        let key = (kind, name.to_owned());
        let is_stored = self.texts.read().unwrap_or_else(PoisonError::into_inner).contains_key(&key);
        if text.is_none() && !is_stored {
            return Ok(());
        }
        let owner = self.owner(kind, name);
        let operation = match &text {
            Some(text) => {
                let mut row = RowWriter::new();
                row.property(TEXT, ValueRef::String(text));
                if let Some(owner) = owner {
                    row.property(OWNER, ValueRef::Int64(i64::try_from(owner).unwrap_or_default()));
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
            // The setting no longer exists, as the caller wants.
            Err(error) if text.is_none() && error.is_not_found() => {}
            Err(error) if error.code() == ErrorCode::TableNotFound => {
                match engine.create_table(&self.table).await {
                    Err(error) if error.code() != ErrorCode::TableAlreadyExists => return Err(error),
                    _ => drop(engine.submit(&self.table, write()?).await?),
                }
            }
            done => drop(done?),
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => drop(texts.insert(key, Setting { text: text.into(), owner })),
            None => drop(texts.remove(&key)),
        }
        Ok(())
    }
}

/// Returns `true` if the table or queue of a setting exists.
pub(crate) async fn is_there(engine: &Engine, kind: Kind, name: &str) -> Result<bool> {
    Ok(match kind {
        Kind::Properties => true,
        Kind::TablePolicies => {
            let page = engine.list_tables(name, Some(name), 1).await?;
            page.names.first().is_some_and(|found| found.folded() == name)
        }
        Kind::QueuePolicies | Kind::QueueMetadata => {
            engine.list_queues(name, 1)?.first().is_some_and(|found| found.as_str() == name)
        }
    })
}

#[cfg(test)]
mod tests;
