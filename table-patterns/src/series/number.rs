//! Number types of slots that can be incremented.

use table_core::property::Property;

/// A number type of slots that can be incremented.
///
/// ```
/// use table_patterns::series::SlotNumber;
///
/// assert_eq!(41.sum(1), Some(42));
/// assert_eq!(i32::MAX.sum(1), None); // refused by an increment, never wrapped
/// ```
#[diagnostic::on_unimplemented(
    message = "[T180] a slot of `{Self}` cannot be incremented",
    label = "increments are for series of numbers",
    note = "`i32`, `i64` and `f64` can; `set` takes any property"
)]
pub trait SlotNumber: Property + Copy {
    /// The value of an empty slot in an increment.
    const ZERO: Self;

    /// Returns the sum, or `None` if the type cannot represent it.
    fn sum(self, other: Self) -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl SlotNumber for i32 {
    const ZERO: Self = 0;

    fn sum(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

#[diagnostic::do_not_recommend]
impl SlotNumber for i64 {
    const ZERO: Self = 0;

    fn sum(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

/// As usual for floating-point numbers, sums are rounded and may become infinite.
#[diagnostic::do_not_recommend]
impl SlotNumber for f64 {
    const ZERO: Self = 0.0;

    fn sum(self, other: Self) -> Option<Self> {
        Some(self + other)
    }
}
