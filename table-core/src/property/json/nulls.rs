//! A check for values that JSON writes as `null` and reads back as another value.

use std::fmt::Display;

use serde::ser::{self, Error as _, Serialize, Serializer};

/// A serializer that writes no JSON. It returns `true` for a value whose JSON is `null`.
///
/// It rejects values that `serde_json` writes as `null`, but that cannot be read back as the same value. These are NaN and the infinities, and a `Some` whose
/// content is `null`, such as `Some(None)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nulls;

type Checked = Result<bool, serde_json::Error>;

macro_rules! other {
    ($($function:ident: $ty:ty),+) => {$(
        fn $function(self, _: $ty) -> Checked {
            Ok(false)
        }
    )+};
}

macro_rules! null {
    ($($function:ident($($ty:ty)?)),+) => {$(
        fn $function(self $(, _: $ty)?) -> Checked {
            Ok(true)
        }
    )+};
}

macro_rules! compound {
    ($($function:ident($($ty:ty),+)),+) => {$(
        fn $function(self, $(_: $ty),+) -> Result<Self, serde_json::Error> {
            Ok(self)
        }
    )+};
}

fn number(is_finite: bool) -> Checked {
    if is_finite { Ok(false) } else { Err(serde_json::Error::custom("JSON has no NaN and no infinities")) }
}

impl Serializer for Nulls {
    type Ok = bool;
    type Error = serde_json::Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    other!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8]
    );
    null!(serialize_none(), serialize_unit(), serialize_unit_struct(&'static str));
    compound!(
        serialize_seq(Option<usize>),
        serialize_tuple(usize),
        serialize_tuple_struct(&'static str, usize),
        serialize_tuple_variant(&'static str, u32, &'static str, usize),
        serialize_map(Option<usize>),
        serialize_struct(&'static str, usize),
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    );

    fn serialize_f32(self, value: f32) -> Checked {
        number(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        number(value.is_finite())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        if value.serialize(self)? {
            return Err(serde_json::Error::custom(
                "`Some` of a value that is `null` in JSON is read as `None`",
            ));
        }
        Ok(false)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self).map(|_| false)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(false)
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Checked {
        Ok(false)
    }
}

macro_rules! parts {
    ($($compound:ident: $function:ident($($name:ty)?)),+ $(,)?) => {$(
        impl ser::$compound for Nulls {
            type Ok = bool;
            type Error = serde_json::Error;

            fn $function<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), serde_json::Error> {
                value.serialize(*self).map(drop)
            }

            fn end(self) -> Checked {
                Ok(false)
            }
        }
    )+};
}

parts!(
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str),
    SerializeStructVariant: serialize_field(&'static str),
);

impl ser::SerializeMap for Nulls {
    type Ok = bool;
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), serde_json::Error> {
        value.serialize(*self).map(drop)
    }

    fn end(self) -> Checked {
        Ok(false)
    }
}
