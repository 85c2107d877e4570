//! Replaces `Self` in field types with the struct's name. The generated code repeats these types outside the struct's `impl`s, where `Self` would have a
//! different meaning.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Data, DeriveInput, Ident, Type};

/// Replaces `Self` in the types of all fields. The types of a generic struct are left unchanged, because its name alone is not a type.
pub(crate) fn replace(input: &mut DeriveInput) {
    if let (Data::Struct(data), true) = (&mut input.data, input.generics.params.is_empty()) {
        for field in &mut data.fields {
            let (mut is_found, tokens) = (false, field.ty.to_token_stream());
            let replaced = in_tokens(tokens, &input.ident, &mut is_found);
            // If a type contains no `Self`, it is not replaced, so its tokens keep their spans.
            if is_found && let Ok(ty) = syn::parse2::<Type>(replaced) {
                field.ty = ty;
            }
        }
    }
}

fn in_tokens(tokens: TokenStream, name: &Ident, is_found: &mut bool) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            *is_found = true;
            let mut name = name.clone();
            name.set_span(ident.span());
            TokenTree::Ident(name)
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), in_tokens(group.stream(), name, is_found));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        token => token,
    });
    replaced.collect()
}
