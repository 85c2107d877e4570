//! Evaluation of filters on encoded rows, decoding only the properties used in the filter (FIL-10 to FIL-18).
//!
//! A filter is compiled to a list of tests. After each test, evaluation jumps forward to one of two targets, depending on the result. The jumps implement
//! `and`, `or` and `not`.

mod outcome;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::filter::{Comparison, Filter, Term, starts};
use crate::row::{EntityRef, RowView};
use crate::value::{Value, ValueRef};
use outcome::{Constant, accepted, outcome};

/// The jump target that ends the evaluation with a match. `NO` ends it without a match.
const YES: usize = usize::MAX;
const NO: usize = usize::MAX - 1;

/// A compiled filter, with cached property indexes from the previous row.
///
/// ```
/// use table_core::filter::{Filter, Matcher};
/// use table_core::query::EntityRef;
/// use table_core::row::RowWriter;
/// use table_core::ValueRef;
///
/// let mut writer = RowWriter::new();
/// writer.property("Age", ValueRef::Int32(34));
/// let row = writer.finish();
/// let ada = EntityRef::new("Sales", "000223", row.view());
///
/// let filter = Filter::parse("Age ge 30 and RowKey lt '0003'")?.unwrap_or_else(|| Filter::flag("Active"));
/// assert!(Matcher::new(&filter).matches(ada)?);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    tests: Vec<Test>,
    /// The shape of the previous row: its property names and types.
    ///
    /// The next row usually has the same shape. In that case, the shapes are compared once, and no test needs to search for its property.
    shape: Vec<u8>,
    /// Incremented each time a row's shape differs from the previous row's.
    turn: u64,
}

#[derive(Clone, Debug)]
struct Test {
    operand: Operand,
    accepted: u8,
    constant: Constant,
    if_true: usize,
    if_false: usize,
}

#[derive(Clone, Debug)]
enum Operand {
    PartitionKey,
    RowKey,
    Timestamp,
    Property {
        name: Box<str>,
        /// The property's index and type tag in the shape, or `None` if the shape does not have the property.
        found: Option<(usize, u8)>,
        /// The matcher's `turn` when `found` was computed. If the turn has changed since, `found` is stale.
        turn: u64,
    },
}

impl Matcher {
    /// Compiles a filter. This costs about as much as a few comparisons.
    #[must_use]
    pub fn new(filter: &Filter) -> Self {
        let terms = filter.terms();
        let test = |(term, (if_true, if_false)): (&Term, (usize, usize))| match term {
            Term::Compare { name, operator, value } => {
                Some(Test::new(name, *operator, value, if_true, if_false))
            }
            // A bare name is equivalent to `eq true`, which is false if the property is missing or not a Boolean (FIL-13).
            Term::Bool(name) => {
                Some(Test::new(name, Comparison::Eq, &Value::Boolean(true), if_true, if_false))
            }
            Term::And | Term::Or | Term::Not => None,
        };
        let tests = terms.iter().zip(jumps(terms)).filter_map(test).collect();
        // New tests have turn 0, so turn 1 marks their cached indexes as stale.
        Self { tests, shape: Vec::new(), turn: 1 }
    }

    /// Returns `true` if a comparison uses `PartitionKey` or `RowKey`.
    #[doc(hidden)]
    #[must_use]
    pub fn looks_at_keys(&self) -> bool {
        self.tests.iter().any(|test| matches!(test.operand, Operand::PartitionKey | Operand::RowKey))
    }

    /// Returns `true` if the entity satisfies the filter. Memory is allocated only when the property names or types differ from those of the previous row.
    ///
    /// # Errors
    /// `Corrupted` if the entity's bytes are not a row.
    #[inline]
    pub fn matches(&mut self, entity: EntityRef<'_>) -> Result<bool> {
        let (shape, _) = entity.row.parts();
        if self.shape != shape {
            self.turn_to(shape);
        }
        let mut next = 0;
        while let Some(test) = self.tests.get_mut(next) {
            next = if test.holds(&entity, self.turn)? { test.if_true } else { test.if_false };
        }
        Ok(next == YES)
    }
}

impl Matcher {
    #[cold]
    fn turn_to(&mut self, shape: &[u8]) {
        self.shape.clear();
        self.shape.extend_from_slice(shape);
        self.turn += 1;
    }
}

/// Returns two jump targets for the subexpression that each term completes. Evaluation continues at the first target if the subexpression is true, and at the
/// second if it is false.
fn jumps(terms: &[Term]) -> Vec<(usize, usize)> {
    fn lead(jumps: &mut [(usize, usize)], end: usize, to: (usize, usize)) {
        if let Some(place) = jumps.get_mut(end) {
            *place = to;
        }
    }
    let starts = starts(terms);
    // Each comparison becomes one test, so the index of a condition's first test is the number of comparisons before it.
    let mut tests_before = Vec::with_capacity(terms.len());
    let mut tests = 0;
    for term in terms {
        tests_before.push(tests);
        tests += usize::from(matches!(term, Term::Compare { .. } | Term::Bool(_)));
    }
    // The terms are visited in reverse, because an operator determines the jumps of its operands, which precede it.
    let mut jumps = vec![(YES, NO); terms.len()];
    for (end, term) in terms.iter().enumerate().rev() {
        let (if_true, if_false) = jumps.get(end).copied().unwrap_or((YES, NO));
        let right = end.saturating_sub(1);
        let right_start = starts.get(right).copied().unwrap_or_default();
        let right_test = tests_before.get(right_start).copied().unwrap_or(NO);
        let left = right_start.saturating_sub(1);
        match term {
            Term::And => {
                lead(&mut jumps, right, (if_true, if_false));
                lead(&mut jumps, left, (right_test, if_false));
            }
            Term::Or => {
                lead(&mut jumps, right, (if_true, if_false));
                lead(&mut jumps, left, (if_true, right_test));
            }
            Term::Not => lead(&mut jumps, right, (if_false, if_true)),
            Term::Compare { .. } | Term::Bool(_) => {}
        }
    }
    jumps
}

impl Test {
    fn new(name: &str, operator: Comparison, value: &Value, if_true: usize, if_false: usize) -> Self {
        let operand = match name {
            "PartitionKey" => Operand::PartitionKey,
            "RowKey" => Operand::RowKey,
            "Timestamp" => Operand::Timestamp,
            property => Operand::Property { name: property.into(), found: None, turn: 0 },
        };
        Self { operand, accepted: accepted(operator), constant: Constant::new(value), if_true, if_false }
    }

    #[inline]
    fn holds(&mut self, entity: &EntityRef<'_>, now: u64) -> Result<bool> {
        let is_accepted = |value: &ValueRef<'_>| outcome(value, &self.constant) & self.accepted != 0;
        let Operand::Property { name, found, turn } = &mut self.operand else {
            return Ok(is_accepted(&match self.operand {
                Operand::PartitionKey => ValueRef::String(entity.partition_key),
                Operand::RowKey => ValueRef::String(entity.row_key),
                _ => ValueRef::DateTime(entity.row.timestamp()),
            }));
        };
        if *turn != now {
            *found = position(&entity.row, name)?;
            *turn = now;
        }
        // Compares the value in place. Copying the value would read bytes that were just written with a different access width. The CPU cannot forward such
        // stores, so it would stall.
        match entity.row.value_at(*found) {
            Ok(Some(ref value)) => Ok(is_accepted(value)),
            Ok(None) => Ok(false), // FIL-11
            Err(error) => Err(error),
        }
    }
}

#[cold]
fn position(row: &RowView<'_>, name: &str) -> Result<Option<(usize, u8)>> {
    row.position(name)
}
