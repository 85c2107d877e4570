//! `Folded` and `Replaced`: texts as programs cut them to fit a key, which are not read back.

use std::marker::PhantomData;

use crate::error::Result;
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, DerivedPart, Form, KeyCodec, TextCodec};

/// A text in lower case, or in upper case if `UPPER`, as `C` writes it. The field itself is a property.
///
/// Two texts may have one key: `Ada` and `ada` do. Cases are those of Unicode, without a language.
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

/// A text with `TO` in place of each `FROM`, as `C` writes it: `/` becomes `_`. The field itself is a property.
///
/// Two texts may have one key: `a/b` and `a_b` do.
///
/// ```
/// use table_core::key::codec::{DerivedPart, Replaced, Text};
///
/// let mut key = String::new();
/// Replaced::<Text, '/', '_'>::encode(&"a/b".to_owned(), &mut key)?;
/// assert_eq!(key, "a_b");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Replaced<C, const FROM: char, const TO: char>(PhantomData<C>);

impl<C: TextCodec, const UPPER: bool> Folded<C, UPPER> {
    const NAMED: &'static Name<256> = {
        let name = Name::EMPTY.with(if UPPER { "folded(upper," } else { "folded(lower," });
        &name.with(<C as KeyCodec<String>>::NAME).with(")")
    };
}

impl<C: TextCodec, const FROM: char, const TO: char> Replaced<C, FROM, TO> {
    const NAMED: &'static Name<256> = {
        let name = Name::EMPTY.with("replaced(").with_char(FROM).with(",").with_char(TO).with(",");
        &name.with(<C as KeyCodec<String>>::NAME).with(")")
    };
}

/// Order is that of what is written, and not that of the field.
const fn unordered<C: TextCodec>(alphabet: Alphabet) -> Form {
    Form { ordered: false, alphabet, ..<C as KeyCodec<String>>::FORM }
}

impl<C: TextCodec, const UPPER: bool> DerivedPart<String> for Folded<C, UPPER> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = unordered::<C>(<C as KeyCodec<String>>::FORM.alphabet);
    const FAULT: Option<&'static str> = <C as KeyCodec<String>>::FAULT;

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::encode_str(&if UPPER { value.to_uppercase() } else { value.to_lowercase() }, out)
    }
}

impl<C: TextCodec, const FROM: char, const TO: char> DerivedPart<String> for Replaced<C, FROM, TO> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = unordered::<C>(<C as KeyCodec<String>>::FORM.alphabet);
    const FAULT: Option<&'static str> = <C as KeyCodec<String>>::FAULT;

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::encode_str(&value.replace(FROM, TO.encode_utf8(&mut [0; 4])), out)
    }
}
