//! Builds a query from the fields of a form.

use table_core::filter::Comparison;
use table_core::query::{KeyRange, Select};
use table_core::schema::StoredSchema;
use table_core::{Filter, Query, TableName};
use table_inspect::keys::{self, PartRequest};
use table_inspect::value;

use crate::failure::{Failure, Result};
use crate::keyed;
use crate::pages::Context;

/// The default and maximum number of rows on one page.
pub(crate) const ROWS: usize = 50;
const MOST: usize = 1_000;

/// The prefix of form fields for key parts.
pub(crate) const PART: &str = "part.";

/// A query, and the schema that defines the names of its key parts.
#[derive(Debug)]
pub(crate) struct FormQuery<'a> {
    pub(crate) query: Query,
    pub(crate) schema: Option<&'a StoredSchema>,
}

/// A condition on a property, as entered in the form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) property: &'a str,
    pub(crate) operator: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> FormQuery<'a> {
    /// Creates the query from the parameters of the request.
    ///
    /// # Errors
    /// `Input` if the key does not support a condition, if a part or property cannot have a value, or if the filter is invalid.
    pub(crate) fn new(context: &'a Context<'_>, table: &TableName) -> Result<Self> {
        let request = context.request;
        let schema = schema(context, table);
        let mut query =
            request.query("filter").map_or_else(|| Ok(Query::new(KeyRange::ALL)), Query::parse)?;
        let names = schema.map(keyed::part_names).unwrap_or_default();
        let given = |name: &str| Some(PartRequest::new(name, part(context, name)?));
        let parts = names.into_iter().filter_map(given).collect::<table_inspect::Result<Vec<_>>>()?;
        if let Some(schema) = schema.filter(|_| !parts.is_empty()) {
            let keys = keys::key_range(schema, &parts)?;
            query.keys.partition_key.intersect(&keys.partition_key);
            query.keys.row_key.intersect(&keys.row_key);
        }
        for (name, range) in [("partition", &mut query.keys.partition_key), ("row", &mut query.keys.row_key)]
        {
            if let Some(text) = request.query(name) {
                range.intersect(&keys::parse_range(text)?);
            }
        }
        for condition in conditions(context) {
            let filter = filter(schema, condition)?;
            query.filter = Some(match query.filter.take() {
                Some(before) => before.and(filter),
                None => filter,
            });
        }
        let names: Vec<String> = request
            .query("select")
            .into_iter()
            .flat_map(|names| names.split(','))
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        if !names.is_empty() {
            query.select = Select::names(names);
        }
        let top = request.query("top").and_then(|top| top.parse().ok()).unwrap_or(ROWS);
        query.top = Some(top.clamp(1, MOST));
        Ok(Self { query, schema })
    }
}

/// Returns the schema named in the form, or else the first schema of the table.
pub(crate) fn schema<'a>(context: &'a Context<'_>, table: &TableName) -> Option<&'a StoredSchema> {
    let named = context.request.query("entity");
    let mut schemas = context.known.of(table);
    match named {
        Some(named) => schemas.find(|schema| schema.entity == named),
        None => schemas.next(),
    }
}

/// Returns the values entered for a part.
pub(crate) fn part<'a>(context: &'a Context<'_>, name: &str) -> Option<&'a str> {
    context.request.query(&format!("{PART}{name}")).map(str::trim).filter(|values| !values.is_empty())
}

/// Returns the conditions on properties, except empty ones.
pub(crate) fn conditions<'a>(context: &'a Context<'_>) -> Vec<Condition<'a>> {
    let all = |name: &'static str| {
        context.request.query.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    };
    let triples = all("property").zip(all("is")).zip(all("value"));
    triples
        .map(|((property, operator), value)| Condition { property, operator, value })
        .filter(|condition| !condition.property.is_empty())
        .collect()
}

/// Returns the filter for a condition. The value has the declared type, or else the type inferred from the text.
fn filter(schema: Option<&StoredSchema>, condition: Condition<'_>) -> Result<Filter> {
    let Condition { property, operator, value: text } = condition;
    let declared = schema.and_then(|schema| schema.properties.iter().find(|known| known.name == property));
    let edm = declared.map_or_else(|| value::guess(text), |declared| declared.edm);
    let found = value::read(edm, text).map_err(|expected| {
        Failure::Input(format!("`{property}` is {edm}; expected {expected}, not `{text}`"))
    })?;
    let operator = match operator {
        "ne" => Comparison::Ne,
        "gt" => Comparison::Gt,
        "ge" => Comparison::Ge,
        "lt" => Comparison::Lt,
        "le" => Comparison::Le,
        _ => Comparison::Eq,
    };
    Ok(Filter::compare(property.to_owned(), operator, found))
}
