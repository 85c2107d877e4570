//! The pages, one per module.

pub(crate) mod bulk;
pub(crate) mod change;
pub(crate) mod engine;
pub(crate) mod entity;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod feed;
pub(crate) mod form_query;
pub(crate) mod growth;
pub(crate) mod heat;
pub(crate) mod indexes;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod partition;
pub(crate) mod paste;
pub(crate) mod queries;
pub(crate) mod query;
pub(crate) mod queues;
pub(crate) mod recipe;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod value;
pub(crate) mod work;

use std::sync::Arc;

use table_core::{TableName, TableStore};
use table_inspect::derived;

use crate::catalog::Known;
use crate::failure::Result;
use crate::reader::Reader;
use crate::request::Request;
use crate::state::State;

/// The inputs of every page.
pub(crate) struct Context<'a> {
    pub(crate) state: &'a Arc<State>,
    pub(crate) request: &'a Request,
    pub(crate) known: Arc<Known>,
    pub(crate) reader: Reader,
}

impl Context<'_> {
    /// Returns a table name as spelled in the store.
    ///
    /// # Errors
    /// `Store`, with the code `InvalidResourceName`, if the string is not a valid table name.
    pub(crate) fn table(&self, text: &str) -> Result<TableName> {
        let name = TableName::new(text)?;
        let known = self.known.tables.iter().find(|known| known.folded() == name.folded());
        Ok(known.cloned().unwrap_or(name))
    }

    /// Returns `true` if the store returns rows in key order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.state.source.tables.capabilities().ordered
    }

    /// Returns a table's declared indexes, copies and feeds, followed by the schemas that this version of the library cannot read. If the list is not empty,
    /// the table's entities cannot be changed in the explorer.
    pub(crate) fn declared(&self, table: &TableName) -> Vec<String> {
        let unread = self.known.unread_of(table).map(|unread| format!("unreadable schema {}", unread.entity));
        self.known.of(table).flat_map(derived::declared).chain(unread).collect()
    }
}
