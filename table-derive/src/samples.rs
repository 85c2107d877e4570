//! Fills in the examples in error messages: replaces the sample names with names from the user's declaration.

use proc_macro2::{TokenStream, TokenTree};
use syn::Ident;

use crate::casing::pascal_case;
use crate::symbol;

/// Replaces the sample name in a help text with the name in a word's arguments. If the arguments contain the fields of both keys, the help text shows the key
/// attributes instead.
pub(crate) fn with_arguments(help: &str, word: &str, arguments: &TokenStream) -> String {
    if let [partition, row @ ..] = key_fields(arguments).as_slice()
        && !row.is_empty()
        && symbol::FOREIGN_KEYS.contains(&word)
    {
        let row = row.join(", \"_\", ");
        return format!("write `#[partition_key({partition})] #[row_key({row})]` above the struct");
    }
    with_name(help, arguments)
}

/// Returns an example with its sample names replaced with the names in the tokens: a quoted name, or the fields of a key.
pub(crate) fn with_names(form: &str, tokens: &TokenStream) -> String {
    const FIELDS: &str = "\"email_\", email";
    const INCLUDED: &str = "include(first_name, last_name)";
    let names: Vec<String> = key_fields(tokens).into_iter().filter(|name| !name.ends_with('_')).collect();
    if let [first, ..] = names.as_slice()
        && form.contains(FIELDS)
    {
        let fields = format!("\"{first}_\", {}", names.join(", \"_\", "));
        return form.replace(FIELDS, &fields).replace("ByEmail", &format!("By{}", pascal_case(first)));
    }
    if form.contains(INCLUDED) && names.iter().any(|name| name.starts_with(char::is_lowercase)) {
        return form.replace(INCLUDED, &format!("include({})", names.join(", ")));
    }
    with_name(form, tokens)
}

/// Returns an example with its quoted name replaced with the name in the tokens.
fn with_name(form: &str, tokens: &TokenStream) -> String {
    const NAMES: [&str; 3] = ["\"Name\"", "\"Company\"", "\"Directory\""];
    let Some(name) = only_name(tokens) else { return form.to_owned() };
    if form == "set = Desk" {
        return format!("set = {name}");
    }
    let form = form.replace("(Assignee)", &format!("({name})"));
    NAMES.iter().fold(form, |form, sample| form.replace(sample, &format!("{name:?}")))
}

/// Returns an example with its sample kind replaced with the name in the tokens.
pub(crate) fn with_kind(form: &str, tokens: &TokenStream) -> String {
    let name = only_name(tokens).unwrap_or_else(|| "Employee".to_owned());
    form.replace("\"Employee\"", &format!("{name:?}"))
}

/// Returns the fields in the arguments of another library's key attribute, such as `department` and `id` in `(partition = department, local = id)`.
pub(crate) fn key_fields(arguments: &TokenStream) -> Vec<String> {
    const WORDS: [&str; 11] =
        ["partition", "local", "hash", "range", "sort", "pk", "sk", "key", "name", "columns", "fields"];
    let mut fields = Vec::new();
    let mut tokens = arguments.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_set = matches!(tokens.peek(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=');
        match token {
            // `nameof(Id)` of C#: the field is in the group that follows.
            TokenTree::Ident(name) if name == "nameof" => {}
            TokenTree::Ident(name) if !WORDS.iter().any(|word| name == word) || !is_set => {
                fields.push(name.to_string());
            }
            TokenTree::Group(group) => fields.extend(key_fields(&group.stream())),
            TokenTree::Literal(text) => fields.extend(name_in(&text.to_string())),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    fields
}

/// Returns `true` if the arguments of an attribute contain a single name in quotes: `= "Name"`, `("Name")` or `(name = "Name")`. A word without quotes, as in
/// `#[column(unique)]`, is a setting.
pub(crate) fn names_one(arguments: &TokenStream) -> bool {
    quoted_name(arguments).is_some()
}

/// Returns the name in `= "Name"`, `("Name")` or `(name = "Name")`, also without quotes in `= Name` and `(Name)`.
fn only_name(arguments: &TokenStream) -> Option<String> {
    let mut tokens = without_signs(arguments);
    match (tokens.next()?, tokens.next()) {
        (TokenTree::Ident(name), None) => Some(name.to_string()),
        (TokenTree::Group(group), None) => only_name(&group.stream()),
        _ => quoted_name(arguments),
    }
}

/// Returns the text in `= "Name"`, `("Name")` or `(name = "Name")`.
fn quoted_name(arguments: &TokenStream) -> Option<String> {
    let mut tokens = without_signs(arguments);
    let text = match (tokens.next()?, tokens.next()) {
        (TokenTree::Literal(text), None) => text.to_string(),
        (TokenTree::Ident(word), Some(TokenTree::Literal(text)))
            if ["name", "Name", "entity"].iter().any(|name| word == name) =>
        {
            text.to_string()
        }
        (TokenTree::Group(group), None) => return quoted_name(&group.stream()),
        _ => return None,
    };
    name_in(&text)
}

/// Returns the tokens other than punctuation.
fn without_signs(tokens: &TokenStream) -> impl Iterator<Item = TokenTree> + use<> {
    tokens.clone().into_iter().filter(|token| !matches!(token, TokenTree::Punct(_)))
}

/// Returns the text of a string literal if it is a valid name.
pub(crate) fn name_in(literal: &str) -> Option<String> {
    let name = syn::parse_str::<syn::LitStr>(literal).ok()?.value();
    syn::parse_str::<Ident>(&name).is_ok().then_some(name)
}
