//! Look-ups beside the key: `#[index(Name, unique, table = "…", partition_key(…), row_key(…), keep(…), when = …)]` and
//! `#[index_entity(…)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitInt, LitStr, Path, Token, parenthesized};

use crate::attr::Slot;
use crate::attr::piece::{self, PieceList};
use crate::ctxt::Ctxt;
use crate::symbol::{self, AT_MOST, KEEP, PARTITION_KEY, ROW_KEY, TABLE, UNIQUE, WHEN};

/// One index as written.
pub(crate) struct IndexAttr {
    /// The whole attribute.
    pub(crate) original: Attribute,
    /// Its name.
    pub(crate) name: Ident,
    /// Whether it is an `index_entity`: a list of keys, no copies.
    pub(crate) list: bool,
    /// The word `unique`.
    pub(crate) unique: Option<Ident>,
    /// `at_most = 100`: the most keys of one list.
    pub(crate) at_most: Option<LitInt>,
    /// `table = "…"`
    pub(crate) table: Option<LitStr>,
    /// `when = path::to::function`
    pub(crate) when: Option<Path>,
    /// The pieces of the copies' `PartitionKey`.
    pub(crate) partition_key: Option<PieceList>,
    /// The pieces of the copies' `RowKey`.
    pub(crate) row_key: Option<PieceList>,
    /// The fields that each copy keeps.
    pub(crate) keep: Option<Vec<Ident>>,
    /// Whether a word was wrong, reported and skipped: what seems to be missing may be what it meant.
    pub(crate) broken: bool,
}

/// Reads one `#[index(…)]` or `#[index_entity(…)]`.
pub(crate) fn parse(ctxt: &Ctxt, attr: &Attribute, list: bool) -> Option<IndexAttr> {
    match attr.parse_args_with(|input: ParseStream| parse_words(ctxt, input, attr, list)) {
        Ok(index) => Some(index),
        Err(error) => {
            ctxt.push(error);
            None
        }
    }
}

fn parse_words(ctxt: &Ctxt, input: ParseStream, attr: &Attribute, list: bool) -> syn::Result<IndexAttr> {
    let name: Ident = input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            "[T004] an index begins with its name\n\nhelp: `#[index(ByEmail, row_key(\"email_\", email))]`",
        )
    })?;
    let mut unique = Slot::empty(UNIQUE.0);
    let mut at_most = Slot::empty(AT_MOST.0);
    let mut table = Slot::empty(TABLE.0);
    let mut when = Slot::empty(WHEN.0);
    let mut partition_key = Slot::empty(PARTITION_KEY.0);
    let mut row_key = Slot::empty(ROW_KEY.0);
    let mut keep = Slot::empty(KEEP.0);
    let mut broken = false;
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let word = input.call(Ident::parse_any)?;
        if word == UNIQUE {
            unique.set(ctxt, &word, word.clone(), "write `unique` once");
        } else if word == AT_MOST && list {
            input.parse::<Token![=]>()?;
            at_most.set(ctxt, &word, input.parse()?, "a list has one bound");
        } else if word == TABLE {
            input.parse::<Token![=]>()?;
            table.set(ctxt, &word, input.parse()?, "an index lives in one table");
        } else if word == WHEN {
            input.parse::<Token![=]>()?;
            let help = "name one function, which may ask several things";
            when.set(ctxt, &word, input.call(Path::parse_mod_style)?, help);
        } else if word == PARTITION_KEY || word == ROW_KEY {
            let content;
            parenthesized!(content in input);
            let pieces = piece::parse_list(ctxt, &content)?;
            let slot = if word == ROW_KEY { &mut row_key } else { &mut partition_key };
            slot.set(
                ctxt,
                &word,
                pieces,
                format!("a key is declared once, with all its pieces: `{word}(a, b)`"),
            );
        } else if word == KEEP && !list {
            let content;
            parenthesized!(content in input);
            let fields = content.parse_terminated(Ident::parse_any, Token![,])?.into_iter().collect();
            keep.set(ctxt, &word, fields, "name all kept fields in one list: `keep(a, b)`");
        } else {
            broken = true;
            let words: &[&str] = if list {
                &[AT_MOST.0, TABLE.0, PARTITION_KEY.0, ROW_KEY.0, WHEN.0]
            } else {
                &[UNIQUE.0, TABLE.0, PARTITION_KEY.0, ROW_KEY.0, KEEP.0, WHEN.0]
            };
            let kind = if list { symbol::INDEX_ENTITY } else { symbol::INDEX };
            let help = symbol::known(&word.to_string(), words.iter().copied());
            ctxt.error("T001", &word, format!("unknown word `{word}` in `{kind}`"), help);
            piece::skip_to_comma(input)?;
        }
    }
    Ok(IndexAttr {
        original: attr.clone(),
        name,
        list,
        unique: unique.take(),
        at_most: at_most.take(),
        table: table.take(),
        when: when.take(),
        partition_key: partition_key.take(),
        row_key: row_key.take(),
        keep: keep.take(),
        broken,
    })
}
