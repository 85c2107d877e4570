//! Attributes of the struct: `#[entity(…)]`, `#[partition_key(…)]`, `#[row_key(…)]` and its indexes.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, DeriveInput, Ident, LitStr, Path, Token};

use crate::attr::Slot;
use crate::attr::allow::Allows;
use crate::attr::index::{self, IndexAttr};
use crate::attr::piece::{self, PieceList};
use crate::codec;
use crate::ctxt::Ctxt;
use crate::symbol::{
    self, ALLOW, CRATE, ENTITY, FEED, INDEX, INDEX_ENTITY, KIND, PARTITION_KEY, PROPERTY, ROW_KEY, TABLE,
};

/// A key as written: the attribute and its pieces.
pub(crate) struct KeyAttr {
    /// The whole attribute.
    pub(crate) original: Attribute,
    /// Its pieces.
    pub(crate) list: PieceList,
}

/// What the attributes of the struct say.
pub(crate) struct ContainerAttrs {
    /// `table = "…"`
    pub(crate) table: Option<LitStr>,
    /// `kind = "…"`
    pub(crate) kind: Option<LitStr>,
    /// `crate = …`
    pub(crate) runtime: Option<Path>,
    /// `allow(…, reason = "…")`
    pub(crate) allows: Allows,
    /// `feed`
    pub(crate) feed: bool,
    /// `#[partition_key(…)]`
    pub(crate) partition_key: Option<KeyAttr>,
    /// `#[row_key(…)]`
    pub(crate) row_key: Option<KeyAttr>,
    /// `#[index(…)]` and `#[index_entity(…)]`, in order.
    pub(crate) indexes: Vec<IndexAttr>,
}

/// Reads all attributes of the struct that are ours.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput) -> ContainerAttrs {
    let mut table = Slot::empty(TABLE.0);
    let mut kind = Slot::empty(KIND.0);
    let mut runtime = Slot::empty(CRATE.0);
    let mut allows = Allows::default();
    let mut feed = Slot::empty(FEED.0);
    let mut partition_key = Slot::empty(PARTITION_KEY.0);
    let mut row_key = Slot::empty(ROW_KEY.0);
    let mut indexes = Vec::new();
    for attr in &input.attrs {
        if attr.path() == &ENTITY {
            let words = |input: ParseStream| {
                let slots = (&mut table, &mut kind, &mut runtime, &mut feed);
                parse_entity(ctxt, input, slots, &mut allows)
            };
            if let Err(error) = attr.parse_args_with(words) {
                ctxt.push(error);
            }
        } else if attr.path() == &PARTITION_KEY {
            parse_key(ctxt, attr, &mut partition_key);
        } else if attr.path() == &ROW_KEY {
            parse_key(ctxt, attr, &mut row_key);
        } else if attr.path() == &INDEX || attr.path() == &INDEX_ENTITY {
            indexes.extend(index::parse(ctxt, attr, attr.path() == &INDEX_ENTITY));
        } else {
            refuse_field_attribute(ctxt, attr);
        }
    }
    ContainerAttrs {
        table: table.take(),
        kind: kind.take(),
        runtime: runtime.take(),
        allows,
        feed: feed.take().is_some(),
        partition_key: partition_key.take(),
        row_key: row_key.take(),
        indexes,
    }
}

fn parse_entity(
    ctxt: &Ctxt,
    input: ParseStream,
    (table, kind, runtime, feed): (&mut Slot<LitStr>, &mut Slot<LitStr>, &mut Slot<Path>, &mut Slot<()>),
    allows: &mut Allows,
) -> syn::Result<()> {
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        if word == TABLE {
            input.parse::<Token![=]>()?;
            table.set(ctxt, &word, input.parse()?, "an entity lives in one table");
        } else if word == KIND {
            input.parse::<Token![=]>()?;
            kind.set(ctxt, &word, input.parse()?, "an entity is of one kind");
        } else if word == CRATE {
            input.parse::<Token![=]>()?;
            runtime.set(ctxt, &word, input.call(Path::parse_mod_style)?, "write `crate = …` once");
        } else if word == ALLOW {
            allows.parse(ctxt, &word, input)?;
        } else if word == FEED {
            feed.set(ctxt, &word, (), "an entity has one feed, that of its partition: write `feed` once");
        } else {
            let help = symbol::known(&word.to_string(), [TABLE.0, KIND.0, CRATE.0, ALLOW.0, FEED.0]);
            ctxt.error("T001", &word, format!("unknown word `{word}` in `entity`"), help);
            piece::skip_to_comma(input)?;
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

fn parse_key(ctxt: &Ctxt, attr: &Attribute, slot: &mut Slot<KeyAttr>) {
    match attr.parse_args_with(|input: ParseStream| piece::parse_list(ctxt, input)) {
        Ok(list) => {
            let help =
                "a key is declared once, with all its pieces in order, such as `#[row_key(\"empid_\", id)]`";
            slot.set(ctxt, attr, KeyAttr { original: attr.clone(), list }, help);
        }
        Err(error) => {
            ctxt.push(error);
            // A key that is there but broken is not also reported as missing.
            if slot.get().is_none() {
                slot.set(
                    ctxt,
                    attr,
                    KeyAttr { original: attr.clone(), list: PieceList { pieces: Vec::new(), broken: true } },
                    "",
                );
            }
        }
    }
}

fn refuse_field_attribute(ctxt: &Ctxt, attr: &Attribute) {
    for word in codec::attributes().map(|word| word.name).chain([PROPERTY.0]) {
        if attr.path().is_ident(word) {
            ctxt.error(
                "T003",
                attr,
                format!("`{word}` belongs on a field"),
                format!("write `#[{word}…]` before the field it speaks of"),
            );
        }
    }
}
