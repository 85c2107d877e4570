//! `Folded`, `Replaced` and `First`: lossy encodings of strings.

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::derived::source;
use crate::key::codec::name::{Name, named};
use crate::key::codec::{Alphabet, DerivedPart, Facts, Form, PartSource};

/// A codec that converts a string to lower case, and encodes the result with `C`. If `UPPER` is `true`, it converts to upper case instead. The field is also
/// stored as a property.
///
/// Different strings may have the same key, such as `Ada` and `ada`. Case conversion uses the Unicode rules and does not depend on the locale.
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
/// Ordered like `C`. A range of strings selects the rows whose prefixes are between the prefixes of the range's ends, inclusive. A string with fewer than `N`
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
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        Name::EMPTY.with("first(").with_number(N).with(",").with(C::SOURCE_NAME).with(")")
    }

    named!();
}

impl<C: PartSource<String>, const UPPER: bool> Folded<C, UPPER> {
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        let name = Name::EMPTY.with(if UPPER { "folded(upper," } else { "folded(lower," });
        name.with(C::SOURCE_NAME).with(")")
    }

    named!();
}

impl<C: PartSource<String>, const FROM: char, const TO: char> Replaced<C, FROM, TO> {
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        let name = Name::EMPTY.with("replaced(").with_char(FROM).with(",").with_char(TO).with(",");
        name.with(C::SOURCE_NAME).with(")")
    }

    named!();
}

/// Returns the source's form, marked as unordered. Rows sort by the written string, not by the field.
const fn unordered<C: PartSource<String>>() -> Form {
    Form { ordered: false, ..C::SOURCE_FORM }
}

/// Returns `true` if the set contains an ASCII letter of this case. Some codecs, such as `Ulid`, write letters of one case only.
const fn has_letter(alphabet: Alphabet, upper: bool) -> bool {
    let first = if upper { b'A' } else { b'a' };
    let mut at = 0;
    while at < 26 {
        if alphabet.contains((first + at) as char) {
            return true;
        }
        at += 1;
    }
    false
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
    const NAME: &'static str = Self::NAMED;
    const FORM: Form = unordered::<C>();
    const FACTS: Facts = Facts {
        fault: {
            let alphabet = C::SOURCE_FORM.alphabet;
            let has_other_case = has_letter(alphabet, !UPPER) && !has_letter(alphabet, UPPER);
            if C::SOURCE_FAULT.is_none() && C::SOURCE_VERBATIM && has_other_case {
                Some(
                    "[T029] `folded`: the codec inside writes no letters of this case, so it refuses the folded text; use the other case, or a codec of texts",
                )
            } else {
                C::SOURCE_FAULT
            }
        },
        verbatim: C::SOURCE_VERBATIM,
        ..Facts::NONE
    };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        C::write(&Self::of(value), out)
    }
}

impl<C: PartSource<String>, const FROM: char, const TO: char> DerivedPart<String> for Replaced<C, FROM, TO> {
    const NAME: &'static str = Self::NAMED;
    const FORM: Form = unordered::<C>();
    const FACTS: Facts = Facts { fault: C::SOURCE_FAULT, verbatim: C::SOURCE_VERBATIM, ..Facts::NONE };

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
    const NAME: &'static str = Self::NAMED;
    const FORM: Form = Form { min: 0, ..C::SOURCE_FORM };
    const FACTS: Facts = Facts {
        fault: if C::SOURCE_FAULT.is_none()
            && C::SOURCE_VERBATIM
            && C::SOURCE_FORM.is_fixed()
            && N < C::SOURCE_FORM.max
        {
            Some(
                "[T029] `first(n, field)`: the codec inside writes only texts of a fixed width, so it refuses the first characters; use a codec of texts",
            )
        } else {
            C::SOURCE_FAULT
        },
        ..Facts::NONE
    };

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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::key::codec::{Bars, Base64, Caret, Escaped, KeyCodec, Percent, Text, Ulid, Without};

    /// Texts in both cases, and valid ULIDs with and without letters, so that each codec accepts some of them.
    const VALUES: [&str; 5] =
        ["Ada", "ada", "JONES", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01234567890123456789012345"];

    /// A user's codec that writes the UTF-8 bytes of a text as upper-case letters, 20 bytes at most.
    enum Letters {}

    impl KeyCodec<String> for Letters {
        const NAME: &'static str = "letters";
        const FORM: Form =
            Form { min: 0, max: 40, ordered: true, alphabet: Alphabet::of("ABCDEFGHIJKLMNOP") };

        fn encode(value: &String, out: &mut String) -> Result<()> {
            for byte in value.bytes() {
                out.extend([byte >> 4, byte & 15].map(|half| char::from(b'A' + half)));
            }
            Ok(())
        }

        fn decode(_: &str) -> Result<String> {
            unreachable!("no test reads it")
        }
    }

    /// A user's codec that appends hyphens to a text, up to 30 characters.
    enum Padded {}

    impl KeyCodec<String> for Padded {
        const NAME: &'static str = "padded";
        const FORM: Form = Form::fixed(30, false, Alphabet::LEGAL);

        fn encode(value: &String, out: &mut String) -> Result<()> {
            write!(out, "{value:-<30}").expect("a string has room");
            Ok(())
        }

        fn decode(_: &str) -> Result<String> {
            unreachable!("no test reads it")
        }
    }

    /// Checks the part's fault. It must be set if and only if two conditions hold: the source accepts at least one sample text, and the part accepts none of
    /// those that contain letters. Returns a description if the fault is wrong.
    fn wrong<C: KeyCodec<String>, P: DerivedPart<String>>() -> Option<String> {
        let is_refused = |encode: fn(&String, &mut String) -> Result<()>| {
            VALUES.into_iter().filter(move |value| encode(&(*value).to_owned(), &mut String::new()).is_err())
        };
        let accepted = VALUES.len() - is_refused(C::encode).count();
        let kept = VALUES.into_iter().filter(|value| {
            let value = (*value).to_owned();
            let has_letter = value.contains(char::is_alphabetic);
            C::encode(&value, &mut String::new()).is_ok()
                && has_letter
                && P::encode(&value, &mut String::new()).is_ok()
        });
        let is_useless = accepted > 0 && kept.count() == 0;
        (is_useless != P::FACTS.fault.is_some()).then(|| format!("{}: {:?}", P::NAME, P::FACTS.fault))
    }

    fn wrong_around<C: KeyCodec<String>>() -> Vec<String> {
        let all = [
            wrong::<C, First<C, 3>>(),
            wrong::<C, First<C, 26>>(),
            wrong::<C, First<C, 255>>(),
            wrong::<C, Folded<C, false>>(),
            wrong::<C, Folded<C, true>>(),
            wrong::<C, Replaced<C, '/', '_'>>(),
            wrong::<C, First<Folded<C, true>, 2>>(),
        ];
        all.into_iter().flatten().collect()
    }

    #[test]
    fn a_part_that_refuses_every_text_is_a_fault() {
        let wrong = [
            wrong_around::<Text>(),
            wrong_around::<Escaped>(),
            wrong_around::<Without<'_'>>(),
            wrong_around::<Without<'A'>>(),
            wrong_around::<Percent>(),
            wrong_around::<Caret>(),
            wrong_around::<Bars>(),
            wrong_around::<Base64>(),
            wrong_around::<Ulid>(),
            wrong_around::<Letters>(),
            wrong_around::<Padded>(),
        ];
        assert_eq!(wrong.concat(), Vec::<String>::new());
    }
}
