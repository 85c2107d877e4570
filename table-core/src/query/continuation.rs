//! Continuation: the beginning of the next page of a query, as a token that can be stored and sent (PAGE rules).

mod fingerprint;
mod token;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::name::TableName;
use crate::query::Query;
use crate::query::fault::QueryFault;
use fingerprint::fingerprint;

/// The position at which a page ended: the key of the first entity of the next page, inclusive (PAGE-6), or a backend's own words for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// `NextPartitionKey`.
    pub partition_key: String,
    /// `NextRowKey`; a backend may leave it out (PAGE-2): at the beginning of the partition.
    pub row_key: Option<String>,
}

/// Whose words a position is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// A key.
    Key,
    /// A text of the service, to be sent back unchanged (PAGE-8, COS-8).
    Service,
}

/// The position of the next page of one query on one table.
///
/// Opaque: it may be stored, sent and used much later, also by another process (PAGE-7). As text (`Display`, [`FromStr`],
/// serde) it is URL-safe, carries its version and a checksum, and is at most 65,536 characters long.
///
/// It belongs to the table, the keys, the filter and the `$select` of its query and is refused by any other (PAGE-9). `$top`
/// is not part of it: the position does not depend on the size of pages, which may change from one to the next.
///
/// ```
/// use table_core::query::{Continuation, KeyRange, Position, Query};
/// use table_core::TableName;
///
/// let (table, query) = (TableName::new("Employee")?, Query::new(KeyRange::partition("Sales")));
/// let position = Position { partition_key: "Sales".into(), row_key: Some("000223".into()) };
/// let text = Continuation::new(&table, &query, position.clone()).to_string();
///
/// let later: Continuation = text.parse()?;
/// assert_eq!(later.position(&table, &query)?, &position);
/// let other = Query::new(KeyRange::partition("Marketing"));
/// assert_eq!(later.position(&table, &other).unwrap_err().rule(), Some("PAGE-9"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Continuation {
    kind: Kind,
    query: u64,
    /// The table, among those that had its name one after the other; 0 where the backend does not distinguish them.
    incarnation: u32,
    position: Position,
}

impl Continuation {
    /// For backends whose positions are keys: the next page of this query on this table begins here. The position lies
    /// inside the query's keys; one outside is refused when it comes back.
    #[must_use]
    pub fn new(table: &TableName, query: &Query, position: Position) -> Self {
        Self { kind: Kind::Key, query: fingerprint(table, query), incarnation: 0, position }
    }

    /// For backends that distinguish a table from one of the same name created after it: the position is one in this incarnation, a
    /// number above 0.
    #[must_use]
    pub fn in_incarnation(self, incarnation: u32) -> Self {
        Self { incarnation, ..self }
    }

    /// Whether the table is the one whose page ended there, or the continuation does not say.
    ///
    /// # Errors
    /// `InvalidInput` if the table was dropped and created again since (PAGE-9).
    pub fn check_incarnation(&self, table: &TableName, incarnation: u32) -> Result<()> {
        if self.incarnation == 0 || self.incarnation == incarnation {
            return Ok(());
        }
        Err(Error::of(QueryFault::TableReplaced).with_table(table.as_str()))
    }

    /// For backends whose positions are words of a service, not to be understood (PAGE-8).
    #[must_use]
    pub fn of_service(table: &TableName, query: &Query, position: Position) -> Self {
        Self { kind: Kind::Service, query: fingerprint(table, query), incarnation: 0, position }
    }

    /// Whether it belongs to this query on this table, of any backend.
    ///
    /// # Errors
    /// `InvalidInput` if not (PAGE-9).
    pub fn check(&self, table: &TableName, query: &Query) -> Result<()> {
        let refuse = |fault: QueryFault| Err(Error::of(fault).with_table(table.as_str()));
        if self.query != fingerprint(table, query) {
            return refuse(QueryFault::OtherQuery);
        }
        if self.kind == Kind::Key && !self.is_inside(query) {
            return refuse(QueryFault::OutsideKeys);
        }
        Ok(())
    }

    /// In a range of partitions the rows are a condition on each, which a position need not meet.
    fn is_inside(&self, query: &Query) -> bool {
        let (keys, position) = (&query.keys, &self.position);
        let row_inside = |row: &str| keys.partition_key.single().is_none() || keys.row_key.contains(row);
        keys.partition_key.contains(&position.partition_key)
            && position.row_key.as_deref().is_none_or(row_inside)
    }

    /// For backends whose positions are keys: the position, if it belongs to this query on this table.
    ///
    /// It lies inside the query's keys, so that a forged one reaches nothing that the query does not. Without a row it is
    /// where the query's keys begin in that partition, not where the partition begins.
    ///
    /// # Errors
    /// `InvalidInput` if it belongs to another query or a service, or lies outside the query's keys (PAGE-9).
    pub fn position(&self, table: &TableName, query: &Query) -> Result<&Position> {
        self.position_of(Kind::Key, table, query)
    }

    /// For backends of a service: the position to send back unchanged, if it belongs to this query on this table.
    ///
    /// # Errors
    /// `InvalidInput` if it belongs to another query or is a key (PAGE-9).
    pub fn service_position(&self, table: &TableName, query: &Query) -> Result<&Position> {
        self.position_of(Kind::Service, table, query)
    }

    fn position_of(&self, kind: Kind, table: &TableName, query: &Query) -> Result<&Position> {
        self.check(table, query)?;
        if self.kind == kind {
            return Ok(&self.position);
        }
        Err(Error::of(QueryFault::OtherBackend).with_table(table.as_str()))
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&token::write(self))
    }
}

impl FromStr for Continuation {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` for a text that was not written by `Display`, any altered one included (PAGE-9).
    fn from_str(text: &str) -> Result<Self> {
        token::read(text).ok_or_else(|| Error::of(QueryFault::Token))
    }
}

impl From<Continuation> for String {
    fn from(continuation: Continuation) -> Self {
        continuation.to_string()
    }
}

impl TryFrom<String> for Continuation {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests;
