//! Rows read or written by a command: options that select rows, and the pages of a query.

use std::sync::Arc;

use table_core::query::{KeyRange, Rows, Select, TextRange};
use table_core::schema::StoredSchema;
use table_core::table::{FEEDS, LAYOUTS, OUTBOXES};
use table_core::{Continuation, DynTableStore, Page, Query, TableName, TableStore};

use crate::failure::{Failure, Result};
use crate::rate::Rate;
use table_inspect::TypeSelection;
use table_inspect::keys::{self, PartRequest};

/// Options that select rows by their keys.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct KeySelection {
    /// Only this PartitionKey
    #[arg(long, value_name = "KEY", conflicts_with = "partitions")]
    pub partition: Option<String>,
    /// Only partitions in a range (A..B, both included) or with a prefix (A*)
    #[arg(long, value_name = "RANGE")]
    pub partitions: Option<TextRangeArgument>,
    /// Only this RowKey
    #[arg(long, value_name = "KEY", conflicts_with = "rows")]
    pub row: Option<String>,
    /// Only rows in a range (A..B, both included) or with a prefix (A*)
    #[arg(long, value_name = "RANGE")]
    pub rows: Option<TextRangeArgument>,
}

impl KeySelection {
    /// Returns `true` if the options select every key.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.partition.is_none() && self.partitions.is_none() && self.row.is_none() && self.rows.is_none()
    }

    /// Returns the range of the selected keys.
    #[must_use]
    pub fn key_range(&self) -> KeyRange {
        let range = |one: Option<&String>, many: Option<&TextRangeArgument>| match (one, many) {
            (Some(text), _) => TextRange::exactly(text.as_str()),
            (None, Some(range)) => range.0.clone(),
            (None, None) => TextRange::ALL,
        };
        KeyRange {
            partition_key: range(self.partition.as_ref(), self.partitions.as_ref()),
            row_key: range(self.row.as_ref(), self.rows.as_ref()),
        }
    }
}

/// Options that select rows of a table.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Selection {
    /// Only entities of one type whose key parts, named as shown by `describe`, satisfy conditions: department=Sales id=100..199 email=ada* version==1..2 (one
    /// value)
    #[arg(value_name = "PART=VALUE", conflicts_with_all = ["partition", "partitions", "row", "rows"])]
    pub parts: Vec<PartRequest>,
    /// Only entities of this type
    #[arg(long, value_name = "TYPE")]
    pub entity: Option<String>,
    /// Selects rows by their keys.
    #[command(flatten)]
    pub keys: KeySelection,
    /// Only rows that satisfy an OData condition, such as "Age ge 30 and Active eq true"
    #[arg(long, value_name = "FILTER")]
    pub filter: Option<String>,
}

impl Selection {
    /// Returns `true` if the options select every row of the table.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.parts.is_empty() && self.entity.is_none() && self.keys.is_all() && self.filter.is_none()
    }

    /// Returns the selected rows of a table.
    ///
    /// # Errors
    /// - `Usage` if no schema is stored for the entity type or for conditions on key parts, or if the key does not support the conditions.
    /// - `Usage` if the filter is empty or invalid.
    pub async fn rows(&self, store: &DynTableStore, table: &TableName) -> Result<Selected> {
        let mut query = match &self.filter {
            None => Query::new(KeyRange::ALL),
            // IMPORTANT: an empty string, such as the value of an unset shell variable, would select every row.
            Some(text) if text.trim().is_empty() => {
                let help = "omit `--filter`, or write a condition such as \"Age ge 30\"";
                return Err(Failure::Usage(format!("the filter is empty; {help}")));
            }
            Some(text) => Query::parse(text).map_err(|error| Failure::Usage(error.to_string()))?,
        };
        let mut narrow = |keys: &KeyRange| {
            query.keys.partition_key.intersect(&keys.partition_key);
            query.keys.row_key.intersect(&keys.row_key);
        };
        narrow(&self.keys.key_range());
        if self.parts.is_empty() && self.entity.is_none() {
            return Ok(query.into());
        }
        let schemas = keys::schemas_of_rows(store, table).await?;
        let entities = TypeSelection::new(table.as_str(), &schemas, self.entity.as_deref(), &self.parts)?;
        narrow(entities.keys());
        Ok(Selected { query, entities: Some(Arc::new(entities)) })
    }
}

/// The rows read by a command.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The query that returns the rows. It may also return rows of other entity types.
    pub query: Query,
    /// The entity type of the rows, with conditions on their key parts. `None` if rows of all types are selected.
    pub entities: Option<Arc<TypeSelection>>,
}

impl From<Query> for Selected {
    fn from(query: Query) -> Self {
        Self { query, entities: None }
    }
}

impl Selected {
    /// Replaces the properties to read.
    #[must_use]
    pub fn with_select(self, select: Select) -> Self {
        Self { query: Query { select, ..self.query }, ..self }
    }

    /// Returns the schemas in `all` whose entities can be selected.
    #[must_use]
    pub fn schemas(&self, all: &[StoredSchema]) -> Vec<StoredSchema> {
        self.entities.as_ref().map_or_else(|| all.to_vec(), |entities| vec![entities.schema().clone()])
    }

    /// Returns the query that requests a page. If an entity type is selected, it also requests the properties that identify the type.
    fn request(&self) -> Query {
        let select = match &self.entities {
            Some(_) => TypeSelection::request(&self.query.select),
            None => self.query.select.clone(),
        };
        Query { select, ..self.query.clone() }
    }

    /// Returns the selected rows of a page, with the selected properties.
    fn of_page(&self, rows: Rows) -> Result<Rows> {
        let Some(entities) = &self.entities else { return Ok(rows) };
        Ok(entities.of_page(&rows, &self.query.select)?)
    }
}

/// A range of strings on the command line: `A..B`, `A*`, a single string, or `=` followed by a single string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRangeArgument(pub TextRange);

impl std::str::FromStr for TextRangeArgument {
    type Err = table_inspect::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        keys::parse_range(text).map(Self)
    }
}

/// The pages of a query, fetched with one request each. Only one page is held in memory at a time.
#[derive(Debug)]
pub struct Pages<'a> {
    store: &'a DynTableStore,
    table: &'a TableName,
    selected: Box<Selected>,
    request: Box<Query>,
    from: Option<Continuation>,
    is_over: bool,
    is_optional: bool,
    rate: Option<Rate>,
    omitted: u64,
}

impl<'a> Pages<'a> {
    /// Creates a reader of the selected rows that starts with the first page.
    #[must_use]
    pub fn new(store: &'a DynTableStore, table: &'a TableName, selected: impl Into<Selected>) -> Self {
        let selected = Box::new(selected.into());
        let request = Box::new(selected.request());
        Self {
            store,
            table,
            request,
            selected,
            from: None,
            is_over: false,
            is_optional: false,
            rate: None,
            omitted: 0,
        }
    }

    /// Makes the reader return no rows if the table does not exist.
    #[must_use]
    pub fn if_exists(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Limits the number of rows read per second. All readers with a clone of `rate` share the limit.
    #[must_use]
    pub fn at_rate(self, rate: Option<&Rate>) -> Self {
        Self { rate: rate.cloned(), ..self }
    }

    /// Makes the reader start at a continuation token, or at the first page if `from` is `None`.
    #[must_use]
    pub fn behind(self, from: Option<Continuation>) -> Self {
        Self { from, ..self }
    }

    /// Reads the next page. Returns `None` after the last page. A page can be empty even if more pages follow.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn next(&mut self) -> Result<Option<Page>> {
        if self.is_over {
            return Ok(None);
        }
        if let Some(rate) = &self.rate {
            rate.ready().await;
        }
        let page = match self.store.query(self.table, &self.request, self.from.as_ref()).await {
            Err(error) if self.is_optional && self.from.is_none() && error.is_table_not_found() => {
                self.is_over = true;
                return Ok(None);
            }
            page => page?,
        };
        if let Some(rate) = &self.rate {
            rate.count(page.rows.len());
        }
        self.from.clone_from(&page.continuation);
        self.is_over = page.continuation.is_none();
        self.omitted += page.skipped;
        Ok(Some(Page { rows: self.selected.of_page(page.rows)?, ..page }))
    }

    /// Returns the number of stored rows that the pages read so far omit, because the store cannot represent them as entities.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns `true` if the store returns rows in key order.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.store.capabilities().ordered
    }

    /// Returns the continuation token for the next page.
    #[must_use]
    pub const fn continuation(&self) -> Option<&Continuation> {
        self.from.as_ref()
    }
}

/// Returns `true` if a table has no rows or does not exist. Rows that the store omits count as rows.
///
/// # Errors
/// Any error from the store.
pub async fn is_empty(store: &DynTableStore, table: &TableName) -> Result<bool> {
    let first = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
    let mut pages = Pages::new(store, table, first).if_exists();
    while let Some(page) = pages.next().await? {
        if !page.rows.is_empty() || page.skipped > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns all tables of a store in the required reading order: first the schema table, last the tables that register outboxes and feeds.
///
/// # Errors
/// Any error from the store.
pub async fn all_tables(store: &DynTableStore) -> Result<Vec<TableName>> {
    let (mut from, mut names) = (None, Vec::new());
    loop {
        let page = store.list_tables("", from.as_deref(), 1_000).await?;
        names.extend(page.names);
        from = next_page(from.as_deref(), page.next)?;
        if from.is_none() {
            names.sort_by_key(|name| (is_read_last(name.as_str()), !is_read_first(name.as_str())));
            return Ok(names);
        }
    }
}

/// Returns the continuation token of a list of tables, or `None` after the last page.
///
/// # Errors
/// `Refused` if the store returned the continuation token that was sent with the request, because the list would then never end.
pub(crate) fn next_page(from: Option<&str>, next: Option<String>) -> Result<Option<String>> {
    if next.is_some() && next.as_deref() == from {
        let help = "check the endpoint and the proxies in between";
        return Err(Failure::Refused(format!(
            "the store returned the same page of its list of tables again; {help}"
        )));
    }
    Ok(next)
}

/// Returns `true` if a table must be read after all other tables: it registers outboxes or feeds. Programs register a partition before they write its first
/// row. Reading the registrations last ensures that a copy contains the registrations of all its rows.
#[must_use]
pub fn is_read_last(table: &str) -> bool {
    [OUTBOXES, FEEDS].iter().any(|own| own.eq_ignore_ascii_case(table))
}

/// Returns `true` if a table contains the schemas, which must be read first. Otherwise, an index backfill that finishes while rows are being read could leave
/// the copy with a ready index that lacks rows.
#[must_use]
pub fn is_read_first(table: &str) -> bool {
    LAYOUTS.eq_ignore_ascii_case(table)
}

/// Returns a `Select` for the given property names. An empty list selects all properties.
#[must_use]
pub fn select(names: &[String]) -> Select {
    if names.is_empty() { Select::All } else { Select::names(names.iter().cloned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tables_that_does_not_advance_is_refused() {
        let token = |text: &str| Some(text.to_owned());
        assert_eq!(next_page(None, token("a")).unwrap(), token("a"));
        assert_eq!(next_page(Some("a"), token("b")).unwrap(), token("b"));
        assert_eq!(next_page(Some("a"), None).unwrap(), None);
        assert_eq!(next_page(None, None).unwrap(), None);
        next_page(Some("a"), token("a")).unwrap_err();
    }
}
