//! Index attributes: `#[index(Name, unique, table = "…", partition_key(…), row_key(…), include(…), when = …)]` and `#[index_entity(…)]`.

mod elsewhere;

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Ident, LitInt, LitStr, Path, Token, parenthesized};

use crate::attr::Slot;
use crate::attr::index::elsewhere::{of_another_library, when_help};
use crate::attr::keyed::Keyed;
use crate::attr::piece::{self, PieceList};
use crate::attr::proposed::Proposed;
use crate::ctxt::{self, Ctxt};
use crate::grammar::{self, Words};
use crate::symbol::{AT_MOST, INCLUDE, INDEX, INDEX_ENTITY, PARTITION_KEY, ROW_KEY, TABLE, UNIQUE, WHEN};

/// A parsed `#[index(…)]` or `#[index_entity(…)]`.
pub(crate) struct IndexAttr {
    /// The attribute as written.
    pub(crate) original: Attribute,
    /// The name of the index.
    pub(crate) name: Ident,
    /// `true` for `index_entity`, whose rows contain lists of keys instead of copies.
    pub(crate) list: bool,
    /// The word `unique`, which declares that each value identifies at most one entity.
    pub(crate) unique: Option<Ident>,
    /// The number in `at_most = 100`: the maximum number of keys in one list.
    pub(crate) at_most: Option<LitInt>,
    /// The value of `table = "…"`.
    pub(crate) table: Option<LitStr>,
    /// The path of the function in `when = path::to::function`.
    pub(crate) when: Option<Path>,
    /// The pieces of the `PartitionKey` of index rows.
    pub(crate) partition_key: Option<PieceList>,
    /// The pieces of the `RowKey` of index rows.
    pub(crate) row_key: Option<PieceList>,
    /// The fields in `include(…)`, which each copy contains.
    pub(crate) include: Option<Vec<Ident>>,
    /// `true` if an invalid word has been reported and skipped. It may be a misspelled option, which must then not be reported as missing.
    pub(crate) broken: bool,
}

/// The words accepted by `#[index(…)]` after the index name.
const COPIES: Words = Words {
    of: INDEX,
    form: "#[index(ByEmail, unique, row_key(\"email_\", email))]",
    known: &[
        (UNIQUE, "unique"),
        (TABLE, "table = \"Directory\""),
        (PARTITION_KEY, "partition_key(\"email_\", email)"),
        (ROW_KEY, "row_key(\"email_\", email)"),
        (INCLUDE, "include(first_name, last_name)"),
        (WHEN, WHEN_FORM),
    ],
    suggested: SUGGESTED,
};

/// The words accepted by `#[index_entity(…)]` after the index name.
const LISTS: Words = Words {
    of: INDEX_ENTITY,
    form: "#[index_entity(ByName, at_most = 100, row_key(\"name_\", name))]",
    known: &[
        (AT_MOST, "at_most = 100"),
        (TABLE, "table = \"Directory\""),
        (PARTITION_KEY, "partition_key(\"name_\", name)"),
        (ROW_KEY, "row_key(\"name_\", name)"),
        (WHEN, WHEN_FORM),
        // `unique` is accepted here because a separate rule reports it for lists.
        (UNIQUE, "unique"),
    ],
    suggested: SUGGESTED,
};

const WHEN_FORM: &str = "when = Employee::is_active` of `fn is_active(&self) -> bool";

const SUGGESTED: &[(&str, &str)] = &[
    ("sparse", "remove it: an entity whose `Option` field is `None` is not in the index"),
    ("non_unique", "remove it: without `unique`, several entities may have one value"),
    ("multi", "remove it: without `unique`, several entities may have one value"),
    ("all", "remove it: without `include(…)`, a copy includes the whole entity"),
    ("type", "remove it: an index is a copy of the entity under another key"),
    ("background", "remove it: the rows of an index are written together with the entity"),
    ("ttl", "remove it: index rows do not expire; they are deleted together with the entity"),
    ("expire_after", "remove it: index rows do not expire; they are deleted together with the entity"),
    (
        "expire_after_seconds",
        "remove it: index rows do not expire; they are deleted together with the entity",
    ),
];

/// Parses one `#[index(…)]` or `#[index_entity(…)]`. Reports an error and returns `None` if the name is missing.
pub(crate) fn parse(
    ctxt: &Ctxt,
    attr: &Attribute,
    list: bool,
    of: &DeriveInput,
    keyed: &Keyed<'_>,
) -> Option<IndexAttr> {
    let words = if list { &LISTS } else { &COPIES };
    let read = |input: ParseStream| parse_words(ctxt, input, &Place { attr, words, of, keyed });
    grammar::in_parentheses(ctxt, attr, words.form, read).flatten()
}

/// An index attribute, and the declaration that has it.
struct Place<'p> {
    attr: &'p Attribute,
    words: &'static Words,
    of: &'p DeriveInput,
    keyed: &'p Keyed<'p>,
}

impl Place<'_> {
    /// Returns the index that the attribute declares in the words of any library.
    fn proposed(&self) -> Proposed {
        let list = self.words.of == INDEX_ENTITY;
        Proposed { list, ..Proposed::of(grammar::arguments(self.attr), self.keyed) }
    }

    /// Reports a word of another library. The help text shows the whole index, so the rest of the attribute is skipped.
    fn unknown(&self, input: ParseStream, word: &Ident, help: impl Display) -> syn::Error {
        let _ = input.parse::<TokenStream>();
        ctxt::mistake("T001", word, format!("unknown word `{word}` in `{}`", self.words.of), help)
    }
}

fn parse_words(ctxt: &Ctxt, input: ParseStream, place: &Place<'_>) -> Option<IndexAttr> {
    let Place { attr, words, .. } = *place;
    let mut name = None;
    let mut is_first = true;
    let mut unique = Slot::empty(UNIQUE.0);
    let mut at_most = Slot::empty(AT_MOST.0);
    let mut table = Slot::empty(TABLE.0);
    let mut when = Slot::empty(WHEN.0);
    let mut partition_key = Slot::empty(PARTITION_KEY.0);
    let mut row_key = Slot::empty(ROW_KEY.0);
    let mut include = Slot::empty(INCLUDE.0);
    let mut list_broken = false;
    let sound = grammar::list(ctxt, words.of.0, words.form, input, |input| {
        if std::mem::take(&mut is_first) {
            name = Some(parse_name(input, place)?);
            return Ok(());
        }
        of_another_library(input, place)?;
        words.word(input, |word, input| {
            if word == UNIQUE {
                unique.set(ctxt, word, word.clone(), "write `unique` once");
            } else if word == AT_MOST {
                let most = grammar::value(input, <LitInt as Parse>::parse)?;
                at_most.set(ctxt, word, most, "a list has one limit");
            } else if word == TABLE {
                let name = grammar::value(input, <LitStr as Parse>::parse)?;
                table.set(ctxt, word, name, "an index is stored in one table");
            } else if word == WHEN {
                let function = grammar::value(input, Path::parse_mod_style).map_err(|_| {
                    let rest = grammar::rest(input);
                    let rest = if rest.is_empty() { word.to_token_stream() } else { rest };
                    ctxt::mistake(
                        "T004",
                        rest.clone(),
                        "`when` takes the path of a function",
                        when_help(rest, place),
                    )
                })?;
                when.set(ctxt, word, function, "name one function, which may test several conditions");
            } else if word == INCLUDE {
                let content;
                parenthesized!(content in input);
                let mut fields = Vec::new();
                list_broken |=
                    !grammar::list(ctxt, INCLUDE.0, "include(first_name, last_name)", &content, |input| {
                        fields.push(input.call(Ident::parse_any)?);
                        Ok(())
                    });
                include.set(ctxt, word, fields, "name all fields in one list: `include(a, b)`");
            } else {
                let content;
                parenthesized!(content in input);
                let pieces = piece::parse_list(ctxt, &content);
                let slot = if word == ROW_KEY { &mut row_key } else { &mut partition_key };
                let help = format!("declare a key once, with all its pieces: `{word}(a, b)`");
                slot.set(ctxt, word, pieces, help);
            }
            Ok(())
        })
    });
    Some(IndexAttr {
        original: attr.clone(),
        name: name?,
        list: words.of == INDEX_ENTITY,
        unique: unique.take(),
        at_most: at_most.take(),
        table: table.take(),
        when: when.take(),
        partition_key: partition_key.take(),
        row_key: row_key.take(),
        include: include.take(),
        broken: !sound || list_broken,
    })
}

/// Parses the name at the start of an index attribute.
fn parse_name(input: ParseStream, place: &Place<'_>) -> syn::Result<Ident> {
    let words = place.words;
    let whole = grammar::rest(input);
    let nameless = |tokens: TokenStream| {
        let proposed = place.proposed();
        let help = if proposed.has_fields() {
            // The remaining settings are part of the same error.
            let _ = input.parse::<TokenStream>();
            proposed.help(place.keyed)
        } else {
            format!("write the name first: `{}`", words.form)
        };
        ctxt::mistake("T004", tokens, "an index starts with its name", help)
    };
    let Ok(name) = input.parse::<Ident>() else { return Err(nameless(whole)) };
    let is_word = words.known.iter().any(|(word, _)| name == *word) || input.peek(Token![=]);
    if is_word { Err(nameless(name.into_token_stream())) } else { Ok(name) }
}
