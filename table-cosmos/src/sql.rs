//! Converts queries to parameterised SQL. The SQL selects a superset of the results, and the library then filters the returned rows.
//!
//! In Cosmos DB for NoSQL, a comparison with a missing value is neither true nor false. In the Table service, it is false. The library therefore sends
//! conditions that follow from the Table service's conditions but may match more items. Values are bound as parameters, and the SQL contains only validated
//! names.

mod compare;
mod condition;
mod levels;
mod mapped;

use std::collections::HashMap;
use std::ops::Bound;

use azure_data_cosmos::Query as SqlQuery;
use serde_json::Value as Json;
use table_core::filter::{Comparison, Filter, Term};
use table_core::query::{Query, TextRange};
use table_core::{Error, ErrorCode, Result, Value};

use crate::key;
use crate::mapping::Mapping;
use crate::scope::Scope;
use condition::Condition;

/// The start of every query.
const SELECT: &str = "SELECT * FROM c";
/// The end of a query within one partition key.
const ORDER: &str = " ORDER BY c.id";

/// The maximum length of a filter's condition and values, in bytes. The service rejects queries larger than 512 KB.
const FILTER_BYTES: usize = 256 << 10;
/// The approximate length in bytes of a number or Boolean in a request.
const NUMBER_BYTES: usize = 24;

/// An SQL query and its parameters.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sql {
    pub(crate) text: String,
    pub(crate) parameters: Vec<Json>,
    /// The index of each parameter, by its value.
    indexes: HashMap<Json, usize>,
    /// `true` if the SQL includes a condition for the query's filter.
    pub(crate) filtered: bool,
    /// `true` if the SQL has any condition apart from the conditions for the fixed levels.
    pub(crate) narrowed: bool,
}

impl Sql {
    /// Returns the SQL for a query within a scope. It selects a superset of the results.
    ///
    /// The SQL contains conditions for the levels. Without them, the service would read entire physical partitions (RT-13).
    pub(crate) fn of(query: &Query, scope: &Scope, mapping: &Mapping) -> Self {
        let mut sql = Self::default();
        let mut conditions: Vec<String> = sql.levels(mapping, scope.levels());
        // Selects only items that contain the mapping's constants.
        for (path, text) in &mapping.constants {
            conditions.push(format!("{} = {}", path.sql(), sql.bind(text.as_str().into())));
        }
        let fixed = conditions.len();
        if !matches!(scope, Scope::Key(_)) {
            conditions.extend(sql.next_level(mapping, &query.keys.partition_key, scope.levels()));
        }
        conditions.extend(sql.ids(&query.keys.row_key));
        let filter = query.filter.as_ref().and_then(|filter| sql.filter_text(filter, mapping));
        sql.filtered = filter.is_some();
        conditions.extend(filter);
        sql.narrowed = conditions.len() > fixed;
        sql.text.push_str(SELECT);
        if !conditions.is_empty() {
            sql.text.push_str(" WHERE ");
            sql.text.push_str(&conditions.join(" AND "));
        }
        // All items with one partition key are in the same physical partition, and their ids are indexed. Sorting therefore costs nothing extra.
        if matches!(scope, Scope::Key(_)) {
            sql.text.push_str(ORDER);
        }
        sql
    }

    /// Adds the condition that an id is greater than `last`.
    ///
    /// A page within one partition key starts after the last id of the previous page. Concurrent writes therefore do not shift pages.
    pub(crate) fn after(mut self, last: &str) -> Self {
        let bound = self.bind(last.into());
        let order = if self.text.ends_with(ORDER) { ORDER } else { "" };
        self.text.truncate(self.text.len() - order.len());
        self.text.push_str(if self.text == SELECT { " WHERE " } else { " AND " });
        self.text.push_str("c.id > ");
        self.text.push_str(&bound);
        self.text.push_str(order);
        self
    }

    /// Returns the SQL that selects the given rows of one partition key.
    pub(crate) fn of_rows(mapping: &Mapping, levels: &[String], rows: &[&str]) -> Self {
        let mut sql = Self::default();
        let mut conditions = sql.levels(mapping, levels);
        let ids: Vec<String> = rows.iter().map(|row| sql.bind(key::id(row).into())).collect();
        conditions.push(format!("c.id IN ({})", ids.join(", ")));
        sql.text = format!("{SELECT} WHERE {}", conditions.join(" AND "));
        sql
    }

    /// Converts the query to the Azure SDK's type.
    pub(crate) fn into_query(self) -> Result<SqlQuery> {
        let mut query = SqlQuery::from(self.text);
        for (at, value) in self.parameters.into_iter().enumerate() {
            query = query.with_parameter(format!("@p{at}"), value).map_err(|error| {
                Error::new(ErrorCode::InternalError, "a parameter could not be bound").with_source(error)
            })?;
        }
        Ok(query)
    }

    /// Binds a value as a parameter, and returns the parameter's name.
    fn bind(&mut self, value: Json) -> String {
        let at = *self.indexes.entry(value).or_insert_with_key(|value| {
            self.parameters.push(value.clone());
            self.parameters.len() - 1
        });
        format!("@p{at}")
    }

    /// Returns the conditions that fix the values of the first levels.
    fn levels(&mut self, mapping: &Mapping, levels: &[String]) -> Vec<String> {
        let levels = mapping.levels.iter().zip(levels);
        levels.map(|(path, level)| format!("{} = {}", path.sql(), self.bind(level.as_str().into()))).collect()
    }

    fn ids(&mut self, range: &TextRange) -> Option<String> {
        if let Some(text) = range.single() {
            return self.id("=", text);
        }
        let of_id = |bound: &Bound<String>| bound.as_ref().map(|text| key::id(text).into_owned());
        self.range("c.id", &TextRange { lower: of_id(&range.lower), upper: of_id(&range.upper) })
    }

    /// Returns conditions that all texts in a range satisfy. Returns `None` if no such condition can be sent.
    fn range(&mut self, place: &str, TextRange { lower, upper }: &TextRange) -> Option<String> {
        let above = match lower {
            Bound::Included(text) => self.ordered(place, ">=", text),
            Bound::Excluded(text) => self.ordered(place, ">", text),
            Bound::Unbounded => None,
        };
        let below = match upper {
            Bound::Included(text) => self.ordered(place, "<=", text),
            Bound::Excluded(text) => self.ordered(place, "<", text),
            Bound::Unbounded => None,
        };
        if above.is_some() && below.is_some() {
            return both(above, below);
        }
        // In UTF-16 order and in code point order, all texts between two bounds start with the common prefix of the bounds.
        let prefix = common_prefix(lower, upper);
        let starts =
            (!prefix.is_empty()).then(|| format!("STARTSWITH({place}, {})", self.bind(prefix.into())));
        both(both(above, below), starts)
    }

    /// Converts a comparison with a RowKey to a comparison with an item id. Ids sort in the same order as `RowKey`s.
    fn id(&mut self, operator: &str, row_key: &str) -> Option<String> {
        if matches!(operator, "=" | "!=") {
            return Some(format!("c.id {operator} {}", self.bind(key::id(row_key).into())));
        }
        self.ordered("c.id", operator, &key::id(row_key))
    }

    /// Returns an ordering comparison. Returns `None` if a text may satisfy it in the Table service's order (UTF-16 code units) but not in Cosmos DB's order
    /// (code points).
    fn ordered(&mut self, place: &str, operator: &str, text: &str) -> Option<String> {
        is_sent(operator, text).then(|| format!("{place} {operator} {}", self.bind(text.into())))
    }

    /// Returns the SQL condition for a filter. Returns `None` if every item satisfies it, or if it is too long for a request.
    fn filter_text(&mut self, filter: &Filter, mapping: &Mapping) -> Option<String> {
        let before = self.parameters.len();
        let text = self.filter(filter, mapping).text()?;
        let added = self.parameters.iter().skip(before).map(|value| match value {
            Json::String(text) => text.len(),
            _ => NUMBER_BYTES,
        });
        if text.len() + added.sum::<usize>() <= FILTER_BYTES {
            return Some(text);
        }
        self.parameters.truncate(before);
        self.indexes.retain(|_, at| *at < before);
        None
    }

    /// Returns a condition implied by the filter. It may match more rows than the filter does.
    fn filter(&mut self, filter: &Filter, mapping: &Mapping) -> Condition {
        let mut stack: Vec<Condition> = Vec::new();
        let pop = |stack: &mut Vec<_>| stack.pop().unwrap_or(Condition::True);
        for (term, is_negated) in filter.terms().iter().zip(negated(filter.terms())) {
            let made = match term {
                Term::Compare { name, operator, value } => {
                    self.compare(mapping, name, *operator, value, is_negated)
                }
                Term::Bool(name) => {
                    self.compare(mapping, name, Comparison::Eq, &Value::Boolean(true), is_negated)
                }
                // The operand has already been negated during its conversion.
                Term::Not => continue,
                Term::And | Term::Or => {
                    let (right, left) = (pop(&mut stack), pop(&mut stack));
                    if (*term == Term::And) == is_negated { left.or(right) } else { left.and(right) }
                }
            };
            stack.push(made);
        }
        pop(&mut stack)
    }
}

/// Returns, for each term of a filter, `true` if an odd number of `not` operators apply to it.
fn negated(terms: &[Term]) -> Vec<bool> {
    let mut negated = vec![false; terms.len()];
    // Operands precede their operator. The terms are visited in reverse, so the operators that apply to a term are visited before it.
    let mut stack = vec![false];
    for (term, own) in terms.iter().zip(&mut negated).rev() {
        let is_negated = stack.pop().unwrap_or_default();
        *own = is_negated;
        match term {
            Term::Not => stack.push(!is_negated),
            Term::And | Term::Or => stack.extend([is_negated; 2]),
            Term::Compare { .. } | Term::Bool(_) => {}
        }
    }
    negated
}

/// Joins two optional conditions.
fn both(left: Option<String>, right: Option<String>) -> Option<String> {
    match (left, right) {
        (Some(left), Some(right)) => Some(format!("{left} AND {right}")),
        (one, other) => one.or(other),
    }
}

/// Returns the longest common prefix of two bounds.
fn common_prefix(lower: &Bound<String>, upper: &Bound<String>) -> String {
    let text = |bound: &'_ Bound<String>| match bound {
        Bound::Included(text) | Bound::Excluded(text) => text.clone(),
        Bound::Unbounded => String::new(),
    };
    let (lower, upper) = (text(lower), text(upper));
    lower.chars().zip(upper.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
}

/// Returns `true` if the comparison can be sent. All texts that satisfy it by UTF-16 code units must also satisfy it by code points.
///
/// By UTF-16 code units, characters above U+FFFF sort before the characters from U+E000 to U+FFFF. By code points, they sort after all other characters.
fn is_sent(operator: &str, text: &str) -> bool {
    let end = if operator.starts_with('>') { '\u{10000}' } else { '\u{E000}' };
    text.chars().all(|c| c < end)
}

#[cfg(test)]
mod tests;
