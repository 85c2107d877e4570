//! `TypeSelection`: entities of one type, selected by conditions on their key parts.

use table_core::query::{EntityRef, KeyRange, Rows, Select};
use table_core::schema::{ENTITY_TYPE, StoredSchema};

use crate::derived::WidePart;
use crate::error::{Error, Result};
use crate::keys::{PartConditions, PartRequest};
use crate::kind::{self, Kind};
use crate::patterns::{Patterns, entity_type};

/// A selection of the entities of one type in a table. Conditions on the key parts of the entities can narrow it.
///
/// A row belongs to the type if [`kind::of`] returns the type. Parts of a wide entity belong to the entity's type.
///
/// ```
/// use table_core::schema::StoredSchema;
/// use table_inspect::TypeSelection;
///
/// let schema: StoredSchema = "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
///     RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\n"
///     .parse()?;
/// let schemas = [("company".to_owned(), schema)];
/// let selection = TypeSelection::new("Company", &schemas, Some("Employee"), &["id=100..199".parse()?])?;
/// assert!(selection.keys().contains("Sales", "empid_000100"));
/// assert!(TypeSelection::new("Company", &schemas, Some("Review"), &[]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypeSelection {
    /// The table's key patterns, with `true` for the selected type.
    patterns: Patterns<bool>,
    schema: StoredSchema,
    conditions: PartConditions,
}

impl TypeSelection {
    /// Selects the entities of the type `entity`, or of the only type in the table. `schemas` are the stored schemas of all tables.
    ///
    /// If no type has exactly the name `entity`, the case of the name is ignored.
    ///
    /// # Errors
    /// `Condition` in these cases:
    /// - No schema is stored for the table or the type.
    /// - More than one type matches.
    /// - [`key_range`](crate::keys::key_range) rejects the conditions.
    pub fn new(
        table: &str,
        schemas: &[(String, StoredSchema)],
        entity: Option<&str>,
        requests: &[PartRequest],
    ) -> Result<Self> {
        let selected = schema_of(table, schemas, entity)?;
        let is_selected = |kind| matches!(kind, Kind::Entity(schema) if std::ptr::eq(schema, selected));
        let patterns = kind::patterns(table, schemas, is_selected);
        Ok(Self { patterns, schema: selected.clone(), conditions: PartConditions::new(selected, requests)? })
    }

    /// Returns the schema of the selected type.
    #[must_use]
    pub const fn schema(&self) -> &StoredSchema {
        &self.schema
    }

    /// Returns a key range that covers all selected entities. It may also contain other keys.
    #[must_use]
    pub const fn keys(&self) -> &KeyRange {
        self.conditions.keys()
    }

    /// The properties read by [`contains`](Self::contains).
    pub const PROPERTIES: [&'static str; 2] = [ENTITY_TYPE, WidePart::WRITE_ID];

    /// Adds [`PROPERTIES`](Self::PROPERTIES), which [`of_page`](Self::of_page) requires, to the properties in `shown`.
    #[must_use]
    pub fn request(shown: &Select) -> Select {
        match shown {
            Select::All => Select::All,
            Select::Names(names) => {
                Select::names(names.iter().cloned().chain(Self::PROPERTIES.map(std::borrow::Cow::Borrowed)))
            }
        }
    }

    /// Returns the selected rows of a page, with the properties in `shown`. The query for the page must have selected the properties that
    /// [`request`](Self::request) returns.
    ///
    /// # Errors
    /// `Corrupted` if a row cannot be read.
    pub fn of_page(&self, rows: &Rows, shown: &Select) -> Result<Rows> {
        let mut selected = Rows::default();
        for row in rows.iter() {
            if self.contains(row)? {
                selected.push_selected(row, shown)?;
            }
        }
        Ok(selected)
    }

    /// Returns `true` if a row is selected. `row` must include its stored [`PROPERTIES`](Self::PROPERTIES).
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub fn contains(&self, row: EntityRef<'_>) -> Result<bool> {
        let entity_type = entity_type(row)?;
        let of_row = self.patterns.of_keys(row.partition_key, row.row_key, entity_type);
        let (is_selected, row_key) = match (of_row, WidePart::of(row)?) {
            (None, Some(part)) => {
                (self.patterns.of_whole(row.partition_key, part.base, entity_type), part.base)
            }
            (found, _) => (found, row.row_key),
        };
        Ok(is_selected.is_some_and(|is_selected| *is_selected)
            && self.conditions.accept(row.partition_key, row_key))
    }
}

/// Returns the schema of the given type in a table, or of the table's only type.
fn schema_of<'a>(
    table: &str,
    schemas: &'a [(String, StoredSchema)],
    entity: Option<&str>,
) -> Result<&'a StoredSchema> {
    let of_table =
        || schemas.iter().filter(|(of, _)| of.eq_ignore_ascii_case(table)).map(|(_, schema)| schema);
    let names = || of_table().map(|schema| schema.entity.as_str()).collect::<Vec<_>>().join(", ");
    if of_table().next().is_none() {
        let help = "select rows with `--partition`, `--rows` and `--filter`";
        return Err(Error::Condition(format!("no schema is stored for {table}; {help}")));
    }
    let found: Vec<_> = match entity {
        None => of_table().collect(),
        Some(name) => match of_table().find(|schema| schema.entity == name) {
            Some(schema) => vec![schema],
            None => of_table().filter(|schema| schema.entity.eq_ignore_ascii_case(name)).collect(),
        },
    };
    match (found.as_slice(), entity) {
        (&[schema], _) => Ok(schema),
        (&[], Some(name)) => {
            Err(Error::Condition(format!("{table} has no entity type `{name}`; its types are {}", names())))
        }
        _ => {
            let help = format!("name one with `--entity`: {}", names());
            Err(Error::Condition(format!("{table} holds several entity types; {help}")))
        }
    }
}
