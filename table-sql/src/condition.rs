//! Conditions in a statement that compare one column with a constant.

use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use table_core::filter::Comparison;

use crate::column::Column;

/// A comparison of one column with a constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition<'a> {
    pub(crate) column: &'a Column,
    pub(crate) test: Test<'a>,
}

/// A comparison operator with its constant, or a prefix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test<'a> {
    Compare(Comparison, &'a ScalarValue),
    StartsWith(&'a str),
}

impl<'a> Condition<'a> {
    /// Returns the condition represented by the expression, or `None` if the expression is not a single condition.
    pub(crate) fn of(expression: &'a Expr, columns: &'a [Column]) -> Option<Self> {
        match expression {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let operator = operator(*op)?;
                match (&**left, &**right) {
                    (Expr::Column(found), Expr::Literal(value, _)) => Some(Self {
                        column: named(&found.name, columns)?,
                        test: Test::Compare(operator, value),
                    }),
                    (Expr::Literal(value, _), Expr::Column(found)) => {
                        let test = Test::Compare(operator.reversed(), value);
                        Some(Self { column: named(&found.name, columns)?, test })
                    }
                    _ => None,
                }
            }
            Expr::Like(like) if !like.negated && !like.case_insensitive => {
                match (&*like.expr, &*like.pattern) {
                    (Expr::Column(found), Expr::Literal(pattern, _)) => {
                        let prefix = text(pattern)?.strip_suffix('%')?;
                        let is_plain = !prefix.contains(['%', '_', '\\']) && like.escape_char.is_none();
                        let column = named(&found.name, columns)?;
                        is_plain.then_some(Self { column, test: Test::StartsWith(prefix) })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns conditions satisfied by every selected row: the operands of a conjunction, the two bounds of a `BETWEEN`, or a single condition.
    pub(crate) fn all(expression: &'a Expr, columns: &'a [Column]) -> Vec<Self> {
        match expression {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                let mut all = Self::all(left, columns);
                all.extend(Self::all(right, columns));
                all
            }
            Expr::Between(between) if !between.negated => {
                let (Expr::Column(found), Expr::Literal(low, _), Expr::Literal(high, _)) =
                    (&*between.expr, &*between.low, &*between.high)
                else {
                    return Vec::new();
                };
                let Some(column) = named(&found.name, columns) else { return Vec::new() };
                let test = |operator, value| Self { column, test: Test::Compare(operator, value) };
                vec![test(Comparison::Ge, low), test(Comparison::Le, high)]
            }
            other => Self::of(other, columns).into_iter().collect(),
        }
    }
}

/// Returns the column with the given name.
pub(crate) fn named<'a>(name: &str, columns: &'a [Column]) -> Option<&'a Column> {
    columns.iter().find(|column| column.name == name)
}

fn operator(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Eq,
        Operator::NotEq => Comparison::Ne,
        Operator::Gt => Comparison::Gt,
        Operator::GtEq => Comparison::Ge,
        Operator::Lt => Comparison::Lt,
        Operator::LtEq => Comparison::Le,
        _ => return None,
    })
}

/// Returns the text of a string constant.
pub(crate) fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_deref()
        }
        _ => None,
    }
}

/// Returns `true` if SQL and the store agree on the order of this string relative to every other string.
///
/// SQL compares code points, and a store compares UTF-16 code units. The two orders differ only between a character above U+FFFF and a character from U+E000 to
/// U+FFFF. They agree if this string contains only characters below U+E000.
pub(crate) fn is_portable(text: &str) -> bool {
    text.chars().all(|character| character < '\u{E000}')
}
