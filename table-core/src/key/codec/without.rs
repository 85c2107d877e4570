//! `Without`: an unchanged string that cannot contain the separator after it.

use table_store::{Result, quoted};

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Text, TextCodec, raw};
use crate::key::text::is_legal;

/// A codec that writes a string unchanged, like [`Text`], but rejects strings that contain the character `C`. In a key, a literal that starts with `C` can
/// follow the string (PAT-CK-2).
///
/// - A string that contains `C` is rejected (`KeyEncoding`). `C` is an ASCII character legal in keys.
/// - A literal after the string may change the order of the keys. The keys sort like the strings only if `C`, such as a space, sorts before every other
///   character that a key can contain. An [`Escaped`](crate::key::codec::Escaped) string followed by `!` also keeps the order.
///
/// ```
/// use table_core::key::codec::{TextCodec, Without};
///
/// let mut key = String::new();
/// Without::<'_'>::encode_str("Jones", &mut key)?;
/// assert!(Without::<'_'>::encode_str("Jones_Smith", &mut key).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// ```compile_fail,E0080
/// # use table_core::Entity;
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(without('/', name))]
/// struct Employee { department: String, name: String }
/// ```
#[derive(Debug)]
pub enum Without<const C: char> {}

impl<const C: char> Without<C> {
    const NAMED: &'static Name<32> = &Name::EMPTY.with("without(").with_char(C).with(")");
}

#[diagnostic::do_not_recommend]
impl<const C: char> KeyCodec<String> for Without<C> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = Form { alphabet: Alphabet::LEGAL.without(C), ..<Text as KeyCodec<String>>::FORM };
    const FACTS: Facts = Facts {
        fault: if C.is_ascii() && is_legal(C) {
            None
        } else {
            Some("[T037] the separator must be an ASCII character that keys may contain")
        },
        ..Facts::NONE
    };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        Self::encode_str(value, out)
    }

    fn decode(text: &str) -> Result<String> {
        if text.contains(C) {
            return Err(mismatch(text, Self::NAMED.as_str()));
        }
        Text::decode(text)
    }
}

impl<const C: char> TextCodec for Without<C> {
    fn encode_str(value: &str, out: &mut String) -> Result<()> {
        if value.contains(C) {
            return Err(refused(format!(
                "'{}' contains '{C}', which ends this part of the key; declare the part `escaped` followed by \"!\", or \
                 choose another separator",
                quoted(value).escaped()
            ))
            .with_rule("PAT-CK-2"));
        }
        raw::push(value, out)
    }
}
