//! Comparison of a stored value with a constant (FIL-14 to FIL-17).

use std::cmp::Ordering;

use uuid::Uuid;

use crate::filter::Comparison;
use crate::key::order;
use crate::value::{Value, ValueRef};

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
/// The outcome if either side is NaN (FIL-17).
const UNORDERED: u8 = 8;
/// The outcome for values of different types that cannot be widened (FIL-16).
const MISMATCH: u8 = 16;

/// Returns the outcomes for which an operator is true, as a bit mask. A comparison with a missing property has no outcome and is never true (FIL-11).
pub(super) const fn accepted(operator: Comparison) -> u8 {
    match operator {
        Comparison::Eq => EQUAL,
        Comparison::Ne => LESS | GREATER | UNORDERED | MISMATCH,
        Comparison::Lt => LESS | MISMATCH,
        Comparison::Le => LESS | EQUAL | MISMATCH,
        Comparison::Gt => GREATER,
        Comparison::Ge => GREATER | EQUAL,
    }
}

/// A constant in a form that is fast to compare with stored values.
#[derive(Clone, Debug)]
pub(super) enum Constant {
    String(Box<str>),
    /// An `Int32` constant. It is also compared with stored Int64 and Double values, after widening (FIL-15).
    Int32(i32),
    /// An `Int64` constant. It is also compared with stored Double values, after widening (FIL-15).
    Int64(i64),
    Double(f64),
    Boolean(bool),
    DateTime(u64),
    Guid(Uuid),
    Binary(Box<[u8]>),
}

impl Constant {
    pub(super) fn new(value: &Value) -> Self {
        match value.as_ref() {
            ValueRef::String(text) => Self::String(text.into()),
            ValueRef::Int32(number) => Self::Int32(number),
            ValueRef::Int64(number) => Self::Int64(number),
            ValueRef::Double(number) => Self::Double(number),
            ValueRef::Boolean(flag) => Self::Boolean(flag),
            ValueRef::DateTime(ticks) => Self::DateTime(ticks),
            ValueRef::Guid(guid) => Self::Guid(guid),
            ValueRef::Binary(bytes) => Self::Binary(bytes.into()),
        }
    }
}

/// Compares a stored value with a constant. Returns [`LESS`], [`EQUAL`], [`GREATER`], [`UNORDERED`] or [`MISMATCH`].
pub(super) fn outcome(stored: &ValueRef<'_>, constant: &Constant) -> u8 {
    let ordering = match (stored, constant) {
        // Equal strings have equal bytes, so equality is tested without the slower comparison in UTF-16 order.
        (ValueRef::String(stored), Constant::String(constant)) if *stored == &**constant => Ordering::Equal,
        (ValueRef::String(stored), Constant::String(constant)) => order::compare(stored, constant),
        (ValueRef::Int32(stored), Constant::Int32(constant)) => stored.cmp(constant),
        (ValueRef::Int64(stored), Constant::Int64(constant)) => stored.cmp(constant),
        (ValueRef::Int64(stored), Constant::Int32(constant)) => stored.cmp(&i64::from(*constant)),
        (ValueRef::Double(stored), Constant::Double(constant)) => return doubles(*stored, *constant),
        (ValueRef::Double(stored), Constant::Int32(constant)) => {
            return doubles(*stored, f64::from(*constant));
        }
        (ValueRef::Double(stored), Constant::Int64(constant)) => {
            #[expect(
                clippy::cast_precision_loss,
                reason = "widening to the stored type rounds as the service's does (FIL-15)"
            )]
            return doubles(*stored, *constant as f64);
        }
        (ValueRef::Boolean(stored), Constant::Boolean(constant)) => stored.cmp(constant),
        (ValueRef::DateTime(stored), Constant::DateTime(constant)) => stored.cmp(constant),
        (ValueRef::Guid(stored), Constant::Guid(constant)) => stored.cmp(constant),
        (ValueRef::Binary(stored), Constant::Binary(constant)) => (**stored).cmp(constant),
        _ => return MISMATCH,
    };
    of(ordering)
}

const fn of(ordering: Ordering) -> u8 {
    match ordering {
        Ordering::Less => LESS,
        Ordering::Equal => EQUAL,
        Ordering::Greater => GREATER,
    }
}

fn doubles(stored: f64, constant: f64) -> u8 {
    stored.partial_cmp(&constant).map_or(UNORDERED, of)
}
