//! Filters: conditions on properties and keys in the service's `$filter` language (QRY, FIL, LIT rules).
//!
//! Parse a [`Filter`] with [`Filter::parse`], or build one from typed columns (`Column` in `table-core`) or with [`Filter::compare`]. `Display` prints the
//! filter, and a [`Matcher`] evaluates it on encoded rows.

#[cfg(test)]
pub(crate) mod arbitrary;
mod check;
mod fault;
mod lexer;
mod literal;
mod matcher;
mod parser;
mod printer;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use matcher::Matcher;

use crate::ticks;
use crate::value::Value;

/// A comparison operator (DQ-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The `eq` operator: equal.
    Eq,
    /// The `ne` operator: not equal.
    Ne,
    /// The `gt` operator: greater than.
    Gt,
    /// The `ge` operator: greater than or equal.
    Ge,
    /// The `lt` operator: less than.
    Lt,
    /// The `le` operator: less than or equal.
    Le,
}

impl Comparison {
    /// All six comparison operators.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Ge, Self::Lt, Self::Le];

    /// Returns the operator's keyword in a filter.
    ///
    /// ```
    /// assert_eq!(table_core::filter::Comparison::Ge.as_str(), "ge");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }

    /// Returns the operator with the same meaning for swapped operands: `30 lt Age` means `Age gt 30` (FIL-3).
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Eq => Self::Eq,
            Self::Ne => Self::Ne,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
        }
    }
}

/// One term of a [`Filter`] in postfix order: `A and not B` is `A`, `B`, [`Not`](Self::Not), [`And`](Self::And).
///
/// ```
/// use table_core::filter::{Filter, Term};
///
/// let filter = Filter::parse("Age ge 18 and not Retired")?.expect("the text is not empty");
/// let names = filter.terms().iter().filter_map(|term| match term {
///     Term::Compare { name, .. } | Term::Bool(name) => Some(&**name),
///     Term::And | Term::Or | Term::Not => None,
/// });
/// assert_eq!(names.collect::<Vec<_>>(), ["Age", "Retired"]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A property, `PartitionKey`, `RowKey` or `Timestamp` compared with a constant (FIL-3).
    Compare {
        /// The name of the property.
        name: Cow<'static, str>,
        /// The comparison operator.
        operator: Comparison,
        /// The constant on the right of the operator.
        value: Value,
    },
    /// A bare property name, which matches if the property is the Boolean `true` (FIL-13).
    Bool(Cow<'static, str>),
    /// The conjunction of the two preceding conditions.
    And,
    /// The disjunction of the two preceding conditions.
    Or,
    /// The negation of the preceding condition (FIL-10).
    Not,
}

/// A condition on entities.
///
/// The terms are stored in a flat list, so nesting depth is unlimited: even a malicious filter with a million parentheses is parsed, printed, evaluated and
/// dropped without recursion.
///
/// ```
/// use table_core::Filter;
/// use table_core::filter::Comparison;
///
/// let filter = Filter::compare("Age", Comparison::Ge, 30).and(!Filter::flag("Retired"));
/// assert_eq!(filter.to_string(), "Age ge 30 and not Retired");
/// assert_eq!(Filter::parse("Age ge 30 and not Retired")?, Some(filter));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The terms in postfix order. The list is never empty, and every operator has its operands.
    terms: Vec<Term>,
}

impl Filter {
    /// Creates a filter that compares a property, `PartitionKey`, `RowKey` or `Timestamp` with a constant. A date-time is truncated to a whole tick (TICK-6).
    ///
    /// Names and constants are not checked here. Every query calls [`check`](Self::check), which rejects names and constants that the grammar cannot express.
    pub fn compare(
        name: impl Into<Cow<'static, str>>,
        operator: Comparison,
        value: impl Into<Value>,
    ) -> Self {
        let value = match value.into() {
            Value::DateTime(instant) => Value::DateTime(ticks::truncate(instant)),
            other => other,
        };
        Self { terms: vec![Term::Compare { name: name.into(), operator, value }] }
    }

    /// Creates a filter that matches if a Boolean property is `true` (FIL-13).
    pub fn flag(name: impl Into<Cow<'static, str>>) -> Self {
        Self { terms: vec![Term::Bool(name.into())] }
    }

    /// Returns the conjunction of two filters.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.joined(other, Term::And)
    }

    /// Returns the disjunction of two filters.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.joined(other, Term::Or)
    }

    fn joined(mut self, other: Self, operator: Term) -> Self {
        self.terms.extend(other.terms);
        self.terms.push(operator);
        self
    }

    /// Returns the terms in postfix order, for backends that translate the filter.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the number of comparisons. The service documents a limit of 15, but accepts more (FIL-7).
    #[must_use]
    pub fn comparisons(&self) -> usize {
        self.terms.iter().filter(|term| matches!(term, Term::Compare { .. } | Term::Bool(_))).count()
    }

    /// Returns `true` if the filter is a disjunction, which needs parentheses inside an `and` (FIL-2).
    pub(crate) fn is_or(&self) -> bool {
        self.terms.last() == Some(&Term::Or)
    }

    /// Splits the filter into the conditions joined by its outermost `and` operators, in order (CLS-3).
    pub(crate) fn into_conjuncts(self) -> Vec<Self> {
        let starts = starts(&self.terms);
        let mut open = vec![self.terms.len().saturating_sub(1)];
        let mut spans = Vec::new();
        while let Some(end) = open.pop() {
            let start_of = |term: usize| starts.get(term).copied().unwrap_or_default();
            if self.terms.get(end) == Some(&Term::And) {
                open.push(end - 1);
                open.push(start_of(end - 1) - 1);
            } else {
                spans.push((start_of(end), end));
            }
        }
        let mut terms = self.terms.into_iter().enumerate();
        let conjunct = |(start, end): (usize, usize)| {
            let inside = terms.by_ref().skip_while(|(at, _)| *at < start).take(end - start + 1);
            Self { terms: inside.map(|(_, term)| term).collect() }
        };
        spans.into_iter().map(conjunct).collect()
    }
}

/// Negates the filter. A negated comparison also matches entities that lack the property (FIL-12).
impl std::ops::Not for Filter {
    type Output = Self;

    fn not(mut self) -> Self {
        self.terms.push(Term::Not);
        self
    }
}

/// Returns the index at which each term's subexpression starts. In postfix order, a subexpression ends with its own term.
fn starts(terms: &[Term]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::with_capacity(terms.len());
    for (at, term) in terms.iter().enumerate() {
        let before = |end: usize| end.checked_sub(1).and_then(|last| starts.get(last)).copied().unwrap_or(0);
        let start = match term {
            Term::Compare { .. } | Term::Bool(_) => at,
            Term::Not => before(at),
            Term::And | Term::Or => before(before(at)),
        };
        starts.push(start);
    }
    starts
}
