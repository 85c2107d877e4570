//! The operators on conditions: `&`, `|` and `!`. A `bool` column can also be an operand.

use std::ops::{BitAnd, BitOr, Not};

use crate::column::{BoolColumn, Column, Condition, IntoCondition};

/// Combines two conditions like [`and`](Condition::and). The result matches if both conditions match.
///
/// ```
/// use table_core::Column;
///
/// struct Employee;
/// const AGE: Column<Employee, i32> = Column::new("Age");
/// const ACTIVE: Column<Employee, bool> = Column::new("Active");
/// let retired_or_minor = AGE.ge(65) | AGE.ge(0) & AGE.lt(18);
/// assert_eq!(retired_or_minor.into_filter().to_string(), "Age ge 65 or Age ge 0 and Age lt 18");
/// assert_eq!((ACTIVE & AGE.lt(18)).into_filter().to_string(), "Active and Age lt 18");
/// ```
impl<E, C: IntoCondition<E>> BitAnd<C> for Condition<E> {
    type Output = Self;

    fn bitand(self, other: C) -> Self {
        self.and(other)
    }
}

/// Combines two conditions like [`or`](Condition::or). The result matches if at least one of the conditions matches.
impl<E, C: IntoCondition<E>> BitOr<C> for Condition<E> {
    type Output = Self;

    fn bitor(self, other: C) -> Self {
        self.or(other)
    }
}

/// Negates the condition. A negated comparison also matches entities that lack the property (FIL-12).
impl<E> Not for Condition<E> {
    type Output = Self;

    fn not(self) -> Self {
        Self::from_filter(!self.into_filter())
    }
}

/// Combines the column's [`is_true`](Column::is_true) condition with another condition. The result matches if both match.
impl<E, T: BoolColumn, K, C: IntoCondition<E>> BitAnd<C> for Column<E, T, K> {
    type Output = Condition<E>;

    fn bitand(self, other: C) -> Condition<E> {
        self.is_true().and(other)
    }
}

/// Combines the column's [`is_true`](Column::is_true) condition with another condition. The result matches if at least one of them matches.
impl<E, T: BoolColumn, K, C: IntoCondition<E>> BitOr<C> for Column<E, T, K> {
    type Output = Condition<E>;

    fn bitor(self, other: C) -> Condition<E> {
        self.is_true().or(other)
    }
}

/// Negates the column's [`is_true`](Column::is_true) condition. The result also matches entities that lack the property (FIL-12).
impl<E, T: BoolColumn, K> Not for Column<E, T, K> {
    type Output = Condition<E>;

    fn not(self) -> Condition<E> {
        !self.is_true()
    }
}
