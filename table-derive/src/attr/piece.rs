//! Pieces of a key as written: `"empid_"`, `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitStr, parenthesized, token};

use crate::codec::{self, Codec};
use crate::ctxt::{self, Ctxt};
use crate::grammar;
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
    /// Something that is wrong and reported, with the names in it: one of them may be the field that is meant.
    Wrong(Vec<Ident>),
}

/// The pieces between the parentheses of a key.
#[derive(Default)]
pub(crate) struct PieceList {
    /// All of them, in order.
    pub(crate) pieces: Vec<PieceAttr>,
    /// Whether some are wrong.
    pub(crate) broken: bool,
}

impl PieceList {
    /// What stands for a key that cannot be read, and is reported.
    pub(crate) fn wrong(tokens: TokenStream) -> Self {
        Self { pieces: vec![PieceAttr::Wrong(names(tokens))], broken: true }
    }
}

/// Reads the pieces of a key, and goes on after one that is wrong.
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

/// All names in tokens, the last ones first: a field stands behind what says how it is written. A keyword is the name of no field, and a
/// field access of it would not be parsed.
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

/// What is not a piece of a key, with what it may mean.
fn no_piece(input: ParseStream) -> syn::Error {
    let whole = grammar::rest(input);
    let meant = meant(whole.clone());
    let help = if let Some(help) = called(whole.clone()).or_else(|| computed(whole.clone())) {
        help.to_owned()
    } else if meant.is_empty() {
        "a piece is a text (`\"empid_\"`), a field (`id`) or a codec of a field (`digits(6, id)`)".to_owned()
    } else {
        format!(
            "a piece is a text, a field or a codec of a field, with commas between: `{}`",
            meant.join(", ")
        )
    };
    ctxt::mistake("T004", whole, "expected a piece of a key", help)
}

/// What is written in place of a value that is computed: a condition, a remainder.
fn computed(tokens: TokenStream) -> Option<&'static str> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "if" || word == "match" => Some(
            "a key does not depend on a condition: declare two types and an `EntitySet` of both, or an enum with stored names as a part \
             (`#[derive(KeyPart)]`)",
        ),
        TokenTree::Punct(sign) if matches!(sign.as_char(), '%' | '*') => Some(
            "a key is made of fields as they are: store the computed value as a field of its own; to spread keys write `bucket(id, 16)`",
        ),
        _ => None,
    })
}

/// What is written in place of a function that is called: `year` of `at.year()`, `new_v4` of `Uuid::new_v4()`.
fn called(tokens: TokenStream) -> Option<&'static str> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Punct(before), TokenTree::Ident(name), TokenTree::Group(_)]
            if matches!(before.as_char(), '.' | ':') =>
        {
            codec::meant(name)
        }
        _ => None,
    })
}

/// The texts and fields of an expression: `"empid_", id` of `format!("empid_{}", self.id)`.
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
                for (number, part) in text.split('{').enumerate() {
                    let part = part.split_once('}').filter(|_| number > 0).map_or(part, |(_, rest)| rest);
                    holes += usize::from(number > 0);
                    if !part.is_empty() {
                        meant.push(format!("{part:?}"));
                    }
                }
            }
            TokenTree::Ident(ident) => {
                let is_called = matches!(tokens.get(at + 1), Some(TokenTree::Group(_)))
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
            TokenTree::Group(group) if is_punct(at.checked_sub(1), '!') || at == 0 => {
                meant.extend(self::meant(group.stream()));
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }
    // A text with several places is not a list of its parts, in their order.
    if holes > 1 { Vec::new() } else { meant }
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
        // What is left unread would be reported once more.
        content.parse::<TokenStream>()?;
        return Err(wrong);
    }
    Ok(codec::parse_part(ctxt, input)?.map(|(field, codec)| PieceAttr::Part { field, codec }))
}
