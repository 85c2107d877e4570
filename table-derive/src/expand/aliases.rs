//! Short aliases for types that an expansion repeats.

use std::cell::RefCell;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// Types and their aliases, in the order of first use.
#[derive(Default)]
pub(super) struct Aliases(RefCell<Vec<(String, TokenStream)>>);

impl Aliases {
    /// Returns the alias of a type, with the given span.
    pub(super) fn name(&self, ty: TokenStream, span: Span) -> Ident {
        let (mut types, text) = (self.0.borrow_mut(), ty.to_string());
        let at = types.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
            types.push((text, ty));
            types.len() - 1
        });
        let mut name = name(at);
        name.set_span(span);
        name
    }

    /// Generates `type __Type0 = Digits<6>;` for each alias.
    pub(super) fn items(&self) -> TokenStream {
        let types = self.0.borrow();
        let items = types.iter().enumerate().map(|(at, (_, ty))| {
            let name = name(at);
            quote!(type #name = #ty;)
        });
        quote!(#(#items)*)
    }
}

fn name(at: usize) -> Ident {
    format_ident!("__Type{at}")
}
