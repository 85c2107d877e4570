//! Struct fields with one value per slot, such as `Day001` to `Day366`.

use table_core::property::Property;
use table_core::{Error, Result};

use crate::wide::fault::WideFault;
use crate::wide::{WideReader, WideWriter};

/// The type of a `#[slots]` field: `Vec<T>` or `[T; N]`, where `T` is a property.
///
/// ```
/// use table_patterns::wide::Slots;
///
/// assert_eq!(<[Option<i32>; 366] as Slots>::COUNT, Some(366));
/// assert_eq!(<Vec<Option<i32>> as Slots>::COUNT, None);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T155] `{Self}` does not hold slots",
    label = "this field is marked `#[slots(…)]`",
    note = "slots are the values of a `Vec<T>` or of an array `[T; N]`; `T` is `Option<…>` if a slot can be empty"
)]
pub trait Slots: Sized {
    /// The type of a single value.
    type Value: Property;

    /// The number of values, if the type determines it.
    const COUNT: Option<usize>;

    /// Writes the values under the given names, in order.
    ///
    /// # Errors
    /// `InvalidInput` if the number of values differs from the number of names; any error from [`WideWriter::set`].
    fn write(&self, names: &[&str], out: &mut WideWriter) -> Result<()>;

    /// Reads the values under the given names.
    ///
    /// # Errors
    /// Any error from [`WideReader::get`].
    fn read(names: &[&str], properties: &WideReader<'_>) -> Result<Self>;
}

impl<T: Property> Slots for Vec<T> {
    type Value = T;

    const COUNT: Option<usize> = None;

    fn write(&self, names: &[&str], out: &mut WideWriter) -> Result<()> {
        write(self, names, out)
    }

    fn read(names: &[&str], properties: &WideReader<'_>) -> Result<Self> {
        names.iter().map(|name| properties.get(name)).collect()
    }
}

impl<T: Property, const N: usize> Slots for [T; N] {
    type Value = T;

    const COUNT: Option<usize> = Some(N);

    fn write(&self, names: &[&str], out: &mut WideWriter) -> Result<()> {
        write(self, names, out)
    }

    fn read(names: &[&str], properties: &WideReader<'_>) -> Result<Self> {
        let values: Vec<T> = Slots::read(names, properties)?;
        values.try_into().map_err(|values: Vec<T>| wrong_count(values.len(), N))
    }
}

fn write<T: Property>(values: &[T], names: &[&str], out: &mut WideWriter) -> Result<()> {
    if values.len() != names.len() {
        let error = wrong_count(values.len(), names.len());
        return Err(names.first().map_or(error.clone(), |first| error.with_property(first)));
    }
    names.iter().zip(values).try_for_each(|(name, value)| out.set(name, value))
}

fn wrong_count(values: usize, slots: usize) -> Error {
    Error::of(WideFault::Slots { values, slots })
}
