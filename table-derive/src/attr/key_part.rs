//! Attributes of user-defined key types: `#[digits(6)]`, `#[key_part("name")]` on a variant, `#[key_part(crate = …)]`.

use syn::{Attribute, LitStr, Path};

use crate::attr::Slot;
use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::grammar::{self, Words};
use crate::symbol::{CRATE, KEY_PART};

/// The parsed attributes of the type.
pub(crate) struct TypeAttrs {
    /// The codec for the inner value, with the attribute that declares it.
    pub(crate) codec: Option<(Attribute, Codec)>,
    /// The path in `crate = …`.
    pub(crate) runtime: Option<Path>,
}

/// The words accepted by `#[key_part(…)]` on a type.
const WORDS: Words = Words {
    of: KEY_PART,
    form: "#[key_part(crate = path::to::table_core)]",
    known: &[(CRATE, "crate = path::to::table_core")],
    suggested: &[
        ("rename", "rename a variant with an attribute above it: `#[key_part(\"draft\")]`"),
        ("rename_all", "rename a variant with an attribute above it: `#[key_part(\"draft\")]`"),
    ],
};

/// Parses the attributes of a key type.
pub(crate) fn parse(ctxt: &Ctxt, attrs: &[Attribute]) -> TypeAttrs {
    let mut own = Slot::empty("codec");
    let mut runtime = Slot::empty(CRATE.0);
    for attr in attrs {
        if let Some(word) = codec::word_of(attr) {
            if let Some(codec) = codec::parse_attribute(ctxt, attr, word) {
                own.set(ctxt, attr, (attr.clone(), codec), "a type has one codec");
            }
        } else if attr.path() == &KEY_PART {
            WORDS.read(ctxt, attr, |word, input| {
                let path = grammar::value(input, Path::parse_mod_style)?;
                runtime.set(ctxt, word, path, "write `crate = …` once");
                Ok(())
            });
        }
    }
    TypeAttrs { codec: own.take(), runtime: runtime.take() }
}

/// Parses the attribute that sets a variant's name in keys. Returns `None` if the variant has no such attribute.
pub(crate) fn parse_variant(ctxt: &Ctxt, attrs: &[Attribute]) -> Option<LitStr> {
    let mut name = Slot::empty("name");
    let form = "#[key_part(\"draft\")]";
    for attr in attrs {
        if attr.path() == &KEY_PART {
            grammar::in_parentheses(ctxt, attr, form, |input| {
                grammar::list(ctxt, KEY_PART.0, form, input, |input| {
                    let text: LitStr = input.parse()?;
                    name.set(ctxt, &text, text.clone(), "a variant has one name");
                    Ok(())
                })
            });
        } else {
            refuse_codec(ctxt, attr, "a variant is written as its name; `#[key_part(\"draft\")]` renames it");
        }
    }
    name.take()
}

/// Reports a codec attribute on a field or variant, where it has no effect.
pub(crate) fn refuse_codec(ctxt: &Ctxt, attr: &Attribute, help: &str) {
    for word in codec::attributes().filter(|word| attr.path().is_ident(word.name)) {
        ctxt.error("T003", attr, format!("`{}` belongs on the type", word.name), help);
    }
}
