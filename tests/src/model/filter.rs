//! Evaluates filters on decoded values, following the text of the rules (FIL-10 to FIL-18).

use std::cmp::Ordering;

use table_core::filter::{Comparison, Filter, Term};
use table_core::{Value, ticks};

use super::{Entity, utf16};

/// Returns `true` if the entity matches the filter. The terms of a filter are in postfix order.
pub(super) fn holds(filter: &Filter, entity: &Entity) -> bool {
    let mut results: Vec<bool> = Vec::new();
    for term in filter.terms() {
        let mut operand = || results.pop().unwrap_or_default();
        let result = match term {
            Term::And => operand() & operand(),
            Term::Or => operand() | operand(),
            Term::Not => !operand(),
            Term::Bool(name) => value(entity, name) == Some(Value::Boolean(true)), // FIL-13
            Term::Compare { name, operator, value: literal } => {
                value(entity, name).is_some_and(|stored| compare(&stored, *operator, literal)) // FIL-11
            }
        };
        results.push(result);
    }
    results.pop().unwrap_or(true)
}

fn value(entity: &Entity, name: &str) -> Option<Value> {
    match name {
        "PartitionKey" => Some(Value::String(entity.partition_key.clone())),
        "RowKey" => Some(Value::String(entity.row_key.clone())),
        "Timestamp" => ticks::to_datetime(entity.ticks).map(Value::DateTime),
        name => entity.properties.iter().find(|(stored, _)| stored == name).map(|(_, value)| value.clone()),
    }
}

/// The result of comparing two values.
enum Order {
    /// The types of the values do not match (FIL-16).
    Mismatch,
    /// One of the values is NaN (FIL-17).
    Unordered,
    /// The values are comparable and have this order (FIL-14).
    As(Ordering),
}

#[expect(clippy::cast_precision_loss, reason = "FIL-15 widens an Int64 literal to Double")]
fn order(stored: &Value, literal: &Value) -> Order {
    let double =
        |stored: &f64, literal: f64| stored.partial_cmp(&literal).map_or(Order::Unordered, Order::As);
    match (stored, literal) {
        (Value::String(stored), Value::String(literal)) => Order::As(utf16(stored).cmp(&utf16(literal))),
        (Value::Int32(stored), Value::Int32(literal)) => Order::As(stored.cmp(literal)),
        (Value::Int64(stored), Value::Int64(literal)) => Order::As(stored.cmp(literal)),
        (Value::Int64(stored), Value::Int32(literal)) => Order::As(stored.cmp(&i64::from(*literal))),
        (Value::Double(stored), Value::Double(literal)) => double(stored, *literal),
        (Value::Double(stored), Value::Int32(literal)) => double(stored, f64::from(*literal)),
        (Value::Double(stored), Value::Int64(literal)) => double(stored, *literal as f64),
        (Value::Boolean(stored), Value::Boolean(literal)) => Order::As(stored.cmp(literal)),
        (Value::DateTime(stored), Value::DateTime(literal)) => {
            Order::As(ticks::truncate(*stored).cmp(&ticks::truncate(*literal)))
        }
        (Value::Guid(stored), Value::Guid(literal)) => Order::As(stored.cmp(literal)),
        (Value::Binary(stored), Value::Binary(literal)) => Order::As(stored.cmp(literal)),
        _ => Order::Mismatch,
    }
}

fn compare(stored: &Value, operator: Comparison, literal: &Value) -> bool {
    match order(stored, literal) {
        Order::Mismatch => matches!(operator, Comparison::Ne | Comparison::Lt | Comparison::Le),
        Order::Unordered => operator == Comparison::Ne,
        Order::As(order) => match operator {
            Comparison::Eq => order.is_eq(),
            Comparison::Ne => order.is_ne(),
            Comparison::Gt => order.is_gt(),
            Comparison::Ge => order.is_ge(),
            Comparison::Lt => order.is_lt(),
            Comparison::Le => order.is_le(),
        },
    }
}
