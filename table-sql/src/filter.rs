//! Converts conditions on properties into a filter evaluated by the store.
//!
//! A filter matches every row that satisfies its expression. It may match other rows as well, because DataFusion evaluates the expression again.

use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use table_core::filter::Comparison;
use table_core::query::TextRange;
use table_core::{Filter, Value, ticks};

use crate::column::{Column, Kind, Source};
use crate::condition::{Condition, Test, is_portable, named, text};

/// The maximum number of values in an `IN` list sent to the store.
const LIST: usize = 10;

/// Returns a filter matching every row that satisfies the expression. Returns `None` if the store cannot evaluate any part of the expression.
pub(crate) fn filter(expression: &Expr, columns: &[Column]) -> Option<Filter> {
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (filter(left, columns), filter(right, columns)) {
                (Some(left), Some(right)) => Some(left.and(right)),
                (left, right) => left.or(right),
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(filter(left, columns)?.or(filter(right, columns)?))
        }
        Expr::Column(found) => flag(named(&found.name, columns)?),
        Expr::Not(inner) => match &**inner {
            Expr::Column(found) => flag(named(&found.name, columns)?).map(|flag| !flag),
            _ => None,
        },
        Expr::InList(list) if !list.negated && list.list.len() <= LIST => {
            let Expr::Column(found) = &*list.expr else { return None };
            let column = named(&found.name, columns)?;
            let one = |value: &Expr| match value {
                Expr::Literal(value, _) => compare(column, Comparison::Eq, value),
                _ => None,
            };
            let all = list.list.iter().map(one).collect::<Option<Vec<_>>>()?;
            all.into_iter().reduce(Filter::or)
        }
        Expr::Between(_) => {
            let conditions = Condition::all(expression, columns);
            conditions.iter().filter_map(of).reduce(Filter::and)
        }
        other => of(&Condition::of(other, columns)?),
    }
}

fn of(condition: &Condition<'_>) -> Option<Filter> {
    match condition.test {
        Test::Compare(operator, value) => compare(condition.column, operator, value),
        Test::StartsWith(prefix) => starts_with(condition.column, prefix),
    }
}

fn flag(column: &Column) -> Option<Filter> {
    match (&column.source, column.kind) {
        (Source::Property(name, _), Kind::Boolean) => Some(Filter::flag(name.clone())),
        _ => None,
    }
}

/// Returns a column's name in filters, or `None` for a key part.
fn name_of(column: &Column) -> Option<String> {
    Some(match &column.source {
        Source::PartitionKey => "PartitionKey".to_owned(),
        Source::RowKey => "RowKey".to_owned(),
        Source::Timestamp => "Timestamp".to_owned(),
        Source::Part(_) => return None,
        Source::Property(name, _) => name.clone(),
    })
}

fn compare(column: &Column, operator: Comparison, value: &ScalarValue) -> Option<Filter> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let is_equality = matches!(operator, Eq | Ne);
    let (operator, value) = match (column.kind, value) {
        (Kind::Text, value) => {
            let text = text(value)?;
            (operator, (is_equality || is_portable(text)).then(|| Value::from(text))?)
        }
        (Kind::Int32, ScalarValue::Int32(Some(number))) => (operator, Value::Int32(*number)),
        (Kind::Int64, ScalarValue::Int64(Some(number))) => (operator, Value::Int64(*number)),
        (Kind::Boolean, ScalarValue::Boolean(Some(truth))) if is_equality => {
            (operator, Value::Boolean(*truth))
        }
        // In SQL, NaN is greater than every number, and -0 can be less than 0. The service behaves differently in both cases.
        (Kind::Double, ScalarValue::Float64(Some(number))) if number.is_finite() => match operator {
            Eq | Le => (operator, Value::Double(*number)),
            Lt => (Le, Value::Double(*number)),
            Ne | Gt | Ge => return None,
        },
        (Kind::Nanos, ScalarValue::TimestampNanosecond(Some(nanos), _)) => (operator, instant(*nanos)?),
        // The constant is sent only if it is formatted exactly like the column's GUIDs.
        (Kind::Guid, value) if operator == Eq => {
            let text = text(value)?;
            let guid = text.parse().ok().map(Value::Guid)?;
            (operator, (table_inspect::value::show(&guid) == text).then_some(guid)?)
        }
        _ => return None,
    };
    Some(Filter::compare(name_of(column)?, operator, value))
}

/// Converts a time to a value. Returns `None` if the time is not a whole number of ticks.
fn instant(nanos: i64) -> Option<Value> {
    let count = (nanos % 100 == 0).then(|| ticks::UNIX_EPOCH.checked_add_signed(nanos / 100))??;
    (count >= ticks::EDM_MIN).then(|| ticks::to_datetime(count).map(Value::DateTime))?
}

fn starts_with(column: &Column, prefix: &str) -> Option<Filter> {
    use std::ops::Bound::Excluded;
    if column.kind != Kind::Text || !is_portable(prefix) || prefix.is_empty() {
        return None;
    }
    let name = name_of(column)?;
    let least = Filter::compare(name.clone(), Comparison::Ge, prefix);
    match TextRange::prefix(prefix).upper {
        Excluded(upper) => Some(least.and(Filter::compare(name, Comparison::Lt, upper))),
        _ => Some(least),
    }
}
