//! Pieces of a key as written: `"empid_"`, `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitChar, LitInt, LitStr, Path, Token, parenthesized, token};

use crate::ctxt::Ctxt;
use crate::symbol::{self, BUCKET, CODEC, DESC, DIGITS, ESCAPED, HOUR, LITERAL, WITHOUT};

/// One piece of a key.
pub(crate) enum PieceAttr {
    /// A text that is always there.
    Literal(LitStr),
    /// `literal("id")`: the same, whatever it looks like.
    Meant(LitStr),
    /// A field, written by a codec.
    Part {
        /// The field's name, where it is written.
        field: Ident,
        /// How it is written.
        codec: CodecAttr,
    },
}

/// How a field is written.
#[derive(Clone)]
pub(crate) enum CodecAttr {
    /// As its type is by default, or as its own attribute says.
    Natural,
    /// `digits(6, id)`
    Digits(LitInt),
    /// `escaped(name)`
    Escaped,
    /// `without('_', name)`
    Without(LitChar),
    /// `hour(at)`
    Hour,
    /// `desc(…)`
    Desc(Box<CodecAttr>),
    /// `bucket(…, 16)`
    Bucket(Box<CodecAttr>, LitInt),
    /// `codec(path::To, field)`
    Custom(Path),
}

const CODECS: [&str; 7] = [DIGITS.0, DESC.0, ESCAPED.0, WITHOUT.0, HOUR.0, BUCKET.0, CODEC.0];

/// The pieces between the parentheses of a key.
#[derive(Default)]
pub(crate) struct PieceList {
    /// Those that are right.
    pub(crate) pieces: Vec<PieceAttr>,
    /// Whether others were wrong, reported and skipped.
    pub(crate) broken: bool,
}

/// Reads the pieces of a key, and goes on after one that is wrong.
pub(crate) fn parse_list(ctxt: &Ctxt, input: ParseStream) -> syn::Result<PieceList> {
    let mut list = PieceList::default();
    while !input.is_empty() {
        match parse(ctxt, input) {
            Ok(Some(piece)) => list.pieces.push(piece),
            Ok(None) => list.broken = true,
            Err(error) => {
                list.broken = true;
                ctxt.push(error);
                skip_to_comma(input)?;
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(list)
}

/// Skips the rest of a piece or word that was reported.
pub(crate) fn skip_to_comma(input: ParseStream) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

fn parse(ctxt: &Ctxt, input: ParseStream) -> syn::Result<Option<PieceAttr>> {
    if input.peek(LitStr) {
        return Ok(Some(PieceAttr::Literal(input.parse()?)));
    }
    if input.fork().call(Ident::parse_any).is_ok_and(|word| word == LITERAL) && input.peek2(token::Paren) {
        input.call(Ident::parse_any)?;
        let content;
        parenthesized!(content in input);
        let text = content.parse()?;
        return if content.is_empty() { Ok(Some(PieceAttr::Meant(text))) } else { Err(no_more(&content)) };
    }
    Ok(parse_part(ctxt, input)?.map(|(field, codec)| PieceAttr::Part { field, codec }))
}

fn parse_part(ctxt: &Ctxt, input: ParseStream) -> syn::Result<Option<(Ident, CodecAttr)>> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(
            "[T004] expected a piece of a key\n\nhelp: a piece is a text (`\"empid_\"`), a field (`id`) or a codec of a field (`digits(6, id)`)",
        ));
    }
    let word = input.call(Ident::parse_any)?;
    if !input.peek(token::Paren) {
        return Ok(Some((word, CodecAttr::Natural)));
    }
    let content;
    parenthesized!(content in input);
    let content = &content;
    let part = if word == DIGITS {
        let digits = parse_digits(content)?;
        content.parse::<Token![,]>()?;
        Some((content.call(Ident::parse_any)?, CodecAttr::Digits(digits)))
    } else if word == WITHOUT {
        let separator = content.parse()?;
        content.parse::<Token![,]>()?;
        Some((content.call(Ident::parse_any)?, CodecAttr::Without(separator)))
    } else if word == ESCAPED {
        Some((content.call(Ident::parse_any)?, CodecAttr::Escaped))
    } else if word == HOUR {
        Some((content.call(Ident::parse_any)?, CodecAttr::Hour))
    } else if word == DESC {
        parse_part(ctxt, content)?.map(|(field, codec)| (field, CodecAttr::Desc(Box::new(codec))))
    } else if word == BUCKET {
        let part = parse_part(ctxt, content)?;
        content.parse::<Token![,]>()?;
        let buckets = parse_buckets(content)?;
        part.map(|(field, codec)| (field, CodecAttr::Bucket(Box::new(codec), buckets)))
    } else if word == CODEC {
        let path = content.call(Path::parse_mod_style)?;
        content.parse::<Token![,]>()?;
        Some((content.call(Ident::parse_any)?, CodecAttr::Custom(path)))
    } else {
        ctxt.error(
            "T001",
            &word,
            format!("unknown codec `{word}`"),
            symbol::known(&word.to_string(), CODECS),
        );
        content.parse::<proc_macro2::TokenStream>()?;
        None
    };
    if content.is_empty() { Ok(part) } else { Err(no_more(content)) }
}

fn no_more(content: ParseStream) -> syn::Error {
    content.error("[T004] unexpected token: this codec takes no more")
}

/// The number of `bucket(user, 16)`.
fn parse_buckets(input: ParseStream) -> syn::Result<LitInt> {
    let buckets: LitInt = input.parse()?;
    if matches!(buckets.base10_parse::<u32>(), Ok(2..)) {
        return Ok(buckets);
    }
    // What is left unread would be told once more.
    input.parse::<proc_macro2::TokenStream>()?;
    Err(syn::Error::new_spanned(
        &buckets,
        "[T036] `bucket` takes a number of buckets from 2 to 4294967295\n\nhelp: so many partitions share the load, and each is one request more for all of them: `bucket(user, 16)`",
    ))
}

/// The number of `digits(6)`.
pub(crate) fn parse_digits(input: ParseStream) -> syn::Result<LitInt> {
    let digits: LitInt = input.parse()?;
    if matches!(digits.base10_parse::<u8>(), Ok(1..=39)) {
        return Ok(digits);
    }
    // What is left unread would be told once more.
    input.parse::<proc_macro2::TokenStream>()?;
    Err(syn::Error::new_spanned(
        &digits,
        "[T004] `digits` takes a number from 1 to 39\n\nhelp: the most digits that a value can have: `digits(6)` writes 223 as `000223`",
    ))
}
