//! The text of tokens in messages, in the style of rustfmt.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// Formats a type in the style of rustfmt, except that the spacing differs for types that contain traits.
pub(crate) fn type_text(ty: &Type) -> String {
    type_text_of(&ty.to_token_stream())
}

/// Formats the tokens of a type in the style of rustfmt.
fn type_text_of(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    text.replace(" < ", "<").replace(" >", ">").replace(" :: ", "::").replace(" ,", ",").replace("& ", "&")
}

/// Returns the items of a list in the style of rustfmt, such as the pieces of a key. A comma after the last item is ignored.
pub(crate) fn items(tokens: TokenStream) -> Vec<String> {
    let mut items = vec![TokenStream::new()];
    for token in tokens {
        match (&token, items.last_mut()) {
            (TokenTree::Punct(comma), _) if comma.as_char() == ',' => items.push(TokenStream::new()),
            (_, Some(item)) => item.extend([token]),
            (_, None) => {}
        }
    }
    items.iter().filter(|item| !item.is_empty()).map(source).collect()
}

/// Formats the tokens of an attribute in the style of rustfmt.
pub(crate) fn source(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    [(" ,", ","), (" (", "("), ("( ", "("), (" )", ")"), ("# [", "#["), (" . ", "."), (" :: ", "::")]
        .iter()
        .fold(text, |text, (spaced, right)| text.replace(spaced, right))
}
