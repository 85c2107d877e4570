//! Row selections: the fields of the query form. All conversions to and from query strings are in this module, so links, exports, saved queries and the form
//! agree.

use table_core::TableName;
use table_core::filter::Comparison;
use table_core::query::TextRange;
use table_inspect::keys;

use crate::link;

/// The default and the maximum number of rows on one page.
pub(crate) const ROWS: usize = 50;
const MOST: usize = 1_000;
/// The prefix of key-part parameters.
pub(crate) const PART: &str = "part.";

/// A selection of rows. An empty field does not restrict the selection and is omitted from the query string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The entity type of the rows, to which `parts` refers. `None` selects rows of all types.
    pub(crate) entity: Option<String>,
    /// The conditions on key parts: part names, and values in the syntax of [`keys::PartRequest`].
    pub(crate) parts: Vec<(String, String)>,
    /// The range of partition keys, in the syntax of [`keys::parse_range`].
    pub(crate) partition: Option<String>,
    /// The range of row keys, in the syntax of [`keys::parse_range`].
    pub(crate) row: Option<String>,
    pub(crate) filter: Option<String>,
    pub(crate) select: Option<String>,
    pub(crate) conditions: Vec<Condition>,
    /// The maximum number of rows on one page.
    pub(crate) top: usize,
}

/// A condition on a property, as entered in the form. The value may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) property: String,
    pub(crate) operator: Comparison,
    pub(crate) value: String,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            entity: None,
            parts: Vec::new(),
            partition: None,
            row: None,
            filter: None,
            select: None,
            conditions: Vec::new(),
            top: ROWS,
        }
    }
}

impl Selection {
    /// Returns the selection of all rows in a partition.
    pub(crate) fn of_partition(partition_key: &str) -> Self {
        Self { partition: Some(exactly(partition_key)), ..Self::default() }
    }

    /// Reads a selection from URL parameters, ignoring unrelated ones. If a parameter is repeated, the first occurrence is used, except that all key parts and
    /// conditions are read.
    pub(crate) fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut read = Self::default();
        let mut fields = Vec::new();
        let mut top = None;
        for (name, value) in pairs {
            let field = match name {
                "property" | "is" | "value" => {
                    Fields::add(&mut fields, name, value);
                    continue;
                }
                "entity" => &mut read.entity,
                "partition" => &mut read.partition,
                "row" => &mut read.row,
                "filter" => &mut read.filter,
                "select" => &mut read.select,
                "top" => &mut top,
                name => {
                    let part =
                        name.strip_prefix(PART).zip(Some(written(value)).filter(|value| !value.is_empty()));
                    read.parts.extend(part.map(|(name, values)| (name.to_owned(), values.to_owned())));
                    continue;
                }
            };
            if field.is_none() && !value.is_empty() {
                *field = Some(value.to_owned());
            }
        }
        read.conditions = fields.into_iter().filter_map(Fields::condition).collect();
        read.top = top.and_then(|top| top.parse().ok()).unwrap_or(ROWS).clamp(1, MOST);
        read
    }

    /// Parses a selection from a query string.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs: Vec<_> = form_urlencoded::parse(text.as_bytes()).collect();
        Self::read(pairs.iter().map(|(name, value)| (&**name, &**value)))
    }

    /// Returns the selection as URL parameters, the inverse of [`read`](Self::read).
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let part = |(name, values): &(String, String)| (format!("{PART}{name}"), values.clone());
        let mut pairs: Vec<(String, String)> = self.parts.iter().map(part).collect();
        let mut add = |name: &str, value: &str| pairs.push((name.to_owned(), value.to_owned()));
        for (name, field) in [
            ("partition", &self.partition),
            ("row", &self.row),
            ("filter", &self.filter),
            ("select", &self.select),
        ] {
            if let Some(value) = field {
                add(name, value);
            }
        }
        for Condition { property, operator, value } in &self.conditions {
            add("property", property);
            add("is", operator.as_str());
            add("value", value);
        }
        if self.top != ROWS {
            add("top", &self.top.to_string());
        }
        if let Some(entity) = &self.entity {
            add("entity", entity);
        }
        pairs
    }

    /// Returns the parameters as a query string. The string is empty if the selection contains all rows of a table.
    pub(crate) fn text(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        form_urlencoded::Serializer::new(String::new()).extend_pairs(self.pairs()).finish()
    }

    /// Returns the URL of a table's page, with this selection and any extra query parameters.
    pub(crate) fn link(&self, table: &TableName, page: &str, more: &[(&str, &str)]) -> String {
        let mut pairs = self.pairs();
        pairs.extend(more.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        link::to(&link::table(table, page), &pairs)
    }

    /// Returns the values given for a key part.
    pub(crate) fn part(&self, name: &str) -> Option<&str> {
        let mut parts = self.parts.iter();
        parts.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, values)| values.as_str())
    }

    /// Returns a human-readable form of the selection, such as `department=Sales Age ge 30`.
    pub(crate) fn words(&self) -> String {
        let mut words: Vec<String> = self.entity.iter().map(|entity| format!("{entity}:")).collect();
        words.extend(self.parts.iter().map(|(name, values)| format!("{name}={values}")));
        for (name, field) in [("partition", &self.partition), ("row", &self.row)] {
            words.extend(field.iter().map(|values| format!("{name}={values}")));
        }
        words.extend(self.filter.clone());
        for Condition { property, operator, value } in &self.conditions {
            let value = if value.is_empty() { "''" } else { value };
            words.push(format!("{property} {} {value}", operator.as_str()));
        }
        words.extend(self.select.iter().map(|names| format!("select={names}")));
        words.extend((self.top != ROWS).then(|| format!("top={}", self.top)));
        words.join(" ")
    }
}

/// Trims the values of a key part. After a leading `=`, spaces are part of the value and are kept.
fn written(values: &str) -> &str {
    if values.starts_with('=') { values } else { values.trim() }
}

/// Returns a string parsed by [`keys::parse_range`] as exactly this key: usually the key itself, otherwise with a leading `=`.
fn exactly(key: &str) -> String {
    let is_exact = keys::parse_range(key).is_ok_and(|range| range == TextRange::exactly(key));
    if is_exact && !key.is_empty() { key.to_owned() } else { format!("={key}") }
}

/// The fields of one condition, in reading order. A field starts the next condition if this condition already has that field or a later one.
#[derive(Default)]
struct Fields<'a> {
    property: Option<&'a str>,
    operator: Option<&'a str>,
    value: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn add(all: &mut Vec<Self>, name: &str, value: &'a str) {
        let slot = |fields: &mut Self| match name {
            "property" => false,
            "is" => fields.operator.is_none() && fields.value.is_none(),
            _ => fields.value.is_none(),
        };
        if !all.last_mut().is_some_and(slot) {
            all.push(Self::default());
        }
        let Some(last) = all.last_mut() else { return };
        match name {
            "property" => last.property = Some(value),
            "is" => last.operator = Some(value),
            _ => last.value = Some(value),
        }
    }

    /// Returns the condition, or `None` if neither a property nor a value was entered.
    fn condition(self) -> Option<Condition> {
        let (property, value) = (self.property.unwrap_or_default(), self.value.unwrap_or_default());
        let named = |operator: &Comparison| Some(operator.as_str()) == self.operator;
        let operator = Comparison::ALL.into_iter().find(named).unwrap_or(Comparison::Eq);
        let is_entered = !property.is_empty() || !value.is_empty();
        is_entered.then(|| Condition { property: property.to_owned(), operator, value: value.to_owned() })
    }
}
