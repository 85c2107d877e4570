//! Index attributes: `#[index(Name, unique, table = "…", partition_key(…), row_key(…), include(…), when = …)]` and `#[index_entity(…)]`.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Ident, LitInt, LitStr, Path, Token, parenthesized};

use crate::attr::Slot;
use crate::attr::keyed::Keyed;
use crate::attr::piece::{self, PieceList};
use crate::attr::proposed::{self, PARTITION_WORDS, Proposed, ROW_WORDS};
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
        (PARTITION_KEY, "partition_key(\"email_\", department)"),
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
        (PARTITION_KEY, "partition_key(\"name_\", department)"),
        (ROW_KEY, "row_key(\"name_\", name)"),
        (WHEN, WHEN_FORM),
        // `unique` is accepted here because a separate rule reports it for lists.
        (UNIQUE, "unique"),
    ],
    suggested: SUGGESTED,
};

const WHEN_FORM: &str = "when = Employee::is_active` of `fn is_active(&self) -> bool";

/// Words that other libraries use for `when`.
const CONDITIONS: [&str; 7] =
    ["condition", "filter", "where", "partial", "partial_filter", "partial_filter_expression", "predicate"];

/// Words that other libraries use for `include`.
const INCLUDES: [&str; 6] =
    ["project", "projection", "projection_type", "keep", "non_key_attributes", "include_properties"];

/// Words that other libraries use for an index whose rows are in partitions of their own.
const GLOBALS: [&str; 2] = ["global", "gsi"];

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

/// Returns a help text that shows `when` with a method of the struct. The method reads a field named in the wrong tokens, or any field of type `bool`.
fn when_help(wrong: TokenStream, place: &Place<'_>) -> String {
    let Place { of: DeriveInput { ident, .. }, keyed, .. } = place;
    let is_flag =
        |name: &String| keyed.field(name).is_some_and(|field| grammar::type_text(&field.ty) == "bool");
    let all = keyed.fields().filter_map(|field| field.ident.as_ref().map(|ident| ident.unraw().to_string()));
    let named = keyed.fields_in(wrong);
    let flag = named.into_iter().find(is_flag).or_else(|| all.into_iter().find(is_flag));
    let method = flag
        .as_deref()
        .map_or("is_active".to_owned(), |flag| format!("is_{}", flag.trim_start_matches("is_")));
    let body = flag.map_or_else(|| "true".to_owned(), |flag| format!("self.{flag}"));
    format!(
        "write `when = {ident}::{method}`, with `impl {ident} {{ fn {method}(&self) -> bool {{ {body} }} }}`"
    )
}

/// Reports a word of another library, or the bare name of a field, in the terms of this index.
fn of_another_library(input: ParseStream, place: &Place<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else { return Ok(()) };
    let text = word.to_string();
    let is = |words: &[&str]| words.contains(&text.as_str());
    // Most words are known. They are looked up first, because the other lists are longer.
    if place.words.known.iter().any(|(known, _)| text == known.0) {
        return Ok(());
    }
    let arguments = grammar::rest(&ahead);
    let is_row = is(ROW_WORDS);
    if (is_row || is(PARTITION_WORDS)) && proposed::are_pieces(&arguments, place.keyed) {
        let own = if is_row { ROW_KEY } else { PARTITION_KEY };
        let help = format!("write `{own}{}`", grammar::source(&arguments));
        return Err(ctxt::mistake(
            "T001",
            &word,
            format!("unknown word `{word}` in `{}`", place.words.of),
            help,
        ));
    }
    let is_field = grammar::may_end(&ahead) && place.keyed.field(&text).is_some();
    if is_row || is(PARTITION_WORDS) || is_field {
        let proposed = place.proposed();
        if proposed.has_fields() {
            return Err(place.unknown(input, &word, proposed.help(place.keyed)));
        }
    }
    let help = if is(&CONDITIONS) {
        when_help(arguments, place)
    } else if is(&GLOBALS) {
        let mut proposed = place.proposed();
        proposed.partition.extend(proposed.row.drain(..proposed.row.len().min(1)));
        if !proposed.has_fields() {
            return Ok(());
        }
        return Err(place.unknown(input, &word, proposed.help(place.keyed)));
    } else if is(&INCLUDES) {
        included(&arguments, place)
    } else {
        return Ok(());
    };
    Err(ctxt::mistake("T001", &word, format!("unknown word `{word}` in `{}`", place.words.of), help))
}

/// Returns the help text that shows `include` with the fields in the arguments of another library's word.
fn included(arguments: &TokenStream, place: &Place<'_>) -> String {
    let fields = place.keyed.fields_in(arguments.clone());
    let text = arguments.to_string().to_ascii_lowercase();
    if !fields.is_empty() {
        format!("write `include({})`", fields.join(", "))
    } else if text.contains("keys") {
        "write `include()`: each copy contains the key of its entity and no other field".to_owned()
    } else {
        "remove it: without `include(…)`, a copy includes the whole entity".to_owned()
    }
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
