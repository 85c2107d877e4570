//! Help texts for a computed expression that is written where a key piece is expected.

use proc_macro2::{TokenStream, TokenTree};

use crate::grammar::{is_name, names};

/// Returns the help text for an expression, such as a condition or a remainder.
pub(super) fn computed(tokens: TokenStream) -> Option<String> {
    if let Some(help) = remainder(&tokens).or_else(|| sliced(&tokens)) {
        return Some(help);
    }
    let help = tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "if" || word == "match" => Some(
            "a key does not depend on a condition; declare two types and an `EntitySet` of both, or use an enum with stored names as a part \
             (`#[derive(KeyPart)]`)",
        ),
        TokenTree::Punct(sign) if matches!(sign.as_char(), '%' | '*') => Some(
            "a key is made of plain fields; store the computed value as a field; to spread keys write `bucket(id, 16)`",
        ),
        _ => None,
    });
    help.map(str::to_owned)
}

/// Returns the help text for `u64::MAX - id`, `i64::MAX - at.timestamp()` and other subtractions from a maximum.
pub(super) fn less(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string().replace(' ', "");
    let (greatest, field) = text.split_once('-')?;
    let is_called = field.starts_with(|first: char| first.is_alphabetic()) && field.contains(',');
    let mut names = names(field.parse().ok()?);
    if !is_called {
        names.reverse();
    }
    let field = names.into_iter().find(|name| name != "self" && name != "as")?;
    let number = match greatest.rsplit("::").nth(1).unwrap_or_default() {
        "u64" => "18446744073709551615",
        "i64" => "9223372036854775807",
        "u32" => "4294967295",
        "i32" => "2147483647",
        _ if greatest.bytes().all(|byte| byte.is_ascii_digit()) && !greatest.is_empty() => greatest,
        _ if greatest.contains("DateTime") || greatest.contains("Ticks") => "3155378975999999999",
        _ if greatest.to_ascii_uppercase().contains("MAX") => "9223372036854775807",
        _ => return None,
    };
    let called = text.rsplit_once('.').map_or("", |(_, method)| method);
    let piece = match called.split('(').next().unwrap_or_default() {
        "timestamp" => format!("unix(seconds, {field})"),
        "timestamp_millis" => format!("unix(millis, {field})"),
        _ => field.to_string(),
    };
    Some(format!(
        "write `inverted({number}, {piece})` for exactly this number, or in a new table `desc({field})`, which sorts in the same order"
    ))
}

/// Returns the help text for a remainder: `id % 16`.
fn remainder(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string().replace(' ', "");
    let (field, number) = text.split_once('%')?;
    let field = field.trim_start_matches("self.");
    let number: u32 = number.parse().ok().filter(|number| *number > 1)?;
    is_name(field).then(|| {
        format!("write `bucket({field}, {number})`, which spreads the entities over {number} values")
    })
}

/// Returns the help text for a prefix of a string: `email[..2]`.
fn sliced(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string().replace(' ', "");
    let (field, range) = text.trim_start_matches('&').trim_start_matches("self.").split_once('[')?;
    let end: u8 = range.strip_suffix(']')?.trim_start_matches('0').strip_prefix("..")?.parse().ok()?;
    is_name(field)
        .then(|| format!("write `first({end}, {field})`, which contains the first characters of the field"))
}
