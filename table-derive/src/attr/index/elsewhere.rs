//! Words of other libraries in an index attribute.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{DeriveInput, Ident};

use crate::attr::index::Place;
use crate::attr::proposed::{self, PARTITION_WORDS, ROW_WORDS};
use crate::ctxt;
use crate::grammar;
use crate::symbol::{PARTITION_KEY, ROW_KEY};

/// Words that other libraries use for `when`.
const CONDITIONS: [&str; 7] =
    ["condition", "filter", "where", "partial", "partial_filter", "partial_filter_expression", "predicate"];

/// Words that other libraries use for `include`.
const INCLUDES: [&str; 6] =
    ["project", "projection", "projection_type", "keep", "non_key_attributes", "include_properties"];

/// Words that other libraries use for an index whose rows are in partitions of their own.
const GLOBALS: [&str; 2] = ["global", "gsi"];

/// Returns a help text that shows `when` with a method of the struct. The method reads a field named in the wrong tokens, or any field of type `bool`.
pub(super) fn when_help(wrong: TokenStream, place: &Place<'_>) -> String {
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
pub(super) fn of_another_library(input: ParseStream, place: &Place<'_>) -> syn::Result<()> {
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
