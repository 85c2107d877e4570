//! Parser for key pieces: `"empid_"`, `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, parenthesized, token};

use crate::attr::suggested::no_piece;
use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::grammar::{self, names};
use crate::symbol::LITERAL;

/// One piece of a key.
pub(crate) enum PieceAttr {
    /// A constant string in the key.
    Literal(LitStr),
    /// `literal("id")`: a constant string, even if it equals the name of a field.
    Meant(LitStr),
    /// A field and its codec.
    Part {
        /// The name of the field.
        field: Ident,
        /// The codec of the field in this key.
        codec: Codec,
    },
    /// A piece for which an error has been reported. Contains the names in the piece, one of which may be the intended field.
    Wrong(Vec<Ident>),
}

/// The pieces inside the parentheses of a key attribute.
#[derive(Default)]
pub(crate) struct PieceList {
    /// The pieces, in key order.
    pub(crate) pieces: Vec<PieceAttr>,
    /// `true` if an error has been reported for at least one piece.
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
        let before = match pieces.last() {
            Some(PieceAttr::Part { field, .. }) => Some(field.clone()),
            _ => None,
        };
        let end = |piece| if grammar::may_end(input) { Ok(piece) } else { Err(input.error("expected `,`")) };
        match parse(ctxt, input).and_then(end) {
            Ok(Some(piece)) => pieces.push(piece),
            read => {
                broken = true;
                pieces.push(PieceAttr::Wrong(names(grammar::rest(&whole))));
                read.map_err(|error| {
                    if grammar::is_numbered(&error) { error } else { no_piece(&whole, before.as_ref()) }
                })?;
            }
        }
        Ok(())
    });
    PieceList { pieces, broken }
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
        // Consume the remaining tokens, which syn would otherwise report a second time.
        content.parse::<TokenStream>()?;
        return Err(wrong);
    }
    Ok(codec::parse_part(ctxt, input)?.map(|(field, codec)| PieceAttr::Part { field, codec }))
}
