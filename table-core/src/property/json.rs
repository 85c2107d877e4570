//! `Json`: nested data in one property, stored as JSON text in an `Edm.String`.

mod nulls;

use std::ops::{Deref, DerefMut};

use serde::Serialize;
use serde::de::DeserializeOwned;
use table_store::{EdmType, Error, Result, ValueRef};

use crate::property::fault::PropertyFault;
use crate::property::json::nulls::Nulls;
use crate::property::{Property, PropertyFacts, Search};
use crate::row::RowWriter;

/// A value stored as JSON text in one `Edm.String`, for nested data of any serde type. Declared by `#[property(json)]`.
///
/// - The JSON has at most 32,768 UTF-16 code units (TYPE-10). Filters see it only as text.
/// - A value whose JSON is `null` is stored as an absent property, and an absent property is read as `null` (ENT-3). As a result, `Json<Option<T>>` and
///   `Option<Json<T>>` are stored in the same way.
/// - Some values are written by serde as `null` but read as another value. They are rejected at any depth: NaN, an infinity, and `Some` of a `null`, such as
///   `Some(None)`. The outer `Option` of an `Option<Json<Option<T>>>` is not checked, so `Some(Json(None))` is read as `None`.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_core::row::RowWriter;
/// use table_core::{Json, Property, ValueRef, property};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Address {
///     city: String,
///     zip: u32,
/// }
///
/// let address = Json(Address { city: "Oslo".to_owned(), zip: 150 });
/// let mut writer = RowWriter::new();
/// address.write_to("Address", &mut writer)?;
/// let row = writer.finish();
/// let stored = row.view().find("Address", &mut 0)?;
/// assert_eq!(stored, Some(ValueRef::String(r#"{"city":"Oslo","zip":150}"#)));
/// assert_eq!(property::read::<Json<Address>>(row.view(), "Address", &mut 0)?, address);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Json<T>(pub T);

impl<T> Json<T> {
    /// Returns the wrapped value.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Serialize> Json<T> {
    /// Appends a borrowed value to a row, like [`Property::write_to`] but without the wrapper.
    ///
    /// # Errors
    /// - `InvalidInput`, with the property's name, if the value cannot be converted to JSON. An example is a map whose keys are not strings.
    /// - `OutOfRangeInput` if JSON cannot represent the value, such as NaN or `Some(None)`.
    ///
    /// ```
    /// use table_core::{Json, row::RowWriter};
    ///
    /// let mut row = RowWriter::new();
    /// Json::write_ref(&["a", "b"], "Tags", &mut row)?;
    /// assert!(Json::write_ref(&[((1, 2), 3)].into_iter().collect::<std::collections::HashMap<_, _>>(), "Map", &mut row).is_err());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn write_ref(value: &T, name: &str, row: &mut RowWriter) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|error| Error::of(PropertyFault::ToJson(error)).with_property(name))?;
        // Values such as NaN are written as `null`. Only a value whose text contains `null` must be checked.
        if text.contains("null") {
            let checked = value.serialize(Nulls);
            checked.map_err(|error| Error::of(PropertyFault::LossyJson(error)).with_property(name))?;
        }
        if text != "null" {
            row.property(name, ValueRef::String(&text));
        }
        Ok(())
    }
}

impl<T: DeserializeOwned> Json<T> {
    /// Reads a stored value and returns it without the wrapper.
    ///
    /// # Errors
    /// `EntityMismatch` if the value is not an `Edm.String`, or its text is not the JSON of a `T`.
    ///
    /// ```
    /// use table_core::{Json, ValueRef};
    ///
    /// assert_eq!(Json::<Vec<u8>>::read(Some(ValueRef::String("[1,2]")))?, [1, 2]);
    /// assert_eq!(Json::<Option<u8>>::read(None)?, None);
    /// assert!(Json::<u8>::read(None).is_err());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn read(value: Option<ValueRef<'_>>) -> Result<T> {
        let text = match value {
            Some(ValueRef::String(text)) => text,
            None => "null",
            other => return Err(crate::property::mismatch(EdmType::String, other)),
        };
        let fault = if value.is_some() { PropertyFault::FromJson } else { PropertyFault::NoJson };
        serde_json::from_str(text).map_err(|error| Error::of(fault(error)))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Property for Json<T> {
    const EDM: EdmType = EdmType::String;

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        Self::write_ref(&self.0, name, row)
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        Self::read(value).map(Self)
    }
}

/// A type that generated code stores as JSON. Implemented by any type that implements serde's `Serialize` and `DeserializeOwned`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T050] `{Self}` cannot be stored as JSON: serde cannot write or cannot read it",
    label = "this type lacks serde's `Serialize` or `Deserialize`",
    note = "write `#[derive(serde::Serialize, serde::Deserialize)]` above the declaration of `{Self}`, and again for the types of its fields",
    note = "a parameter of a generic entity needs the bounds `Serialize` and `DeserializeOwned`"
)]
pub trait JsonValue: Sized {
    /// The property's metadata. A nested `Option` is valid here, because writes reject `Some(None)`.
    const FACTS: PropertyFacts;

    /// Appends the JSON to a row, like [`Property::write_to`].
    ///
    /// # Errors
    /// Any error from [`Json::write_ref`].
    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()>;

    /// Reads the next property, like [`Property::read_next`].
    fn read_next(search: &mut Search<'_>, name: &'static str) -> Option<Self>;

    /// Reads a stored value, like [`Property::from_value`].
    ///
    /// # Errors
    /// Any error from [`Json::read`].
    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> JsonValue for T {
    const FACTS: PropertyFacts = <Json<T> as Property>::FACTS;

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        Json::write_ref(self, name, row)
    }

    fn read_next(search: &mut Search<'_>, name: &'static str) -> Option<Self> {
        <Json<T> as Property>::read_next(search, name).map(Json::into_inner)
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        Json::read(value)
    }
}

impl<T> From<T> for Json<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(test)]
mod tests;
