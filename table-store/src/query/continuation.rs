//! Continuation tokens: serializable references to a query's next page (PAGE rules).

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

/// The start of the next page: the first key to read (PAGE-6), or opaque values from a service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The value of `NextPartitionKey`.
    pub partition_key: String,
    /// The value of `NextRowKey`. Without it, the page starts at the beginning of the partition (PAGE-2).
    pub row_key: Option<String>,
}

/// The interpretation of a [`Position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// The key of the next entity.
    Key,
    /// An opaque value from the service, sent back unchanged (PAGE-8, COS-8).
    Service,
    /// The first page of the query. The position is empty.
    Start,
}

/// A continuation token: the start of the next page of one query on one table.
///
/// Continuations are opaque. They may be stored, sent, and used much later by another process (PAGE-7). The string representation (`Display`,
/// [`FromStr`], serde) is URL-safe, contains a version and a checksum, and has at most 65,536 characters.
///
/// A continuation is bound to the table, the keys, the filter and the `$select` of its query. Any other query rejects it (PAGE-9). `$top` may differ between
/// pages, because the position does not depend on it.
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
    /// The incarnation of the table: a number that distinguishes it from earlier tables with the same name. It is 0 if the backend does not track incarnations.
    incarnation: u32,
    position: Position,
}

impl Continuation {
    /// Creates a continuation for a backend whose positions are keys. If the position is outside the query's keys, the continuation is rejected when it is
    /// used.
    #[must_use]
    pub fn new(table: &TableName, query: &Query, position: Position) -> Self {
        Self { kind: Kind::Key, query: fingerprint(table, query), incarnation: 0, position }
    }

    /// Binds the continuation to an incarnation of the table. An incarnation is a number greater than 0 that distinguishes a table from earlier tables with the
    /// same name.
    #[must_use]
    pub fn in_incarnation(self, incarnation: u32) -> Self {
        Self { incarnation, ..self }
    }

    /// Checks that the continuation belongs to this table incarnation. A continuation without an incarnation is always accepted.
    ///
    /// # Errors
    /// `InvalidInput` if the table was deleted and created again after the page was read (PAGE-9).
    pub fn check_incarnation(&self, table: &TableName, incarnation: u32) -> Result<()> {
        if self.incarnation == 0 || self.incarnation == incarnation {
            return Ok(());
        }
        Err(Error::of(QueryFault::TableReplaced).with_table(table.as_str()))
    }

    /// Creates a continuation for a backend whose positions are opaque values from a service (PAGE-8).
    #[must_use]
    pub fn of_service(table: &TableName, query: &Query, position: Position) -> Self {
        Self { kind: Kind::Service, query: fingerprint(table, query), incarnation: 0, position }
    }

    /// Creates a continuation that refers to the first page of a query.
    ///
    /// It is used for a query that consists of several subqueries. There, it leads from the last page of one subquery to the first page of the next. Backends
    /// reject it.
    #[doc(hidden)]
    #[must_use]
    pub fn start(table: &TableName, query: &Query) -> Self {
        let position = Position { partition_key: String::new(), row_key: None };
        Self { kind: Kind::Start, query: fingerprint(table, query), incarnation: 0, position }
    }

    /// Checks that the continuation belongs to this query on this table. The backend's positions may be keys or opaque values.
    ///
    /// # Errors
    /// `InvalidInput` if the continuation does not belong to this query (PAGE-9).
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

    /// Returns `true` if the position is within the query's keys.
    ///
    /// For a range of partitions, the query's row range does not limit the rows that are read. It is a condition on each row, so the position may have any row
    /// key.
    fn is_inside(&self, query: &Query) -> bool {
        let (keys, position) = (&query.keys, &self.position);
        let row_inside = |row: &str| keys.partition_key.single().is_none() || keys.row_key.contains(row);
        keys.partition_key.contains(&position.partition_key)
            && position.row_key.as_deref().is_none_or(row_inside)
    }

    /// Checks that the continuation belongs to this query on this table, and returns the position. Use this function if the backend's positions are keys.
    ///
    /// The returned position is always within the query's keys, so a forged continuation cannot read other keys. A position without a row key means the start
    /// of the query's row range in that partition.
    ///
    /// # Errors
    /// `InvalidInput` if the continuation belongs to another query or to a service, or is outside the query's keys (PAGE-9).
    pub fn position(&self, table: &TableName, query: &Query) -> Result<&Position> {
        self.position_of(Kind::Key, table, query)
    }

    /// Checks that the continuation belongs to this query on this table, and returns the position. Use this function if the backend's positions are opaque
    /// values, which must be sent back unchanged.
    ///
    /// # Errors
    /// `InvalidInput` if the continuation belongs to another query, or its position is a key (PAGE-9).
    pub fn service_position(&self, table: &TableName, query: &Query) -> Result<&Position> {
        self.position_of(Kind::Service, table, query)
    }

    /// Transfers the continuation from one query to another, keeping its position. Views need this function because they run a different query than the
    /// caller's.
    ///
    /// # Errors
    /// `InvalidInput` if the continuation does not belong to `from` (PAGE-9).
    #[doc(hidden)]
    pub fn rebind(&self, table: &TableName, from: &Query, to: &Query) -> Result<Self> {
        self.check(table, from)?;
        Ok(Self { query: fingerprint(table, to), ..self.clone() })
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
    /// `InvalidInput` if the string was not produced by `Display` or was modified (PAGE-9).
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
