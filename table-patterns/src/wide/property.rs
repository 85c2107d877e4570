//! Properties of a wide entity by name and type: what a patch sets.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::wide::Slots;

/// A property of the wide entity `W`, of type `T`: `YearOfCounts::OFFICE`, `YearOfCounts::DAYS.at(200)`. Made by
/// [`#[derive(Wide)]`](derive@crate::wide::Wide); by hand of the name.
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
    /// The property of this name, which must be one of `W` and of this type.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), of: PhantomData }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Slots of the wide entity `W`, held together as `F`: `YearOfCounts::DAYS`. Made by
/// [`#[derive(Wide)]`](derive@crate::wide::Wide); by hand of the word and of how many digits the numbers have.
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
    /// The slots of this word, which must be those of `W` and of this type.
    #[must_use]
    pub const fn new(word: &'static str, digits: usize) -> Self {
        Self { word, digits, of: PhantomData }
    }

    /// The slot of this number, as the declaration counts them. One that is not there is an error where it is used.
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
