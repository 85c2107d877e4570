//! Common types that cannot be properties. The error message of each kind suggests the declaration to write instead.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num::{NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, FixedOffset, Local, NaiveDateTime};
use table_store::{ETag, EdmType, Result, Value, ValueRef};

use crate::property::Property;
use crate::row::RowWriter;

/// A common type that cannot be a property, but whose values can be stored in another way.
///
/// Any other type gets the error message of [`Property`]. This is also true if it is nested in another type.
#[diagnostic::on_unimplemented(
    message = "[T050] `{Self}` cannot be a property",
    label = "write `#[property(json)]` above this field, whose type derives serde's `Serialize` and `Deserialize`; or `#[derive(table_patterns::KeyPart)]` above an enum without data",
    note = "`String`, integers of fixed width, `f64`, `bool`, `DateTime<Utc>`, `Uuid`, `Vec<u8>` and `Option` of them are properties"
)]
pub trait StoredOtherwise {
    /// The kind of the type, which determines the error message.
    type Kind;
}

/// A bound that no kind in this module satisfies. It requires the trait for the kind, such as `ListProperty`, which the kind does not implement. rustc
/// therefore shows the error message of that trait.
pub trait Stores<T> {
    /// Returns a value of any type. It cannot be called, because no type implements this trait.
    fn refuse<R>() -> R;
}

/// A single implementation for all types in this module. If each type had its own, rustc would list these types among the types that can be properties.
#[doc(hidden)]
impl<T: StoredOtherwise> Property for T
where
    T::Kind: Stores<T>,
{
    const EDM: EdmType = EdmType::String;

    fn write_to(&self, _: &str, _: &mut RowWriter) -> Result<()> {
        T::Kind::refuse()
    }

    fn from_value(_: Option<ValueRef<'_>>) -> Result<Self> {
        T::Kind::refuse()
    }
}

/// Declares kinds of types. For each kind, it declares a trait that the kind does not implement. The error message of the trait suggests a replacement for the
/// type `T`.
macro_rules! kinds {
    ($($(#[$docs:meta])* $kind:ident, $property:ident: $fact:literal, $form:literal, $note:literal;)*) => {$(
        $(#[$docs])*
        #[derive(Debug)]
        pub enum $kind {}

        $(#[$docs])*
        #[diagnostic::on_unimplemented(message = $fact, label = $form, note = $note)]
        pub trait $property<T> {
            /// Returns a value of any type. It cannot be called, because no type implements this trait.
            fn refuse<R>() -> R;
        }

        impl<T> Stores<T> for $kind
        where
            Self: $property<T>,
        {
            fn refuse<R>() -> R {
                <Self as $property<T>>::refuse()
            }
        }
    )*};
}

kinds! {
    /// A collection, such as a `BTreeSet`.
    List, ListProperty: "[T050] `{T}` cannot be a property: a property has one value", "write `#[property(json)]` above this field",
        "`#[property(json)]` stores the values as JSON in one property, without filters; values that are queried or grow without limit are entities of their own";
    /// A tuple.
    Tuple, TupleProperty: "[T050] `{T}` cannot be a property: a property has one value", "write a field for each value, or `#[property(json)]` above this field",
        "fields of their own can be filtered; `#[property(json)]` stores the values as a JSON array in one property";
    /// A map, such as a `HashMap`.
    Map, MapProperty: "[T050] `{T}` cannot be a property: a property has one value", "write `#[property(json)]` above this field",
        "`#[property(json)]` stores the map as JSON in one property; `#[property(rest)]` stores each entry of a `BTreeMap<String, table_patterns::Value>` as a property";
    /// A JSON value, such as `serde_json::Value`.
    JsonValue, JsonProperty: "[T050] `{T}` cannot be a property without an attribute", "write `#[property(json)]` above this field",
        "`#[property(json)]` stores the value as JSON in one property of type `Edm.String`";
    /// An array of fixed length.
    Array, ArrayProperty: "[T050] `{T}` cannot be a property: arrays have no Edm type", "write `Vec<u8>` for bytes, or `#[property(json)]` above this field",
        "a `Vec<u8>` is stored as `Edm.Binary`; `#[property(json)]` stores the values as a JSON array";
    /// Text in a type other than `String`.
    Text, TextProperty: "[T050] `{T}` cannot be a property", "write `String`",
        "an entity owns its texts, because they are read from the store";
    /// An integer whose width depends on the platform.
    Machine, MachineProperty: "[T050] `{T}` cannot be a property: its width differs between machines", "write `u64` or `i64`",
        "both are stored as `Edm.Int64`";
    /// An integer type whose range exceeds that of every Edm type.
    Wide, WideProperty: "[T050] `{T}` cannot be a property: no Edm type contains its values", "write `i64`, or `u128` for numbers without a sign",
        "an `i64` is stored as `Edm.Int64`, a `u128` as a text of 39 digits";
    /// A time without a time zone, or in a time zone other than UTC.
    Time, TimeProperty: "[T050] `{T}` cannot be a property: an `Edm.DateTime` is an instant in UTC", "write `chrono::DateTime<chrono::Utc>`",
        "convert a local time before it is stored: `.to_utc()`, or `.and_utc()` for a time without a zone";
    /// The version of an entity.
    Version, VersionProperty: "[T050] `{T}` cannot be a property: the store keeps the version of an entity with its properties", "remove this field",
        "every read returns a `Versioned`, which contains the entity and its `ETag`";
    /// A value of any type.
    Dynamic, DynamicProperty: "[T050] `{T}` cannot be a property: a property has one type", "write the type of the values, such as `String` or `i64`",
        "a field of the type `BTreeMap<String, Value>` with `#[property(rest)]` contains properties of any type";
    /// An integer that cannot be zero.
    Positive, PositiveProperty: "[T050] `{T}` cannot be a property", "write the integer, such as `u32`",
        "an integer of an Edm type may be zero; the program converts it with `try_from`";
    /// A value behind a shared pointer, such as an `Rc`.
    Shared, SharedProperty: "[T050] `{T}` cannot be a property", "write the type without `Arc` or `Rc`",
        "an entity owns its values, because they are read from the store";
}

macro_rules! wrong {
    ($($kind:ident: $([$($generics:tt)*] $type:ty),+;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> StoredOtherwise for $type {
            type Kind = $kind;
        }
    )+)*};
}

wrong! {
    List: [T] VecDeque<T>, [T, S] HashSet<T, S>, [T] BTreeSet<T>;
    Array: [T, const N: usize] [T; N];
    Tuple: [A, B] (A, B), [A, B, C] (A, B, C), [A, B, C, D] (A, B, C, D);
    Map: [K, V, S] HashMap<K, V, S>, [K, V] BTreeMap<K, V>;
    JsonValue: [] serde_json::Value, [K, V] serde_json::Map<K, V>;
    Text: ['a] &'a str, ['a] Cow<'a, str>, [] Box<str>, [] Arc<str>, [] Rc<str>, [] PathBuf, [] char;
    Machine: [] usize, [] isize;
    Wide: [] i128;
    Time: [] NaiveDateTime, [] DateTime<Local>, [] DateTime<FixedOffset>, [] SystemTime;
    Version: [] ETag;
    Dynamic: [] Value;
    Positive: [] NonZeroU8, [] NonZeroU16, [] NonZeroU32, [] NonZeroU64, [] NonZeroI32, [] NonZeroI64;
    Shared: [T] Arc<T>, [T] Rc<T>;
}
