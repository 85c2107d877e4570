//! Attributes of a type that stands in keys: `#[digits(6)]`, `#[key_part("name")]` of a variant, `#[key_part(crate = …)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Path, Token};

use crate::attr::Slot;
use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::symbol::{self, CRATE, KEY_PART};

/// What the attributes of the type say.
pub(crate) struct TypeAttrs {
    /// How the value inside is written, with the attribute that says so.
    pub(crate) codec: Option<(Attribute, Codec)>,
    /// `crate = …`
    pub(crate) runtime: Option<Path>,
}

/// Reads the attributes of the type.
pub(crate) fn parse(ctxt: &Ctxt, attrs: &[Attribute]) -> TypeAttrs {
    let mut own = Slot::empty("codec");
    let mut runtime = Slot::empty(CRATE.0);
    for attr in attrs {
        let parsed = if let Some(word) = codec::parse_attribute(attr) {
            word.map(|word| own.set(ctxt, attr, (attr.clone(), word), "a type has one codec"))
        } else if attr.path() == &KEY_PART {
            attr.parse_args_with(|input: ParseStream| parse_crate(ctxt, input, &mut runtime))
        } else {
            Ok(())
        };
        if let Err(error) = parsed {
            ctxt.push(error);
        }
    }
    TypeAttrs { codec: own.take(), runtime: runtime.take() }
}

fn parse_crate(ctxt: &Ctxt, input: ParseStream, runtime: &mut Slot<Path>) -> syn::Result<()> {
    let word = input.call(Ident::parse_any)?;
    if word != CRATE {
        ctxt.error(
            "T001",
            &word,
            format!("unknown word `{word}` in `key_part`"),
            symbol::known(&word.to_string(), [CRATE.0]),
        );
        input.parse::<proc_macro2::TokenStream>()?;
        return Ok(());
    }
    input.parse::<Token![=]>()?;
    runtime.set(ctxt, &word, input.call(Path::parse_mod_style)?, "write `crate = …` once");
    Ok(())
}

/// Reads the name that a variant has in keys, if it is given one.
pub(crate) fn parse_variant(ctxt: &Ctxt, attrs: &[Attribute]) -> Option<LitStr> {
    let mut name = Slot::empty("name");
    for attr in attrs.iter().filter(|attr| attr.path() == &KEY_PART) {
        match attr.parse_args::<LitStr>() {
            Ok(text) => name.set(ctxt, attr, text, "a variant has one name"),
            Err(error) => ctxt.push(error),
        }
    }
    name.take()
}
