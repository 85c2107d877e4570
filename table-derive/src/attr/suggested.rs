//! Guesses which key pieces a user meant by an expression or by another library's setting.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Lit, Meta};

use crate::attr::computed::{computed, less};
use crate::attr::format;
use crate::codec;
use crate::ctxt;
use crate::grammar::{self, is_name, names};

/// Returns the error for tokens that are not a key piece. The error suggests the intended piece if it can be guessed. `before` is the preceding field.
pub(super) fn no_piece(input: ParseStream, before: Option<&Ident>) -> syn::Error {
    let whole = grammar::rest(input);
    let suggested = suggested(whole.clone());
    let help = if let Some(help) = less(&whole)
        .or_else(|| before.and_then(|field| order_of(&whole, field)))
        .or_else(|| formatted(&whole))
        .or_else(|| of_value(&whole))
        .or_else(|| called(whole.clone()))
        .or_else(|| computed(whole.clone()))
        .or_else(|| assigned(&whole))
    {
        help
    } else if suggested.is_empty() {
        "a piece is a literal (`\"empid_\"`), a field (`id`) or a codec around a field (`digits(6, id)`)"
            .to_owned()
    } else {
        format!("write `{}`: a piece is a literal, a field or a codec around a field", suggested.join(", "))
    };
    let text = grammar::source(&whole);
    let wrong = if text.len() <= 60 {
        format!("`{text}` is not a piece of a key")
    } else {
        "this is not a piece of a key".to_owned()
    };
    ctxt::mistake("T004", whole, wrong, help)
}

/// Settings of other libraries whose values are key pieces.
const OF_PIECES: [&str; 8] =
    ["composite", "template", "facets", "value", "format", "fields", "parts", "components"];

/// Returns the pieces of a key declared with `=`: `department` for both `= "department"` and `(field = "pk", composite = ["department"])`.
pub(super) fn assigned_pieces(attr: &Attribute) -> Option<String> {
    let tokens = match &attr.meta {
        Meta::NameValue(pair) => pair.value.to_token_stream(),
        Meta::List(list) => {
            let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
            let is_comma =
                |token: &TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
            let items: Vec<&[TokenTree]> = tokens.split(is_comma).collect();
            let is_setting = |item: &&[TokenTree]| matches!(item, [TokenTree::Ident(_), TokenTree::Punct(sign), _, ..] if sign.as_char() == '=');
            let of_pieces = |item: &&&[TokenTree]| matches!(item, [TokenTree::Ident(word), ..] if OF_PIECES.iter().any(|pieces| word == pieces));
            if items.len() < 2 || !items.iter().all(is_setting) {
                return None;
            }
            items.iter().find(of_pieces)?.iter().skip(2).cloned().collect()
        }
        Meta::Path(_) => return None,
    };
    let mut pieces = suggested(tokens);
    if let [piece] = pieces.as_mut_slice() {
        *piece = without_quotes(std::mem::take(piece));
    }
    let are_names = pieces.iter().all(|piece| is_name(piece));
    (!pieces.is_empty()).then(|| pieces.join(if are_names { ", \"_\", " } else { ", " }))
}

/// Returns the help text for another library's key setting, or for a field to which a value is assigned.
fn assigned(tokens: &TokenStream) -> Option<String> {
    let mut tokens = tokens.clone().into_iter();
    let (Some(TokenTree::Ident(word)), Some(TokenTree::Punct(sign)), Some(TokenTree::Literal(_))) =
        (tokens.next(), tokens.next(), tokens.next())
    else {
        return None;
    };
    if sign.as_char() != '=' || OF_PIECES.iter().any(|pieces| word == pieces) {
        return None;
    }
    Some(match word.to_string().as_str() {
        "field" | "name" | "column" | "index" | "type" | "casing" => {
            format!(
                "remove `{word}`: the keys of every table are `PartitionKey` and `RowKey`, and contain the pieces as written"
            )
        }
        field => format!("write `{field}`: the value of a field is set in the program"),
    })
}

/// Returns the help text for a sort order written as a setting after a field: `order = "desc"`.
fn order_of(tokens: &TokenStream, field: &Ident) -> Option<String> {
    let text = tokens.to_string().to_ascii_lowercase();
    let (word, value) = text.split_once('=')?;
    let is_word =
        ["order", "sort", "sort_order", "direction", "dir", "desc", "descending"].contains(&word.trim());
    let is_descending = value.contains("desc") || word.starts_with("desc") && value.contains("true");
    is_word.then(|| {
        if is_descending {
            format!("remove it, and write `desc({field})` in place of `{field}`")
        } else {
            "remove it: keys sort in ascending order".to_owned()
        }
    })
}

/// Returns the help text for a nested field in place of an entity field: `address.city`.
fn of_value(tokens: &TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let [TokenTree::Ident(value), TokenTree::Punct(dot), TokenTree::Ident(field)] = tokens.as_slice() else {
        return None;
    };
    (dot.as_char() == '.' && value != "self").then(|| {
        format!("write `{field}`, and declare it as a field of this struct: a key contains fields of the entity, not of their values")
    })
}

/// Returns the help text for a function call in place of a key piece, such as `at.year()` or `Uuid::new_v4()`.
fn called(tokens: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let field = match tokens.as_slice() {
        [TokenTree::Ident(this), _, TokenTree::Ident(field), ..] if this == "self" => Some(field.to_string()),
        [TokenTree::Ident(field), TokenTree::Punct(dot), ..] if dot.as_char() == '.' => {
            Some(field.to_string())
        }
        _ => None,
    };
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Punct(before), TokenTree::Ident(name), TokenTree::Group(_)]
            if matches!(before.as_char(), '.' | ':') =>
        {
            codec::suggested(name, field.as_deref())
        }
        _ => None,
    })
}

/// Returns the help text for a formatted date or time, such as `at.format("%Y-%m-%d")`.
fn formatted(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string();
    let (before, after) = text.split_once('"')?;
    let (format, _) = after.split_once('"')?;
    let (field, word) = before.trim_end_matches(['(', ' ']).rsplit_once('.')?;
    let field = names(field.parse().ok()?).into_iter().next()?;
    let is_format = ["format", "strftime", "to_string", "ToString"].contains(&word.trim());
    let pattern = codec::date_format::pattern(format).filter(|_| is_format)?;
    Some(format!("write `truncate(pattern({pattern:?}, {field}))`, or without `truncate` for a `NaiveDate`"))
}

/// Returns the key piece for a field with a sort order: `desc(id)` for `id desc`, `desc id`, `-id` and `!id`.
fn sorted(tokens: &[TokenTree]) -> Option<String> {
    let (order, field) = match tokens {
        [TokenTree::Punct(sign), TokenTree::Ident(field)] if matches!(sign.as_char(), '-' | '!') => {
            return Some(format!("desc({field})"));
        }
        [TokenTree::Ident(first), TokenTree::Ident(second)] => {
            let orders = [(second, first), (first, second)];
            orders.into_iter().find(|(order, _)| is_order(&order.to_string().to_ascii_lowercase()))?
        }
        _ => return None,
    };
    let is_ascending = order.to_string().to_ascii_lowercase().starts_with("asc");
    Some(if is_ascending { field.to_string() } else { format!("desc({field})") })
}

fn is_order(word: &str) -> bool {
    ["asc", "ascending", "desc", "descending"].contains(&word)
}

/// Returns the literals and fields in an expression: `"empid_", id` for `format!("empid_{}", self.id)`.
fn suggested(tokens: TokenStream) -> Vec<String> {
    let mut suggested = Vec::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    // A closure ends with the field whose value it returns.
    if matches!(tokens.first(), Some(TokenTree::Punct(bar)) if bar.as_char() == '|') {
        return match tokens.last() {
            Some(TokenTree::Ident(field)) => vec![field.to_string()],
            _ => Vec::new(),
        };
    }
    if let Some(piece) = sorted(&tokens) {
        return vec![piece];
    }
    let is_punct = |at: Option<usize>, wanted: char| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
    };
    let mut holes = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Literal(literal) => {
                let text = match syn::parse2::<Lit>(literal.to_token_stream()) {
                    Ok(Lit::Str(text)) => text.value(),
                    Ok(Lit::Char(character)) => character.value().to_string(),
                    _ => continue,
                };
                holes += unnamed(&text);
                suggested.extend(
                    format::pieces(&text, None, is_name).into_iter().filter(|piece| !is_unnamed(piece)),
                );
            }
            TokenTree::Ident(ident) => {
                let is_named = is_punct(at.checked_add(1), '=');
                let is_called = is_named
                    || matches!(tokens.get(at + 1), Some(TokenTree::Group(_)))
                    || is_punct(at.checked_add(1), '!')
                    || is_punct(at.checked_add(1), ':') && is_punct(at.checked_add(2), ':');
                let is_type = is_punct(at.checked_sub(1), ':') && !is_punct(at.checked_sub(2), ':')
                    || at
                        .checked_sub(1)
                        .and_then(|at| tokens.get(at))
                        .is_some_and(|it| it.to_string() == "as");
                let is_keyword = syn::parse2::<Ident>(ident.to_token_stream()).is_err();
                if !is_called
                    && !is_type
                    && !is_keyword
                    && ident != "self"
                    && ident != "as"
                    && !suggested.contains(&ident.to_string())
                {
                    suggested.push(ident.to_string());
                }
            }
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Bracket
                    && (at == 0 || is_punct(at.checked_sub(1), '=')) =>
            {
                suggested.extend(self::suggested(group.stream()).into_iter().map(without_quotes));
            }
            TokenTree::Group(group)
                if is_punct(at.checked_sub(1), '!') || is_punct(at.checked_sub(1), '=') || at == 0 =>
            {
                suggested.extend(self::suggested(group.stream()));
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }
    // If the format has several placeholders, it is unknown which argument belongs to which.
    if holes > 1 { Vec::new() } else { with_argument(suggested) }
}

/// Moves an argument into the placeholder that specifies a width: `digits(6, field), id` becomes `digits(6, id)`.
fn with_argument(mut pieces: Vec<String>) -> Vec<String> {
    let Some(at) = pieces.iter().position(|piece| piece.ends_with(", field)")) else { return pieces };
    let Some(argument) = pieces.iter().skip(at).position(|piece| is_name(piece)) else { return pieces };
    let argument = pieces.remove(at + argument);
    if let Some(piece) = pieces.get_mut(at) {
        *piece = piece.replace(", field)", &format!(", {argument})"));
    }
    pieces
}

/// Returns the number of unnamed placeholders in a format string.
fn unnamed(text: &str) -> usize {
    let mut rest = text;
    let mut count = 0;
    while let Some((_, inside, after)) = format::placeholder(rest, is_name) {
        count += usize::from(!is_name(format::name_of(inside)));
        rest = after;
    }
    count
}

/// Returns `true` if a piece came from an unnamed placeholder, whose field follows as an argument.
fn is_unnamed(piece: &str) -> bool {
    piece == "field"
}

/// Removes the quotes around a field name: `id` for `"id"`. Returns any other piece unchanged.
fn without_quotes(piece: String) -> String {
    let inside = piece.trim_matches('"');
    if is_name(inside) { inside.to_owned() } else { piece }
}
