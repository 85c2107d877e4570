//! Queries as parameterised SQL: a superset of the answer, of which the library's own matcher then takes what it accepts.
//!
//! Only conditions whose truth SQL and the table service see alike are sent, as conjunctions and disjunctions without negation: the
//! service's missing values are neither true nor false, ours are false. Literals stand in parameters, except those of this library.

use std::ops::Bound;

use azure_data_cosmos::Query as SqlQuery;
use serde_json::Value as Json;
use table_core::filter::{Comparison, Filter, Term};
use table_core::query::{Query, TextRange};
use table_core::{Error, ErrorCode, Result, Value};

use crate::item::{INT64, NAMES, SPECIAL, date_time};
use crate::key;
use crate::scope::Scope;

/// A query as text with its parameters.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sql {
    pub(crate) text: String,
    pub(crate) parameters: Vec<Json>,
}

impl Sql {
    /// The superset of what a query asks for in a scope. The levels stay in the text: without them the service reads whole
    /// partitions (RT-13).
    ///
    /// Pages of one whole key begin after the last id of the page before: whatever comes and goes beside the reader moves none of them.
    pub(crate) fn of(query: &Query, scope: &Scope, after: Option<&str>) -> Self {
        let mut sql = Self::default();
        let mut conditions: Vec<String> = Vec::new();
        for (name, level) in NAMES.iter().zip(scope.levels()) {
            let parameter = sql.bind(level.as_str().into());
            conditions.push(format!("c.{name} = {parameter}"));
        }
        conditions.extend(after.map(|last| format!("c.id > {}", sql.bind(last.into()))));
        conditions.extend(sql.ids(&query.keys.row_key));
        conditions.extend(query.filter.as_ref().and_then(|filter| sql.filter(filter)));
        sql.text.push_str("SELECT * FROM c");
        if !conditions.is_empty() {
            sql.text.push_str(" WHERE ");
            sql.text.push_str(&conditions.join(" AND "));
        }
        // One whole key is one partition, and its ids are indexed: its entities come in order at no price.
        if matches!(scope, Scope::Key(_)) {
            sql.text.push_str(" ORDER BY c.id");
        }
        sql
    }

    /// The client's query.
    pub(crate) fn into_query(self) -> Result<SqlQuery> {
        let mut query = SqlQuery::from(self.text);
        for (at, value) in self.parameters.into_iter().enumerate() {
            query = query.with_parameter(format!("@p{at}"), value).map_err(|error| {
                Error::new(ErrorCode::InternalError, "a parameter could not be bound").with_source(error)
            })?;
        }
        Ok(query)
    }

    fn bind(&mut self, value: Json) -> String {
        self.parameters.push(value);
        format!("@p{}", self.parameters.len() - 1)
    }

    fn ids(&mut self, range: &TextRange) -> Option<String> {
        if let Some(text) = range.single() {
            return self.id("=", text);
        }
        let lower = match &range.lower {
            Bound::Included(text) => self.id(">=", text),
            Bound::Excluded(text) => self.id(">", text),
            Bound::Unbounded => None,
        };
        let upper = match &range.upper {
            Bound::Included(text) => self.id("<=", text),
            Bound::Excluded(text) => self.id("<", text),
            Bound::Unbounded => None,
        };
        match (lower, upper) {
            (Some(lower), Some(upper)) => Some(format!("{lower} AND {upper}")),
            (one, other) => one.or(other),
        }
    }

    /// A comparison by RowKey as one of ids, which are in the same order but for those that begin with a blank.
    fn id(&mut self, operator: &str, row_key: &str) -> Option<String> {
        if operator == "=" {
            return Some(format!("c.id = {}", self.bind(key::id(row_key).into())));
        }
        if row_key.is_empty() || row_key.starts_with(' ') {
            return None;
        }
        self.ordered("c.id", operator, &key::id(row_key))
    }

    /// A comparison by order, where the order of code points and that of UTF-16 cannot differ: below the surrogates.
    fn ordered(&mut self, place: &str, operator: &str, text: &str) -> Option<String> {
        if text.chars().any(|c| c >= '\u{E000}') {
            return None;
        }
        Some(format!("{place} {operator} {}", self.bind(text.into())))
    }

    /// What is true wherever the filter is; `None` if that is everything.
    fn filter(&mut self, filter: &Filter) -> Option<String> {
        let mut stack: Vec<Condition> = Vec::new();
        for term in filter.terms() {
            let made = match term {
                Term::Compare { name, operator, value } => {
                    Condition::of(self.compare(name, *operator, value))
                }
                Term::Flag(name) => Condition::of(place(name).map(|place| format!("{place} = true"))),
                Term::Not => {
                    stack.pop();
                    Condition::True
                }
                Term::And | Term::Or => {
                    let (right, left) = (stack.pop(), stack.pop());
                    let (left, right) = (left.unwrap_or(Condition::True), right.unwrap_or(Condition::True));
                    if *term == Term::And { left.and(right) } else { left.or(right) }
                }
            };
            stack.push(made);
        }
        stack.pop().and_then(Condition::text)
    }

    fn compare(&mut self, name: &str, operator: Comparison, value: &Value) -> Option<String> {
        let sign = match operator {
            Comparison::Eq => "=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Ne => return None,
        };
        if name == "RowKey" {
            let Value::String(text) = value else { return None };
            return self.id(sign, text);
        }
        // Less than anything are also the values of other types (FIL-16).
        if matches!(operator, Comparison::Lt | Comparison::Le) {
            return None;
        }
        let place = place(name)?;
        let types = format!("c.t['{name}']");
        match value {
            Value::String(text) if sign == "=" => {
                Some(format!("{place} = {}", self.bind(text.as_str().into())))
            }
            Value::String(text) => self.ordered(&place, sign, text),
            Value::Boolean(value) if sign == "=" => Some(format!("{place} = {}", self.bind((*value).into()))),
            Value::Int32(number) => {
                let parameter = self.bind((*number).into());
                Some(format!("({place} {sign} {parameter} OR {types} = '{INT64}' OR {types} = '{SPECIAL}')"))
            }
            Value::DateTime(instant) => {
                Some(format!("{place} {sign} {}", self.bind(date_time(*instant).into())))
            }
            Value::Guid(guid) if sign == "=" => {
                Some(format!("{place} = {}", self.bind(guid.hyphenated().to_string().into())))
            }
            // Of an Int64, a double or bytes the service knows less than the matcher does.
            _ => None,
        }
    }
}

/// A condition, flat: the service bounds how deep parentheses go.
#[derive(Debug)]
enum Condition {
    True,
    One(String),
    All(Vec<String>),
    Any(Vec<String>),
}

impl Condition {
    fn of(text: Option<String>) -> Self {
        text.map_or(Self::True, Self::One)
    }

    fn text(self) -> Option<String> {
        match self {
            Self::True => None,
            Self::One(text) => Some(text),
            Self::All(texts) => Some(format!("({})", texts.join(" AND "))),
            Self::Any(texts) => Some(format!("({})", texts.join(" OR "))),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, one) | (one, Self::True) => one,
            (left, right) => Self::All([left.conjuncts(), right.conjuncts()].concat()),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (left, right) => Self::Any([left.disjuncts(), right.disjuncts()].concat()),
        }
    }

    fn conjuncts(self) -> Vec<String> {
        match self {
            Self::All(texts) => texts,
            other => other.text().into_iter().collect(),
        }
    }

    fn disjuncts(self) -> Vec<String> {
        match self {
            Self::Any(texts) => texts,
            other => other.text().into_iter().collect(),
        }
    }
}

/// Where a property is; `None` for what is none of the properties, or cannot be named in the text.
fn place(name: &str) -> Option<String> {
    let own = matches!(name, "PartitionKey" | "RowKey" | "Timestamp");
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (!own && plain).then(|| format!("c.p['{name}']"))
}

#[cfg(test)]
mod tests {
    use table_core::query::KeyRange;

    use super::*;

    fn sql(scope: &Scope, rows: TextRange, filter: &str) -> String {
        let mut query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key: rows });
        query.filter = Filter::parse(filter).unwrap();
        Sql::of(&query, scope, None).text
    }

    #[test]
    fn rt_13_levels_stay_in_the_text_as_bound_parameters() {
        let scope = Scope::Prefix(vec!["a'b".to_owned(), "u".to_owned()]);
        let query = Query::new(KeyRange::ALL);
        let sql = Sql::of(&query, &scope, None);
        assert_eq!(sql.text, "SELECT * FROM c WHERE c.l1 = @p0 AND c.l2 = @p1");
        assert_eq!(sql.parameters, ["a'b", "u"].map(Json::from));
        assert!(
            Sql::of(&query, &Scope::Key(vec!["a".to_owned()]), Some("r")).text.ends_with("ORDER BY c.id")
        );
    }

    #[test]
    fn fil_10_12_and_18_only_what_the_service_sees_alike_is_sent() {
        let where_of = |filter: &str| {
            let text = sql(&Scope::All, TextRange::ALL, filter);
            text.split_once(" WHERE ").map_or(String::new(), |(_, condition)| condition.to_owned())
        };
        assert_eq!(where_of("A eq 'x' and B eq true"), "(c.p['A'] = @p0 AND c.p['B'] = @p1)");
        assert_eq!(where_of("A eq 'x' or B ne 5"), "");
        assert_eq!(where_of("A eq 'x' and B ne 5"), "c.p['A'] = @p0");
        assert_eq!(where_of("not (A eq 'x')"), "");
        assert_eq!(where_of("A gt 5L"), "");
        assert_eq!(where_of("A gt 5"), "(c.p['A'] > @p0 OR c.t['A'] = 'Int64' OR c.t['A'] = 'Special')");
        assert_eq!(where_of("RowKey ge 'r'"), "c.id >= @p0");
        assert_eq!(where_of("Timestamp gt datetime'2020-01-01T00:00:00Z'"), "");
        assert_eq!(where_of("PartitionKey eq 'x'"), "");
        assert_eq!(where_of("A lt 5 and B le 'x'"), "", "FIL-16");
        assert_eq!(where_of("RowKey lt 'r'"), "c.id < @p0");
        let many = (0..50).map(|at| format!("A eq '{at}'")).collect::<Vec<_>>().join(" or ");
        assert_eq!(where_of(&many).matches('(').count(), 1);
        assert_eq!(where_of("Flag"), "c.p['Flag'] = true");
    }

    #[test]
    fn ord_1_bounds_beyond_the_surrogates_are_left_to_the_matcher() {
        assert_eq!(
            sql(&Scope::All, TextRange::prefix("é"), "A eq 'x'"),
            "SELECT * FROM c WHERE c.id >= @p0 AND c.id < @p1 AND c.p['A'] = @p2"
        );
        assert!(!sql(&Scope::All, TextRange::prefix("\u{FFFD}"), "A eq 'x'").contains("c.id >="));
        assert!(!sql(&Scope::All, TextRange::prefix("🚀"), "A eq 'x'").contains("c.id >="));
        assert!(sql(&Scope::All, TextRange::exactly("🚀"), "A eq 'x'").contains("c.id = @p0"));
    }
}
