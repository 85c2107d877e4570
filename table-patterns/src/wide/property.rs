//! Typed properties of a wide entity, used in patches.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use table_core::{Error, Result};

use crate::wide::Slots;
use crate::wide::fault::WideFault;

/// A property of type `T` in the wide entity `W`, such as `YearOfCounts::OFFICE` or `YearOfCounts::DAYS.at(200)`. Created by
/// [`#[derive(Wide)]`](derive@crate::wide::Wide), or from its name.
///
/// ```
/// use table_patterns::wide::WideProperty;
///
/// struct YearOfCounts;
/// const OFFICE: WideProperty<YearOfCounts, Option<String>> = WideProperty::new("Office");
/// assert_eq!(OFFICE.name(), "Office");
/// ```
pub struct WideProperty<W, T> {
    name: Cow<'static, str>,
    /// The field's first and last slot numbers, if the property's number is outside this range.
    outside: Option<(usize, usize)>,
    of: PhantomData<fn() -> (W, T)>,
}

impl<W, T> WideProperty<W, T> {
    /// Creates a property from its name. `W` must have a property of type `T` with this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), outside: None, of: PhantomData }
    }

    /// Returns the name under which the property is stored.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks that the property exists.
    ///
    /// # Errors
    /// `InvalidInput` if a slot's number is not declared for its field (PAT-WIDE-1).
    pub(super) fn check(&self) -> Result<()> {
        match self.outside {
            Some((first, last)) => {
                Err(Error::of(WideFault::NoSlot { first, last }).with_property(&self.name))
            }
            None => Ok(()),
        }
    }
}

/// The slots of a field of type `F` in the wide entity `W`, such as `YearOfCounts::DAYS`. Created by [`#[derive(Wide)]`](derive@crate::wide::Wide), or from
/// three values: the word at the start of the slots' names, the number of digits after it, and the range of numbers.
///
/// ```
/// use table_patterns::wide::WideSlots;
///
/// struct YearOfCounts;
/// const DAYS: WideSlots<YearOfCounts, Vec<Option<i32>>> = WideSlots::new("Day", 3, 1..=366);
/// assert_eq!(DAYS.at(7).name(), "Day007");
/// ```
pub struct WideSlots<W, F> {
    word: &'static str,
    digits: usize,
    first: usize,
    last: usize,
    of: PhantomData<fn() -> (W, F)>,
}

impl<W, F> WideSlots<W, F> {
    /// Creates the slots whose names begin with `word`. `W` must have slots with these names, in a field of type `F`.
    #[must_use]
    pub const fn new(word: &'static str, digits: usize, numbers: RangeInclusive<usize>) -> Self {
        Self { word, digits, first: *numbers.start(), last: *numbers.end(), of: PhantomData }
    }

    /// Returns the slot with the given number. If the number is not declared for this field, the first operation that uses the slot fails. This is so even if
    /// another field has a slot with the same name.
    #[must_use]
    pub fn at(&self, number: usize) -> WideProperty<W, F::Value>
    where
        F: Slots,
    {
        let name = format!("{}{number:0width$}", self.word, width = self.digits);
        let is_declared = (self.first..=self.last).contains(&number);
        let outside = (!is_declared).then_some((self.first, self.last));
        WideProperty { name: Cow::Owned(name), outside, of: PhantomData }
    }
}

clone_fields!([W, T] WideProperty[W, T] { name, outside, of });

impl<W, F> Clone for WideSlots<W, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, F> Copy for WideSlots<W, F> {}

impl<W, T> fmt::Debug for WideProperty<W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WideProperty({})", self.name)
    }
}

impl<W, F> fmt::Debug for WideSlots<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WideSlots({})", self.word)
    }
}
