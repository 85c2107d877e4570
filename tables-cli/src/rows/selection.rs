//! Options that select rows by their keys, by the parts of their keys, or by a condition.

use std::sync::Arc;

use table_core::query::{KeyRange, Rows, Select, TextRange};
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, Query, TableName};

use crate::failure::{Failure, Result};
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
    pub(super) fn request(&self) -> Query {
        let select = match &self.entities {
            Some(_) => TypeSelection::request(&self.query.select),
            None => self.query.select.clone(),
        };
        Query { select, ..self.query.clone() }
    }

    /// Returns the selected rows of a page, with the selected properties.
    pub(super) fn of_page(&self, rows: Rows) -> Result<Rows> {
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

/// Returns a `Select` for the given property names. An empty list selects all properties.
#[must_use]
pub fn select(names: &[String]) -> Select {
    if names.is_empty() { Select::All } else { Select::names(names.iter().cloned()) }
}
