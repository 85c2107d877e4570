//! Pieces of a key as written: `"empid_"`, `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token, parenthesized, token};

use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::symbol::LITERAL;

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
        codec: Codec,
    },
}

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
        let text = content.parse::<LitStr>();
        if let (Ok(text), true) = (text, content.is_empty()) {
            return Ok(Some(PieceAttr::Meant(text)));
        }
        let wrong = content.error("[T004] this is not how `literal` is written\n\nhelp: write `literal(\"id\")`; a field stands alone: `id`");
        // What is left unread would be told once more.
        content.parse::<proc_macro2::TokenStream>()?;
        return Err(wrong);
    }
    Ok(codec::parse_part(ctxt, input)?.map(|(field, codec)| PieceAttr::Part { field, codec }))
}
