//! Converts comparisons in a filter to SQL.
//!
//! A comparison with a missing property is false (FIL-11). Numbers are compared as values of the stored type (FIL-15). A value of a different type is less than
//! every constant, and equal to none (FIL-16).

use serde_json::Value as Json;
use table_core::Value;
use table_core::filter::Comparison;
use table_core::query::TextRange;

use crate::exact::MOST_EXACT;
use crate::item::{DATE_TIME, GUID, INT64, SPECIAL, write_value};
use crate::mapping::Mapping;
use crate::sql::condition::Condition;
use crate::sql::{Sql, is_sent};

impl Sql {
    /// Returns a condition that holds for every item that satisfies the comparison. If the comparison is negated, the same applies to its opposite. The
    /// condition may match more items.
    pub(super) fn compare(
        &mut self,
        mapping: &Mapping,
        name: &str,
        operator: Comparison,
        value: &Value,
        is_negated: bool,
    ) -> Condition {
        let operator = if is_negated { opposite(operator) } else { operator };
        match name {
            "PartitionKey" => self.by_partition_key(mapping, operator, value),
            "RowKey" => self.by_row_key(operator, value),
            "Timestamp" => self.by_timestamp(operator, value),
            _ => {
                let property = Property::new(mapping, name);
                if let Some(member) = mapping.member(name) {
                    let mapped = if is_negated {
                        self.by_member_or_none(member, operator, value)
                    } else {
                        self.by_member(member, operator, value)
                    };
                    // An earlier release, whose mapping had no path for the property, may have written the item.
                    let unmapped =
                        |property: Property| Condition::One(format!("IS_DEFINED({})", property.value));
                    return mapped.or(property.map_or(Condition::True, unmapped));
                }
                let Some(property) = property else { return Condition::True };
                let present = self.by_property(&property, operator, value);
                if is_negated {
                    present.or(Condition::One(format!("NOT IS_DEFINED({})", property.value)))
                } else {
                    present
                }
            }
        }
    }

    fn by_partition_key(&mut self, mapping: &Mapping, operator: Comparison, value: &Value) -> Condition {
        let Value::String(text) = value else { return mismatched(operator) };
        let range = |lower: bool| {
            let bound = std::ops::Bound::Included(text.clone());
            let open = std::ops::Bound::Unbounded;
            if lower {
                TextRange { lower: bound, upper: open }
            } else {
                TextRange { lower: open, upper: bound }
            }
        };
        match operator {
            Comparison::Eq => self.partition_key(mapping, text).map_or(Condition::False, Condition::One),
            Comparison::Ne => Condition::True,
            Comparison::Gt | Comparison::Ge => Condition::of(self.next_level(mapping, &range(true), &[])),
            Comparison::Lt | Comparison::Le => Condition::of(self.next_level(mapping, &range(false), &[])),
        }
    }

    fn by_row_key(&mut self, operator: Comparison, value: &Value) -> Condition {
        let Value::String(text) = value else { return mismatched(operator) };
        Condition::of(self.id(sign(operator), text))
    }

    /// Returns a comparison with the Timestamp, which the service truncates to seconds.
    fn by_timestamp(&mut self, operator: Comparison, value: &Value) -> Condition {
        let Value::DateTime(instant) = value else { return mismatched(operator) };
        let seconds = instant.timestamp();
        let (sign, seconds) = match operator {
            Comparison::Eq => ("=", seconds),
            Comparison::Gt | Comparison::Ge => (">=", seconds),
            Comparison::Lt | Comparison::Le => ("<=", seconds),
            Comparison::Ne => return Condition::True,
        };
        Condition::One(format!("c._ts {sign} {}", self.bind(seconds.into())))
    }

    fn by_property(&mut self, property: &Property, operator: Comparison, value: &Value) -> Condition {
        let Property { value: place, edm } = property;
        let others = |comparable: &str| format!("(IS_DEFINED({place}) AND {comparable})");
        let is_below = matches!(operator, Comparison::Lt | Comparison::Le | Comparison::Ne);
        let text = match value {
            // Ordering comparisons are replaced by weaker conditions. Base64 texts sort differently from the binary values that they encode, and Booleans are
            // rarely compared this way.
            Value::Binary(_) | Value::Boolean(_) => match operator {
                Comparison::Eq => self.compared(place, operator, value),
                Comparison::Ne if matches!(value, Value::Boolean(_)) => {
                    let compared = self.compared(place, operator, value);
                    others(&format!("({compared} OR NOT IS_BOOL({place}))"))
                }
                Comparison::Gt | Comparison::Ge if matches!(value, Value::Binary(_)) => {
                    format!("{edm} = 'Binary'")
                }
                Comparison::Gt | Comparison::Ge => format!("IS_BOOL({place})"),
                _ => format!("IS_DEFINED({place})"),
            },
            Value::String(text) => {
                if operator != Comparison::Eq && !is_sent(sign(operator), text) {
                    return Condition::One(format!("IS_DEFINED({place})"));
                }
                let compared = format!("{place} {} {}", sign(operator), self.bind(text.as_str().into()));
                if is_below {
                    others(&format!("({compared} OR NOT IS_STRING({place}) OR IS_DEFINED({edm}))"))
                } else {
                    compared
                }
            }
            Value::DateTime(_) | Value::Guid(_) => {
                let (stored, compared) = match value {
                    Value::DateTime(instant) => {
                        (DATE_TIME, self.by_seconds(place, operator, instant.timestamp()))
                    }
                    _ => (GUID, self.compared(place, operator, value)),
                };
                if is_below {
                    others(&format!("({compared} OR NOT IS_DEFINED({edm}) OR {edm} != '{stored}')"))
                } else {
                    compared
                }
            }
            Value::Int32(_) | Value::Int64(_) | Value::Double(_) => {
                let Some((sign, bound)) = number(operator, value) else {
                    return Condition::One(format!("IS_DEFINED({place})"));
                };
                let compared = format!("{place} {sign} {}", self.bind(bound));
                if is_below {
                    // If the type of a stored value cannot be widened to the type of the constant, the value is treated as less than the constant (FIL-16).
                    let lesser = match value {
                        Value::Int64(_) => format!(" OR NOT IS_DEFINED({edm})"),
                        Value::Double(_) => format!(
                            " OR {edm} = '{INT64}' OR (NOT IS_DEFINED({edm}) AND FLOOR({place}) = {place})"
                        ),
                        _ => String::new(),
                    };
                    others(&format!("({compared} OR NOT IS_NUMBER({place}){lesser})"))
                } else {
                    // Integers above 2^53, NaN and infinities are stored as strings.
                    format!(
                        "({compared} OR (IS_STRING({place}) AND ({edm} = '{INT64}' OR {edm} = '{SPECIAL}')))"
                    )
                }
            }
        };
        Condition::One(text)
    }

    fn compared(&mut self, place: &str, operator: Comparison, value: &Value) -> String {
        format!("{place} {} {}", sign(operator), self.bind(write_value(value.as_ref()).0))
    }
}

/// The SQL expressions for the value and the stored type of a property.
struct Property {
    value: String,
    edm: String,
}

impl Property {
    /// Returns the expressions for a property, or `None` if its name cannot be used in SQL.
    fn new(mapping: &Mapping, name: &str) -> Option<Self> {
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (values, types) = (mapping.own.properties.sql(), mapping.own.types.sql());
        is_plain.then(|| Self { value: format!("{values}['{name}']"), edm: format!("{types}['{name}']") })
    }
}

/// Returns the operator and the bound for a comparison with a number. Returns `None` if the service cannot represent the number.
///
/// Doubles represent all integers up to 2^53. A larger integer is rounded, and the comparison is widened to include the rounded bound.
pub(super) fn number(operator: Comparison, value: &Value) -> Option<(&'static str, Json)> {
    match value {
        Value::Int32(number) => Some((sign(operator), (*number).into())),
        Value::Int64(number) if number.unsigned_abs() <= MOST_EXACT => {
            Some((sign(operator), (*number).into()))
        }
        Value::Int64(number) => {
            #[expect(clippy::cast_precision_loss, reason = "the comparison is widened by the rounding error")]
            let rounded = *number as f64;
            match operator {
                Comparison::Eq => Some(("=", rounded.into())),
                Comparison::Gt | Comparison::Ge => Some((">=", rounded.into())),
                Comparison::Lt | Comparison::Le => Some(("<=", rounded.into())),
                Comparison::Ne => None,
            }
        }
        Value::Double(number) => number.is_finite().then(|| (sign(operator), (*number).into())),
        _ => None,
    }
}

/// Returns a comparison that holds whenever the given comparison of two present values is false. It may also hold in other cases.
const fn opposite(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Eq => Comparison::Ne,
        Comparison::Ne => Comparison::Eq,
        Comparison::Lt => Comparison::Ge,
        Comparison::Le => Comparison::Gt,
        Comparison::Gt => Comparison::Le,
        Comparison::Ge => Comparison::Lt,
    }
}

/// Returns the result of comparing a value with a constant of a different type (FIL-16).
pub(super) const fn mismatched(operator: Comparison) -> Condition {
    match operator {
        Comparison::Lt | Comparison::Le | Comparison::Ne => Condition::True,
        Comparison::Eq | Comparison::Gt | Comparison::Ge => Condition::False,
    }
}

pub(super) const fn sign(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Eq => "=",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}
