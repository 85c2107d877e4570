//! The catalog: table names, stored schemas, and the partitions in the navigation tree.
//!
//! The catalog is read when the list of tables is opened. Other pages use the cached catalog.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, TableName, TableStore};
use table_inspect::keys::{self, Stored};

use crate::failure::{Failure, Result};
use crate::index_state::IndexState;
use crate::tree::Branch;

/// The maximum number of tables whose partitions and index states are cached.
const TREES: usize = 64;

/// The tables in a store and their stored schemas.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The table names, excluding the library's internal tables.
    pub(crate) tables: Vec<TableName>,
    /// The schemas of all tables, each paired with the lower-case name of its table.
    pub(crate) schemas: Vec<(String, StoredSchema)>,
    /// The stored schemas that this version of the library cannot read.
    pub(crate) unread: Vec<Stored>,
}

impl Known {
    /// Reads the stored schemas.
    pub(crate) async fn read(store: &DynTableStore) -> Result<Self> {
        let mut known = Self::default();
        for stored in keys::stored_schemas(store).await? {
            match stored {
                Stored { table, schema: Ok(schema), .. } => known.schemas.push((table, schema)),
                stored => known.unread.push(stored),
            }
        }
        Ok(known)
    }

    /// Returns a table's unreadable schemas.
    pub(crate) fn unread_of(&self, table: &TableName) -> impl Iterator<Item = &Stored> {
        self.unread.iter().filter(|unread| unread.table == table.folded())
    }

    /// Returns the unreadable schemas that may describe rows of a table.
    pub(crate) fn unread_of_rows(&self, table: &TableName) -> impl Iterator<Item = &Stored> {
        self.unread.iter().filter(|unread| unread.may_describe(table))
    }

    /// Returns the schemas for classifying a table's rows. The list is empty if an unreadable schema may describe some of them, because such rows could match a
    /// readable schema by mistake.
    pub(crate) fn of_rows(&self, table: &TableName) -> &[(String, StoredSchema)] {
        if self.unread_of_rows(table).next().is_some() { &[] } else { &self.schemas }
    }

    /// Returns a table's schemas.
    pub(crate) fn of<'a>(&'a self, table: &TableName) -> impl Iterator<Item = &'a StoredSchema> + use<'a> {
        let folded = table.folded().to_owned();
        self.schemas.iter().filter(move |(of, _)| *of == folded).map(|(_, schema)| schema)
    }
}

/// The states of a table's indexes, and the time they were read.
type States = (DateTime<Utc>, Vec<IndexState>);

/// The outcome of the most recent change to several rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) at: DateTime<Utc>,
    /// A past participle that describes the change, such as `deleted`.
    pub(crate) verb: &'static str,
    pub(crate) done: usize,
    /// The number of rows that were not changed or whose outcome is unknown.
    pub(crate) failed: usize,
}

/// A cache of a store's tables and schemas. For each table, it also caches the partition tree, the index states, and the outcome of the last change to several
/// rows.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    known: Mutex<Option<Arc<Known>>>,
    trees: Mutex<HashMap<String, Arc<Vec<Branch>>>>,
    states: Mutex<HashMap<String, Arc<States>>>,
    changes: Mutex<HashMap<String, Change>>,
}

impl Catalog {
    /// Returns the tables and schemas. The first call reads them from the store.
    pub(crate) async fn known(&self, store: &DynTableStore) -> Result<Arc<Known>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => Ok(known),
            None => self.read(store).await,
        }
    }

    /// Reads the table names and schemas from the store, and replaces the cached ones.
    pub(crate) async fn read(&self, store: &DynTableStore) -> Result<Arc<Known>> {
        let (mut tables, mut from) = (Vec::new(), None);
        loop {
            let page = store.list_tables("", from.as_deref(), 1_000).await?;
            tables.extend(page.names.into_iter().filter(|name| !is_own(name.as_str())));
            if page.next.is_some() && page.next == from {
                let help = "check the endpoint and the proxies in between";
                return Err(Failure::Refused(format!(
                    "the store returned the same page of its list of tables again; {help}"
                )));
            }
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        let known = Arc::new(Known { tables, ..Known::read(store).await? });
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&known));
        Ok(known)
    }

    /// Returns the partitions last shown in a table's tree.
    pub(crate) fn tree(&self, table: &TableName) -> Arc<Vec<Branch>> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.get(table.folded()).cloned().unwrap_or_default()
    }

    /// Caches the partitions shown in a table's tree.
    pub(crate) fn keep_tree(&self, table: &TableName, branches: &[Branch]) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= TREES {
            trees.clear();
        }
        trees.insert(table.folded().to_owned(), Arc::new(branches.to_vec()));
    }

    /// Returns the last-read states of a table's indexes, or `None` if they have never been read.
    pub(crate) fn states(&self, table: &TableName) -> Option<Arc<States>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).get(table.folded()).cloned()
    }

    /// Returns the outcome of the most recent change to several rows of a table.
    pub(crate) fn change(&self, table: &TableName) -> Option<Change> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).get(table.folded()).copied()
    }

    /// Caches the outcome of a change to several rows of a table.
    pub(crate) fn keep_change(&self, table: &TableName, change: Change) {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).insert(table.folded().to_owned(), change);
    }

    /// Caches the states of a table's indexes.
    pub(crate) fn keep_states(&self, table: &TableName, states: &[IndexState]) {
        let mut kept = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= TREES {
            kept.clear();
        }
        kept.insert(table.folded().to_owned(), Arc::new((Utc::now(), states.to_vec())));
    }
}

/// Returns `true` for the names of the library's internal tables.
fn is_own(name: &str) -> bool {
    [table_core::table::LAYOUTS, table_core::table::OUTBOXES, table_core::table::FEEDS]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name))
}
