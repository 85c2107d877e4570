//! The relations of an entity: what keeps its copies, and its end of each.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use crate::model::Entity;

/// The constant that the handle on the entity reads. A crate that names a relation has the package of patterns as its runtime.
pub(super) fn declared(entity: &Entity<'_>) -> Option<TokenStream> {
    if !entity.has_copies() {
        return None;
    }
    let copies = copies(entity);
    // All of a call stands where the relation is named, and so does what is wrong with it.
    let gives = entity
        .gives
        .iter()
        .map(|relation| quote_spanned!(relation.span()=> __copies::Outgoing::<Self>::of::<#relation>()));
    let holds = entity
        .holds
        .iter()
        .map(|relation| quote_spanned!(relation.span()=> __copies::Incoming::<Self>::of::<#relation>()));
    Some(quote! {
        const RELATIONS: ::core::option::Option<&'static __table::AnyRelations> = {
            use #copies as __copies;
            ::core::option::Option::Some(&__copies::Declared::<Self>::new(&[#(#gives),*], &[#(#holds),*]))
        };
    })
}

/// That the entity declares its end of each relation: a relation whose ends do not declare it does not compile.
pub(super) fn ends(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let copies = copies(entity);
    let end = |kind: TokenStream, relation: &Path| {
        quote! {
            #[automatically_derived]
            impl #of_impl #copies::#kind<#relation> for #ty #of_where {}
        }
    };
    let gives = entity.gives.iter().map(|relation| end(quote!(Gives), relation));
    let holds = entity.holds.iter().map(|relation| end(quote!(Holds), relation));
    quote!(#(#gives)* #(#holds)*)
}

fn copies(entity: &Entity<'_>) -> TokenStream {
    let runtime = &entity.runtime;
    quote!(#runtime::denormal::declared)
}
