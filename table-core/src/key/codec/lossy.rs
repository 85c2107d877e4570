//! `Folded`, `Replaced` and `First`: encodings of strings that lose information and cannot be read back.

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::derived::source;
use crate::key::codec::name::Name;
use crate::key::codec::{DerivedPart, Facts, Form, PartSource};

/// A codec that converts a string to lower case, or to upper case if `UPPER`, and encodes the result with `C`. The field is also stored as a property.
///
/// Different strings may have the same key, such as `Ada` and `ada`. Case is converted by the Unicode rules, independently of the locale.
///
/// ```
/// use table_core::key::codec::{DerivedPart, Folded, Text};
///
/// let mut key = String::new();
/// Folded::<Text, false>::encode(&"Ada@Contoso.com".to_owned(), &mut key)?;
/// assert_eq!(key, "ada@contoso.com");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Folded<C, const UPPER: bool>(PhantomData<C>);

/// A codec that replaces each `FROM` in a string with `TO`, such as `/` with `_`, and encodes the result with `C`. The field is also stored as a property.
///
/// Different strings may have the same key, such as `a/b` and `a_b`. Nested replacements are applied from the outermost to the innermost.
///
/// ```
/// use table_core::key::codec::{DerivedPart, Replaced, Text};
///
/// let mut key = String::new();
/// Replaced::<Replaced<Text, '#', '_'>, '/', '_'>::encode(&"a/b#1".to_owned(), &mut key)?;
/// assert_eq!(key, "a_b_1");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Replaced<C, const FROM: char, const TO: char>(PhantomData<C>);

/// A codec that encodes the first `N` characters of a string with `C`. The field is also stored as a property.
///
/// Ordered like `C`: a range of strings selects the rows whose prefixes are between the prefixes of the range's ends, inclusive. A string with fewer than `N`
/// characters is encoded completely.
///
/// ```
/// use table_core::key::codec::{DerivedPart, First, Text};
///
/// let mut key = String::new();
/// First::<Text, 2>::encode(&"Jones".to_owned(), &mut key)?;
/// First::<Text, 2>::encode(&"J".to_owned(), &mut key)?;
/// assert_eq!(key, "JoJ");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct First<C, const N: usize>(PhantomData<C>);

impl<C: PartSource<String>, const N: usize> First<C, N> {
    const NAMED: &'static Name<256> =
        &Name::EMPTY.with("first(").with_number(N).with(",").with(C::SOURCE_NAME).with(")");
}

impl<C: PartSource<String>, const UPPER: bool> Folded<C, UPPER> {
    const NAMED: &'static Name<256> = {
        let name = Name::EMPTY.with(if UPPER { "folded(upper," } else { "folded(lower," });
        &name.with(C::SOURCE_NAME).with(")")
    };
}

impl<C: PartSource<String>, const FROM: char, const TO: char> Replaced<C, FROM, TO> {
    const NAMED: &'static Name<256> = {
        let name = Name::EMPTY.with("replaced(").with_char(FROM).with(",").with_char(TO).with(",");
        &name.with(C::SOURCE_NAME).with(")")
    };
}

/// Returns the source's form, marked as unordered, because rows are sorted by the written string and not by the field.
const fn unordered<C: PartSource<String>>() -> Form {
    Form { ordered: false, ..C::SOURCE_FORM }
}

impl<C, const UPPER: bool> Folded<C, UPPER> {
    fn of(value: &str) -> String {
        if UPPER { value.to_uppercase() } else { value.to_lowercase() }
    }
}

impl<C, const FROM: char, const TO: char> Replaced<C, FROM, TO> {
    fn of(value: &str) -> String {
        value.replace(FROM, TO.encode_utf8(&mut [0; 4]))
    }
}

impl<C: PartSource<String>, const UPPER: bool> DerivedPart<String> for Folded<C, UPPER> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = unordered::<C>();
    const FACTS: Facts = Facts { fault: C::SOURCE_FAULT, ..Facts::NONE };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::write(&Self::of(value), out)
    }
}

impl<C: PartSource<String>, const FROM: char, const TO: char> DerivedPart<String> for Replaced<C, FROM, TO> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = unordered::<C>();
    const FACTS: Facts = Facts { fault: C::SOURCE_FAULT, ..Facts::NONE };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::write(&Self::of(value), out)
    }
}

impl<C, const N: usize> First<C, N> {
    fn of(value: &str) -> String {
        value.chars().take(N).collect()
    }
}

impl<C: PartSource<String>, const N: usize> DerivedPart<String> for First<C, N> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = Form { min: 0, ..C::SOURCE_FORM };
    const FACTS: Facts = Facts { fault: C::SOURCE_FAULT, ..Facts::NONE };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::write(&Self::of(value), out)
    }
}

source! {
    [C: PartSource<String>, const N: usize] First<C, N>, String, |value, out| C::write_hashed(&Self::of(value), out);
    [C: PartSource<String>, const UPPER: bool] Folded<C, UPPER>, String, |value, out| C::write_hashed(&Self::of(value), out);
    [C: PartSource<String>, const FROM: char, const TO: char] Replaced<C, FROM, TO>, String, |value, out| {
        C::write_hashed(&Self::of(value), out)
    };
}
