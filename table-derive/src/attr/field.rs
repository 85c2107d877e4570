//! Attributes of a field: `#[digits(6)]`, `#[escaped]`, `#[without('_')]`, `#[property("Name", json)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Token};

use crate::attr::Slot;
use crate::attr::piece;
use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::symbol::{self, INDEX, INDEX_ENTITY, JSON, PARTITION_KEY, PROPERTY, ROW_KEY};

/// What the attributes of one field say.
pub(crate) struct FieldAttrs {
    /// How the field is written in keys, with the attribute that says so.
    pub(crate) codec: Option<(Attribute, Codec)>,
    /// The name of the property.
    pub(crate) name: Option<LitStr>,
    /// The word `json`.
    pub(crate) json: Option<Ident>,
}

/// Reads all attributes of a field that are ours.
pub(crate) fn parse(ctxt: &Ctxt, field: &syn::Field) -> FieldAttrs {
    let mut own = Slot::empty("codec");
    let mut name = Slot::empty("name");
    let mut json = Slot::empty(JSON.0);
    for attr in &field.attrs {
        let parsed = if let Some(word) = codec::parse_attribute(attr) {
            word.map(Some)
        } else if attr.path() == &PROPERTY {
            attr.parse_args_with(|input: ParseStream| parse_property(ctxt, input, &mut name, &mut json))
                .map(|()| None)
        } else {
            refuse_container_attribute(ctxt, attr);
            Ok(None)
        };
        match parsed {
            Ok(Some(word)) => {
                own.set(
                    ctxt,
                    attr,
                    (attr.clone(), word),
                    "a field has one codec of its own; another can be named in the key",
                );
            }
            Ok(None) => {}
            Err(error) => ctxt.push(error),
        }
    }
    FieldAttrs { codec: own.take(), name: name.take(), json: json.take() }
}

fn parse_property(
    ctxt: &Ctxt,
    input: ParseStream,
    name: &mut Slot<LitStr>,
    json: &mut Slot<Ident>,
) -> syn::Result<()> {
    while !input.is_empty() {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            name.set(ctxt, &text, text.clone(), "a property has one name");
        } else {
            let word = input.call(Ident::parse_any)?;
            if word == JSON {
                json.set(ctxt, &word, word.clone(), "write `json` once");
            } else {
                let help = symbol::known(&word.to_string(), [JSON.0]);
                ctxt.error(
                    "T001",
                    &word,
                    format!("unknown word `{word}` in `property`"),
                    format!("{help}, or a name: `#[property(\"Name\")]`"),
                );
                piece::skip_to_comma(input)?;
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

fn refuse_container_attribute(ctxt: &Ctxt, attr: &Attribute) {
    for word in [PARTITION_KEY, ROW_KEY, INDEX, INDEX_ENTITY, symbol::ENTITY] {
        if attr.path() == &word {
            let field = if word == symbol::ENTITY { "…" } else { "field" };
            ctxt.error(
                "T003",
                attr,
                format!("`{word}` belongs on the struct"),
                format!(
                    "write `#[{word}({field})]` above the struct: a key is a list of its pieces in order"
                ),
            );
        }
    }
}
