//! Typed properties of a wide entity, for patches.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::wide::Slots;

/// A property of the wide entity `W` with type `T`: `YearOfCounts::OFFICE`, `YearOfCounts::DAYS.at(200)`. Created by
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
    of: PhantomData<fn() -> (W, T)>,
}

impl<W, T> WideProperty<W, T> {
    /// Creates a property from its name. `W` must have such a property of type `T`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), of: PhantomData }
    }

    /// Returns the name of the property in the store.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The slots of the wide entity `W`, in a field of type `F`: `YearOfCounts::DAYS`. Created by [`#[derive(Wide)]`](derive@crate::wide::Wide), or from the word
/// at the start of their names and the number of digits after it.
///
/// ```
/// use table_patterns::wide::WideSlots;
///
/// struct YearOfCounts;
/// const DAYS: WideSlots<YearOfCounts, Vec<Option<i32>>> = WideSlots::new("Day", 3);
/// assert_eq!(DAYS.at(7).name(), "Day007");
/// ```
pub struct WideSlots<W, F> {
    word: &'static str,
    digits: usize,
    of: PhantomData<fn() -> (W, F)>,
}

impl<W, F> WideSlots<W, F> {
    /// Creates the slots whose names begin with `word`. `W` must have such slots of type `F`.
    #[must_use]
    pub const fn new(word: &'static str, digits: usize) -> Self {
        Self { word, digits, of: PhantomData }
    }

    /// Returns the slot with the declared number. If it does not exist, its first use fails.
    #[must_use]
    pub fn at(&self, number: usize) -> WideProperty<W, F::Value>
    where
        F: Slots,
    {
        let name = format!("{}{number:0width$}", self.word, width = self.digits);
        WideProperty { name: Cow::Owned(name), of: PhantomData }
    }
}

impl<W, T> Clone for WideProperty<W, T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), of: PhantomData }
    }
}

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
