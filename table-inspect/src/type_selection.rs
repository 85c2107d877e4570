//! Selects the entities of one type in a table by conditions on their key parts.

use table_core::ValueRef;
use table_core::query::{EntityRef, KeyRange, Rows, Select};
use table_core::schema::{ENTITY_TYPE, StoredPiece, StoredSchema};

use crate::derived::WidePart;
use crate::error::{Error, Result};
use crate::keys::{self, PartConditions, PartRequest};
use crate::kind::{self, Kind, RESERVED};

/// The entities of one type in a table that satisfy conditions on their key parts.
///
/// A row belongs to the type if [`kind::of`] returns the type. The parts of a wide entity also belong to the entity's type.
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
    /// The kinds of rows in the table, in descending order of the number of literal characters in their keys.
    kinds: Vec<Pattern>,
    schema: StoredSchema,
    conditions: PartConditions,
}

/// The keys of one kind of row.
#[derive(Clone, Debug)]
struct Pattern {
    partition_key: Vec<StoredPiece>,
    row_key: Vec<StoredPiece>,
    /// The `EntityType` that the rows must have, or `None` if they need not have one.
    entity_type: Option<String>,
    /// `true` if this is the selected type.
    is_selected: bool,
}

impl TypeSelection {
    /// Selects the entities of the type `entity`, or of the only type in the table. `schemas` are the stored schemas of all tables. The case of the type's name
    /// is ignored unless the name would then be ambiguous.
    ///
    /// # Errors
    /// `Condition` if no schema is stored for the table or the type, if several types match, or if [`keys::key_range`] rejects the conditions.
    pub fn new(
        table: &str,
        schemas: &[(String, StoredSchema)],
        entity: Option<&str>,
        requests: &[PartRequest],
    ) -> Result<Self> {
        let selected = schema_of(table, schemas, entity)?;
        let kinds = kind::by_literals(table, schemas).into_iter().filter_map(|kind| {
            let (partition_key, row_key) = kind.pieces()?;
            let (entity_type, is_selected) = match kind {
                Kind::Entity(schema) => (schema.kind.clone(), std::ptr::eq(schema, selected)),
                Kind::Index(..) | Kind::Reserved(_) | Kind::Unknown => (None, false),
            };
            Some(Pattern {
                partition_key: partition_key.to_vec(),
                row_key: row_key.to_vec(),
                entity_type,
                is_selected,
            })
        });
        let kinds = kinds.collect();
        Ok(Self { kinds, schema: selected.clone(), conditions: PartConditions::new(selected, requests)? })
    }

    /// Returns the schema of the selected type.
    #[must_use]
    pub const fn schema(&self) -> &StoredSchema {
        &self.schema
    }

    /// Returns a range that contains the keys of all selected entities. It may also contain other keys.
    #[must_use]
    pub const fn keys(&self) -> &KeyRange {
        self.conditions.keys()
    }

    /// The properties that [`contains`](Self::contains) reads from a row.
    pub const PROPERTIES: [&'static str; 2] = [ENTITY_TYPE, WidePart::WRITE_ID];

    /// Returns a selection of the properties `shown` and of the [`PROPERTIES`](Self::PROPERTIES), which [`of_page`](Self::of_page) needs.
    #[must_use]
    pub fn request(shown: &Select) -> Select {
        match shown {
            Select::All => Select::All,
            Select::Names(names) => {
                Select::names(names.iter().cloned().chain(Self::PROPERTIES.map(std::borrow::Cow::Borrowed)))
            }
        }
    }

    /// Returns the rows of a page that are selected, with the properties in `shown`. The page must have been requested with the properties that
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

    /// Returns `true` if a row is selected. `row` must contain those of the [`PROPERTIES`](Self::PROPERTIES) that it has in the store.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub fn contains(&self, row: EntityRef<'_>) -> Result<bool> {
        if row.row_key.starts_with(RESERVED) {
            return Ok(false);
        }
        let entity_type = match row.row.find(ENTITY_TYPE, &mut 0)? {
            Some(ValueRef::String(found)) => Some(found),
            _ => None,
        };
        let pattern = |row_key: &str| {
            self.kinds.iter().find(|pattern| {
                (pattern.entity_type.is_none() || pattern.entity_type.as_deref() == entity_type)
                    && keys::fits(&pattern.partition_key, row.partition_key)
                    && keys::fits(&pattern.row_key, row_key)
            })
        };
        let (pattern, row_key) = match (pattern(row.row_key), WidePart::of(row)?) {
            (None, Some(part)) => (pattern(part.base), part.base),
            (found, _) => (found, row.row_key),
        };
        let is_selected = pattern.is_some_and(|pattern| pattern.is_selected);
        Ok(is_selected && self.conditions.accept(row.partition_key, row_key))
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
