//! Index attributes: `#[index(Name, unique, table = "…", partition_key(…), row_key(…), include(…), when = …)]` and `#[index_entity(…)]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Ident, LitInt, LitStr, Path, Token, parenthesized};

use crate::attr::Slot;
use crate::attr::piece::{self, PieceList};
use crate::casing::pascal_case;
use crate::ctxt::{self, Ctxt};
use crate::grammar::{self, Words};
use crate::samples;
use crate::symbol::{
    self, AT_MOST, INCLUDE, INDEX, INDEX_ENTITY, PARTITION_KEY, ROW_KEY, TABLE, UNIQUE, WHEN,
};

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
const CONDITIONS: [&str; 3] = ["condition", "filter", "where"];

const SUGGESTED: &[(&str, &str)] = &[
    ("key", "write `row_key(\"email_\", email)`"),
    ("keys", "write `row_key(\"email_\", email)`"),
    ("field", "write `row_key(\"email_\", email)`"),
    ("fields", "write `row_key(\"email_\", email)`"),
    ("columns", "write `row_key(\"email_\", email)`"),
    ("on", "write `row_key(\"email_\", email)`"),
    ("sort_key", "write `row_key(\"email_\", email)`"),
    ("sk", "write `row_key(\"email_\", email)`"),
    ("range", "write `row_key(\"email_\", email)`"),
    ("range_key", "write `row_key(\"email_\", email)`"),
    ("hash_key", "write `partition_key(\"email_\", email)`"),
    ("hash", "write `partition_key(\"email_\", email)`"),
    ("pk", "write `partition_key(\"email_\", email)`"),
    ("project", "write `include(first_name, last_name)`"),
    ("projection", "write `include(first_name, last_name)`"),
    ("keep", "write `include(first_name, last_name)`"),
    ("index_key", "write `row_key(\"email_\", email)`"),
    ("sparse", "remove it; an entity whose `Option` field is `None` is not in the index"),
    ("non_unique", "remove it; without `unique`, several entities may have one value"),
    ("multi", "remove it; without `unique`, several entities may have one value"),
    ("all", "remove it; without `include(…)`, a copy includes the whole entity"),
];

/// Parses one `#[index(…)]` or `#[index_entity(…)]`. Reports an error and returns `None` if the name is missing.
pub(crate) fn parse(ctxt: &Ctxt, attr: &Attribute, list: bool, of: &DeriveInput) -> Option<IndexAttr> {
    let words = if list { &LISTS } else { &COPIES };
    let read = |input: ParseStream| parse_words(ctxt, input, attr, words, of);
    grammar::in_parentheses(ctxt, attr, words.form, read).flatten()
}

fn parse_words(
    ctxt: &Ctxt,
    input: ParseStream,
    attr: &Attribute,
    words: &Words,
    of: &DeriveInput,
) -> Option<IndexAttr> {
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
            name = Some(parse_name(input, words)?);
            return Ok(());
        }
        no_condition(input, words, of)?;
        no_field(input, words, name.as_ref(), of)?;
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
                    ctxt::mistake("T004", rest, "malformed `when`", when_help(of))
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

/// Returns a help text that shows `when` with the path of one of the struct's methods.
fn when_help(of: &DeriveInput) -> String {
    format!("write `when = {}::is_active` of `fn is_active(&self) -> bool`", of.ident)
}

/// Reports another library's word for `when`.
fn no_condition(input: ParseStream, words: &Words, of: &DeriveInput) -> syn::Result<()> {
    match input.fork().call(Ident::parse_any) {
        Ok(word) if CONDITIONS.iter().any(|other| word == other) => {
            let fact = format!("unknown word `{word}` in `{}`", words.of);
            Err(ctxt::mistake("T001", &word, fact, when_help(of)))
        }
        _ => Ok(()),
    }
}

/// Reports a bare name that resembles no known word. Such a name is probably a key field.
fn no_field(input: ParseStream, words: &Words, index: Option<&Ident>, of: &DeriveInput) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(name) = ahead.call(Ident::parse_any) else { return Ok(()) };
    let text = name.to_string();
    let known = || words.known.iter().map(|(word, _)| word.0);
    // Most names are known words. They are looked up first, because the similarity search is slow in an unoptimised macro.
    let is_word = known().any(|word| text == word)
        || words.suggested.iter().any(|(word, _)| text == *word)
        || symbol::nearest(&text, known()).is_some();
    if is_word || !grammar::may_end(&ahead) {
        return Ok(());
    }
    let first = index.filter(|index| index.to_string().starts_with(char::is_lowercase));
    let help = match first {
        Some(first) => {
            // By default, index rows share the entity's partition, so the `RowKey` need not repeat the fields of the `PartitionKey`.
            let partition = of.attrs.iter().find(|attr| attr.path() == &PARTITION_KEY);
            let partition =
                partition.map(|attr| grammar::names(grammar::arguments(attr))).unwrap_or_default();
            let fields = [first, &name].into_iter().filter(|field| !partition.contains(field));
            let fields: TokenStream = fields.map(|field| quote!(#field,)).collect();
            format!("write `{}`", samples::with_names(words.form, &fields))
        }
        None => format!("a field belongs in the key: `row_key({name})`"),
    };
    Err(ctxt::mistake("T001", &name, format!("unknown word `{name}` in `{}`", words.of), help))
}

/// Returns the correct syntax for an index that is declared with another library's settings, such as `name = "ByEmail", columns = [email], unique = true`.
fn settings_of(input: ParseStream, words: &Words) -> Option<String> {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).ok().filter(|word| word == "name" || word == "index_name")?;
    ahead.parse::<Token![=]>().ok()?;
    let text = grammar::rest(&ahead).to_string();
    let rest: TokenStream = input.fork().parse().ok()?;
    let is_fields =
        |word: &Ident| words.suggested.iter().any(|(other, help)| word == other && help.contains("_key("));
    let mut tokens = rest
        .clone()
        .into_iter()
        .skip_while(|token| !matches!(token, TokenTree::Ident(word) if is_fields(word)));
    tokens.next()?;
    let fields: TokenStream = tokens
        .take_while(|token| !matches!(token, TokenTree::Punct(sign) if sign.as_char() == ','))
        .collect();
    let own = format!("({}", pascal_case(text.trim_matches('"')));
    let form = samples::with_names(words.form, &fields);
    Some(form.replace("(ByEmail", &own).replace("(ByName", &own))
}

/// Parses the name at the start of an index attribute.
fn parse_name(input: ParseStream, words: &Words) -> syn::Result<Ident> {
    let whole = grammar::rest(input);
    let nameless = |tokens: TokenStream| {
        let help = format!("write the name first: `{}`", words.form);
        ctxt::mistake("T004", tokens, "an index starts with its name", help)
    };
    if let Some(form) = settings_of(input, words) {
        let name = input.parse::<Ident>()?;
        // The remaining settings are part of the same error.
        input.parse::<TokenStream>()?;
        return Err(ctxt::mistake("T004", name, "an index starts with its name", format!("write `{form}`")));
    }
    let Ok(name) = input.parse::<Ident>() else { return Err(nameless(whole)) };
    let is_word = words.known.iter().any(|(word, _)| name == *word) || input.peek(Token![=]);
    if is_word { Err(nameless(name.into_token_stream())) } else { Ok(name) }
}
