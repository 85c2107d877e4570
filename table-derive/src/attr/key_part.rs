//! Attributes of user-defined key types: `#[digits(6)]`, `#[key_part("name")]` on a variant, `#[key_part(crate = …)]`.

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DataEnum, DeriveInput, Ident, LitStr, Path, Variant};

use crate::attr::Slot;
use crate::casing;
use crate::codec::{self, Codec};
use crate::ctxt::{self, Ctxt};
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
    suggested: &[],
};

/// Parses the attributes of a key type.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput) -> TypeAttrs {
    let mut own = Slot::empty("codec");
    let mut runtime = Slot::empty(CRATE.0);
    for attr in &input.attrs {
        if let Some(word) = codec::word_of(attr) {
            if let Some(codec) = codec::parse_attribute(ctxt, attr, word) {
                own.set(ctxt, attr, (attr.clone(), codec), "a type has one codec");
            }
        } else if attr.path() == &KEY_PART {
            let renamed = |words: ParseStream| of_another_library(words, input);
            WORDS.read_after(ctxt, attr, renamed, |word, input| {
                let path = grammar::value(input, Path::parse_mod_style)?;
                runtime.set(ctxt, word, path, "write `crate = …` once");
                Ok(())
            });
        }
    }
    TypeAttrs { codec: own.take(), runtime: runtime.take() }
}

/// Reports a word that would rename the variants, or store their numbers. The help text names each variant.
fn of_another_library(words: ParseStream, input: &DeriveInput) -> syn::Result<()> {
    let ahead = words.fork();
    let (Ok(word), Data::Enum(data)) = (ahead.call(Ident::parse_any), &input.data) else { return Ok(()) };
    let rule = syn::parse2::<LitStr>(grammar::rest(&ahead).into_iter().skip(1).collect()).ok();
    let help = if word == "rename_all" || word == "rename" {
        let rule = rule.map_or_else(|| "snake_case".to_owned(), |rule| rule.value());
        let name = |variant: &Variant| casing::renamed_by_serde(&rule, &variant.ident.unraw().to_string());
        format!("name each variant: write {}", named(data, name))
    } else if word == "repr" || word == "number" || word == "as" {
        numbered(data)
    } else {
        return Ok(());
    };
    Err(ctxt::mistake("T001", &word, format!("unknown word `{word}` in `{KEY_PART}`"), help))
}

/// Returns the attributes that give the variants other names in keys: `#[key_part("draft")]` above `Draft`.
pub(crate) fn named(data: &DataEnum, name: impl Fn(&Variant) -> Option<String>) -> String {
    let named = data.variants.iter().filter_map(|variant| Some((variant, name(variant)?)));
    attributes(named.filter(|(variant, name)| variant.ident != name))
}

/// Returns the attribute above each variant that gives it a name in keys.
pub(crate) fn attributes<'v>(named: impl Iterator<Item = (&'v Variant, String)>) -> String {
    let named = named.map(|(variant, name)| format!("`#[key_part({name:?})]` above `{}`", variant.ident));
    named.collect::<Vec<_>>().join(", ")
}

/// Returns the help text for an enum that another library would store as a number. Variants without a number are counted from the one before.
pub(crate) fn numbered(data: &DataEnum) -> String {
    let mut next = 0;
    let numbers = data.variants.iter().map(|variant| {
        let given = variant.discriminant.as_ref().map(|(_, number)| number.to_token_stream().to_string());
        let number: i64 = given.and_then(|given| given.replace(' ', "").parse().ok()).unwrap_or(next);
        next = number.saturating_add(1);
        (&variant.ident, number.to_string())
    });
    let numbers: Vec<_> = numbers.collect();
    let name = |variant: &Variant| {
        numbers.iter().find(|(ident, _)| **ident == variant.ident).map(|(_, name)| name.clone())
    };
    format!("remove it: a key contains the name of the variant; for its number write {}", named(data, name))
}

/// Parses the attribute that sets a variant's name in keys. Returns `None` if the variant has no such attribute.
pub(crate) fn parse_variant(ctxt: &Ctxt, variant: &Variant) -> Option<LitStr> {
    let mut name = Slot::empty("name");
    for attr in &variant.attrs {
        let form = || {
            let text = grammar::arguments(attr).into_iter().last().and_then(|text| match text {
                TokenTree::Literal(text) => {
                    syn::parse_str::<LitStr>(&text.to_string()).ok().map(|text| text.value())
                }
                TokenTree::Ident(name) => Some(name.to_string()),
                TokenTree::Group(_) | TokenTree::Punct(_) => None,
            });
            let text = text.unwrap_or_else(|| casing::snake_case(&variant.ident.unraw().to_string()));
            format!("#[key_part({text:?})]")
        };
        if attr.path() == &KEY_PART {
            grammar::in_parentheses(ctxt, attr, form, |input| {
                grammar::list(ctxt, KEY_PART.0, &form(), input, |input| {
                    let text: LitStr = input.parse()?;
                    name.set(ctxt, &text, text.clone(), "a variant has one name");
                    Ok(())
                })
            });
        } else {
            refuse_codec(ctxt, attr, || {
                format!("remove it: a variant is written as its name; `{}` renames it", form())
            });
        }
    }
    name.take()
}

/// Reports a codec attribute on a field or variant, where it has no effect.
pub(crate) fn refuse_codec(ctxt: &Ctxt, attr: &Attribute, help: impl Fn() -> String) {
    for word in codec::attributes().filter(|word| attr.path().is_ident(word.name)) {
        ctxt.error("T003", attr, format!("`{}` belongs on the type", word.name), help());
    }
}
