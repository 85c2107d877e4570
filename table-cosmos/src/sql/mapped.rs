//! Converts comparisons with mapped properties to SQL. The types of these properties are known, so the conditions do not check them.

use serde_json::Value as Json;
use table_core::Value;
use table_core::filter::Comparison;

use crate::mapping::{Format, Member};
use crate::sql::compare::{number, sign};
use crate::sql::condition::Condition;
use crate::sql::{Sql, is_sent};

impl Sql {
    /// Returns a condition that holds for every item that satisfies the comparison with a mapped property. It may match more items.
    pub(super) fn by_member(&mut self, member: &Member, operator: Comparison, value: &Value) -> Condition {
        let place = member.path.sql();
        let sent = match (member.format, value) {
            (Format::Text, Value::String(text))
                if operator == Comparison::Eq || is_sent(sign(operator), text) =>
            {
                Some((sign(operator), text.as_str().into()))
            }
            // A number of another type may be treated as less than the constant, regardless of its value (FIL-16).
            (Format::Int32 | Format::TimeToLive | Format::Int64 | Format::Double, number_value)
                if member.format.edm_type() == value.edm_type() || !is_below(operator) =>
            {
                number(operator, number_value)
            }
            (Format::UnixSeconds, Value::DateTime(instant)) => whole(operator, instant.timestamp()),
            (Format::UnixMilliseconds, Value::DateTime(instant)) => {
                whole(operator, instant.timestamp_millis())
            }
            (Format::DateTime, Value::DateTime(instant)) => {
                return Condition::One(self.by_seconds(place, operator, instant.timestamp()));
            }
            (Format::Boolean | Format::Guid | Format::Base64 | Format::Int64Text, _)
                if operator == Comparison::Eq =>
            {
                member.format.write(value.as_ref()).map(|json| ("=", json))
            }
            _ => None,
        };
        Condition::One(match sent {
            Some((sign, bound)) => format!("{place} {sign} {}", self.bind(bound)),
            None => format!("IS_DEFINED({place})"),
        })
    }

    /// Returns a condition that holds for every item for which the comparison is true or the property is absent.
    pub(super) fn by_member_or_none(
        &mut self,
        member: &Member,
        operator: Comparison,
        value: &Value,
    ) -> Condition {
        let place = member.path.sql();
        let absent = Condition::One(format!("(NOT IS_DEFINED({place}) OR IS_NULL({place}))"));
        self.by_member(member, operator, value).or(absent)
    }

    /// Returns a comparison of RFC 3339 strings by their first 19 characters, which end with the seconds.
    pub(super) fn by_seconds(&mut self, place: &str, operator: Comparison, seconds: i64) -> String {
        let text = |seconds: i64| {
            let instant = chrono::DateTime::from_timestamp(seconds, 0)?;
            let text = instant.format("%Y-%m-%dT%H:%M:%S").to_string();
            // A year with five digits would sort before a year with four digits.
            (text.len() == 19).then(|| Json::from(text))
        };
        let (Some(from), Some(below)) = (text(seconds), seconds.checked_add(1).and_then(text)) else {
            return format!("IS_DEFINED({place})");
        };
        match operator {
            Comparison::Eq => {
                format!("({place} >= {} AND {place} < {})", self.bind(from), self.bind(below))
            }
            Comparison::Gt | Comparison::Ge => format!("{place} >= {}", self.bind(from)),
            Comparison::Lt | Comparison::Le => format!("{place} < {}", self.bind(below)),
            Comparison::Ne => format!("IS_DEFINED({place})"),
        }
    }
}

const fn is_below(operator: Comparison) -> bool {
    matches!(operator, Comparison::Lt | Comparison::Le | Comparison::Ne)
}

/// Returns the operator and the bound for comparing whole time units with a time. The time may lie between two units.
fn whole(operator: Comparison, units: i64) -> Option<(&'static str, Json)> {
    match operator {
        Comparison::Eq => Some(("=", units.into())),
        Comparison::Gt | Comparison::Ge => Some((">=", units.into())),
        Comparison::Lt | Comparison::Le => Some(("<=", units.into())),
        Comparison::Ne => None,
    }
}
