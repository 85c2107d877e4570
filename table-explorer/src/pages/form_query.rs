//! Conversion of form fields to a query.

use table_core::query::{KeyRange, Select};
use table_core::schema::{ENTITY_TYPE, StoredSchema};
use table_core::{EdmType, Filter, Query, TableName};
use table_inspect::TypeSelection;
use table_inspect::keys::{self, PartRequest};
use table_inspect::value;

use crate::failure::{Failure, Result};
use crate::pages::Context;
use crate::selection::{Condition, Selection};

/// A query, and the entity type to select from its rows.
#[derive(Debug)]
pub(crate) struct FormQuery {
    pub(crate) query: Query,
    /// Selects the chosen type's entities by conditions on key parts. `None` selects rows of all types. The query may also return other rows.
    pub(crate) entities: Option<TypeSelection>,
}

impl FormQuery {
    /// Creates the query for a selection.
    ///
    /// # Errors
    /// `Input` if no schema is stored for the entity type, the key does not support a condition, or a value is invalid for its key part or property. `Store` if
    /// the filter is invalid.
    pub(crate) fn new(context: &Context<'_>, table: &TableName, selection: &Selection) -> Result<Self> {
        let schema = schema(context, table, selection)?;
        let parts = parts(table, schema, selection)?;
        let mut filter = selection.filter.as_deref().map_or(Ok(None), Filter::parse)?;
        for condition in &selection.conditions {
            let further = compare(schema, condition)?;
            filter = Some(match filter {
                Some(before) => before.and(further),
                None => further,
            });
        }
        let mut query = filter.map_or_else(|| Query::new(KeyRange::ALL), Query::from_filter);
        let entities = match schema.filter(|_| selection.entity.is_some()) {
            Some(schema) => Some(TypeSelection::new(
                table.as_str(),
                &context.known.schemas,
                Some(&schema.entity),
                &parts,
            )?),
            None => None,
        };
        if let Some(keys) = entities.as_ref().map(TypeSelection::keys) {
            query.keys.partition_key.intersect(&keys.partition_key);
            query.keys.row_key.intersect(&keys.row_key);
        }
        for (text, range) in
            [(&selection.partition, &mut query.keys.partition_key), (&selection.row, &mut query.keys.row_key)]
        {
            if let Some(text) = text {
                range.intersect(&keys::parse_range(text)?);
            }
        }
        let names = selection.select.iter().flat_map(|names| names.split(','));
        let names: Vec<String> =
            names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            query.select = Select::names(names);
        }
        query.top = Some(selection.top);
        Ok(Self { query, entities })
    }
}

/// Returns the selection in the request's URL. If it has conditions on key parts but no entity type, the parts belong to the table's first schema.
pub(crate) fn selection(context: &Context<'_>, table: &TableName) -> Selection {
    let pairs = context.request.query.iter();
    with_entity(context, table, Selection::read(pairs.map(|(name, value)| (name.as_str(), value.as_str()))))
}

/// Adds the entity type of the table's first schema, if any, to a selection with conditions on key parts but no type. The parts then keep their meaning even if
/// another schema is stored later.
pub(crate) fn with_entity(context: &Context<'_>, table: &TableName, selection: Selection) -> Selection {
    if selection.entity.is_some() || selection.parts.is_empty() {
        return selection;
    }
    let entity = context.known.of(table).next().map(|schema| schema.entity.clone());
    Selection { entity, ..selection }
}

/// Returns the schema of a selection's entity type. If no type is selected, returns the table's first schema, or `None` if no schema is stored.
///
/// # Errors
/// `Input` if no schema is stored for the type.
pub(crate) fn schema<'a>(
    context: &'a Context<'_>,
    table: &TableName,
    selection: &Selection,
) -> Result<Option<&'a StoredSchema>> {
    let Some(entity) = &selection.entity else { return Ok(context.known.of(table).next()) };
    let found = context.known.of(table).find(|schema| schema.entity == *entity);
    let known: Vec<&str> = context.known.of(table).map(|schema| schema.entity.as_str()).collect();
    let help = if known.is_empty() { String::new() } else { format!("; it stores {}", known.join(", ")) };
    let missing = || Failure::Input(format!("table {table} stores no schema of `{entity}`{help}"));
    found.map(Some).ok_or_else(missing)
}

/// Converts the selection's conditions on key parts to part requests.
fn parts(
    table: &TableName,
    schema: Option<&StoredSchema>,
    selection: &Selection,
) -> Result<Vec<PartRequest>> {
    for (at, (name, _)) in selection.parts.iter().enumerate() {
        if schema.is_none() {
            return Err(Failure::Input(format!(
                "table {table} stores no schema with a part `{name}`; select rows by their keys"
            )));
        }
        if selection.parts.iter().take(at).any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            return Err(Failure::Input(format!("the part `{name}` has two conditions; remove one")));
        }
    }
    let request = |(name, values): &(String, String)| PartRequest::new(name, values);
    Ok(selection.parts.iter().map(request).collect::<table_inspect::Result<_>>()?)
}

/// Returns the filter for a condition. The value has the property's declared type or, if no type is declared, the type guessed from the text. Keys are always
/// strings, and the `Timestamp` is always a date and time.
fn compare(schema: Option<&StoredSchema>, condition: &Condition) -> Result<Filter> {
    let Condition { property, operator, value: text } = condition;
    if property.is_empty() {
        return Err(Failure::Input(format!("a condition has the value `{text}` and no property; name one")));
    }
    let edm = match property.as_str() {
        "PartitionKey" | "RowKey" => EdmType::String,
        ENTITY_TYPE if schema.is_some_and(|schema| schema.kind.is_some()) => EdmType::String,
        "Timestamp" => EdmType::DateTime,
        _ => {
            let declared =
                schema.and_then(|schema| schema.properties.iter().find(|known| known.name == *property));
            declared.map_or_else(|| value::guess(text), |declared| declared.edm)
        }
    };
    let found = value::read(edm, text).map_err(|expected| {
        Failure::Input(format!("`{property}` is {edm}; expected {expected}, not `{text}`"))
    })?;
    Ok(Filter::compare(property.clone(), *operator, found))
}
