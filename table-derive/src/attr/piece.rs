//! Parser of key pieces: `"empid_"`, `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitStr, parenthesized, token};

use crate::attr::format;
use crate::codec::{self, Codec};
use crate::ctxt::{self, Ctxt};
use crate::grammar;
use crate::symbol::LITERAL;

/// One piece of a key.
pub(crate) enum PieceAttr {
    /// A constant string.
    Literal(LitStr),
    /// `literal("id")`: a constant string, even if it is spelled like a field.
    Meant(LitStr),
    /// A field with its codec.
    Part {
        /// The name of the field.
        field: Ident,
        /// The codec.
        codec: Codec,
    },
    /// A piece for which an error was reported, with the names that it contains. One of them may be the intended field.
    Wrong(Vec<Ident>),
}

/// The pieces between the parentheses of a key.
#[derive(Default)]
pub(crate) struct PieceList {
    /// The pieces, in order.
    pub(crate) pieces: Vec<PieceAttr>,
    /// `true` if some pieces are wrong.
    pub(crate) broken: bool,
}

impl PieceList {
    /// Creates a placeholder for a key that could not be parsed. The error has already been reported.
    pub(crate) fn wrong(tokens: TokenStream) -> Self {
        Self { pieces: vec![PieceAttr::Wrong(names(tokens))], broken: true }
    }
}

/// Parses the pieces of a key. After an invalid piece, parsing continues with the next piece.
pub(crate) fn parse_list(ctxt: &Ctxt, input: ParseStream) -> PieceList {
    let (mut pieces, mut broken) = (Vec::new(), false);
    grammar::list(ctxt, "key", "\"empid_\", id", input, |input| {
        let whole = input.fork();
        let end = |piece| if grammar::may_end(input) { Ok(piece) } else { Err(input.error("expected `,`")) };
        match parse(ctxt, input).and_then(end) {
            Ok(Some(piece)) => pieces.push(piece),
            read => {
                broken = true;
                pieces.push(PieceAttr::Wrong(names(grammar::rest(&whole))));
                read.map_err(|error| if grammar::is_told(&error) { error } else { no_piece(&whole) })?;
            }
        }
        Ok(())
    });
    PieceList { pieces, broken }
}

/// Returns all names in the tokens, the last one first, because a field follows the arguments of its codec. Keywords are omitted, because a field
/// cannot be named like a keyword.
pub(crate) fn names(tokens: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if syn::parse2::<Ident>(ident.to_token_stream()).is_err() => {}
            TokenTree::Ident(ident) => names.insert(0, ident),
            TokenTree::Group(group) => {
                names.splice(0..0, self::names(group.stream()));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    names
}

/// Returns the error for tokens that are not a piece. The error suggests the intended piece if it can be guessed.
fn no_piece(input: ParseStream) -> syn::Error {
    let whole = grammar::rest(input);
    let meant = meant(whole.clone());
    let help = if let Some(help) =
        called(whole.clone()).or_else(|| computed(whole.clone())).or_else(|| assigned(&whole))
    {
        help
    } else if meant.is_empty() {
        "a piece is a literal (`\"empid_\"`), a field (`id`) or a codec around a field (`digits(6, id)`)"
            .to_owned()
    } else {
        format!(
            "a piece is a literal, a field or a codec around a field, separated by commas: `{}`",
            meant.join(", ")
        )
    };
    ctxt::mistake("T004", whole, "expected a piece of a key", help)
}

/// Returns the help for an expression, such as a condition or a remainder.
fn computed(tokens: TokenStream) -> Option<String> {
    if let Some(help) = less(&tokens) {
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

/// Returns the help for a key setting of another library, and for a field with a value.
fn assigned(tokens: &TokenStream) -> Option<String> {
    const OF_PIECES: [&str; 8] =
        ["composite", "template", "facets", "value", "format", "fields", "parts", "components"];
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

/// Returns the help for `u64::MAX - id` and other subtractions from a maximum.
fn less(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string().replace(' ', "");
    let (greatest, field) = text.split_once('-')?;
    let field = names(field.parse().ok()?).into_iter().find(|name| name != "self" && name != "as")?;
    let number = match greatest.rsplit("::").nth(1).unwrap_or_default() {
        "u64" => "18446744073709551615",
        "i64" => "9223372036854775807",
        "u32" => "4294967295",
        "i32" => "2147483647",
        _ if greatest.bytes().all(|byte| byte.is_ascii_digit()) && !greatest.is_empty() => greatest,
        _ if greatest.contains("MAX") => "9223372036854775807",
        _ => return None,
    };
    Some(format!(
        "write `inverted({number}, {field})` for exactly this number, or in a new table `desc({field})`, which sorts in the same order"
    ))
}

/// Returns the help for a function call: `year` for `at.year()`, `new_v4` for `Uuid::new_v4()`.
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
            codec::meant(name, field.as_deref())
        }
        _ => None,
    })
}

/// Returns the literals and fields of an expression: `"empid_", id` for `format!("empid_{}", self.id)`.
fn meant(tokens: TokenStream) -> Vec<String> {
    let mut meant = Vec::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
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
                meant.extend(
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
                    && !meant.contains(&ident.to_string())
                {
                    meant.push(ident.to_string());
                }
            }
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Bracket
                    && (at == 0 || is_punct(at.checked_sub(1), '=')) =>
            {
                meant.extend(self::meant(group.stream()).into_iter().map(without_quotes));
            }
            TokenTree::Group(group)
                if is_punct(at.checked_sub(1), '!') || is_punct(at.checked_sub(1), '=') || at == 0 =>
            {
                meant.extend(self::meant(group.stream()));
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }
    // If there are several placeholders and arguments, their order is unknown.
    if holes > 1 { Vec::new() } else { with_argument(meant) }
}

/// Moves an argument into the placeholder that has a width: `digits(6, field), id` becomes `digits(6, id)`.
fn with_argument(mut pieces: Vec<String>) -> Vec<String> {
    let Some(at) = pieces.iter().position(|piece| piece.ends_with(", field)")) else { return pieces };
    let Some(argument) = pieces.iter().skip(at).position(|piece| is_name(piece)) else { return pieces };
    let argument = pieces.remove(at + argument);
    if let Some(piece) = pieces.get_mut(at) {
        *piece = piece.replace(", field)", &format!(", {argument})"));
    }
    pieces
}

fn is_name(text: &str) -> bool {
    syn::parse_str::<Ident>(text).is_ok()
}

/// Returns the number of placeholders without a name.
fn unnamed(text: &str) -> usize {
    let mut rest = text;
    let mut count = 0;
    while let Some((_, inside, after)) = format::placeholder(rest, is_name) {
        count += usize::from(!is_name(format::name_of(inside)));
        rest = after;
    }
    count
}

/// Returns `true` for the piece of an unnamed placeholder, whose field follows as an argument.
fn is_unnamed(piece: &str) -> bool {
    piece == "field"
}

/// Returns the field of a quoted name in a list: `id` for `"id"`.
fn without_quotes(piece: String) -> String {
    let inside = piece.trim_matches('"');
    if is_name(inside) { inside.to_owned() } else { piece }
}

fn parse(ctxt: &Ctxt, input: ParseStream) -> syn::Result<Option<PieceAttr>> {
    if input.peek(LitStr) {
        return Ok(Some(PieceAttr::Literal(input.parse()?)));
    }
    if input.fork().call(Ident::parse_any).is_ok_and(|word| word == LITERAL) && input.peek2(token::Paren) {
        let word = input.call(Ident::parse_any)?;
        let content;
        parenthesized!(content in input);
        let text = content.parse::<LitStr>();
        if let (Ok(text), true) = (&text, content.is_empty()) {
            return Ok(Some(PieceAttr::Meant(text.clone())));
        }
        let form = "literal(\"id\")`; a field stands alone: `id";
        let wrong = grammar::misread(&word, form, &content, content.error("expected one text"));
        // Unread tokens would be reported a second time.
        content.parse::<TokenStream>()?;
        return Err(wrong);
    }
    Ok(codec::parse_part(ctxt, input)?.map(|(field, codec)| PieceAttr::Part { field, codec }))
}
