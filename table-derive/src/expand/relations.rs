//! Code generated for an entity's copy relations: the handler that keeps the copies up to date, and the entity's end of each relation.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use crate::model::Entity;

/// Generates the `RELATIONS` constant, from which `Entities` reads the entity's copy relations. The runtime of such an entity is `table-patterns`.
pub(super) fn declared(entity: &Entity<'_>) -> Option<TokenStream> {
    if !entity.has_copies() {
        return None;
    }
    let copies = copies(entity);
    // All tokens of a call have the span of the relation, so rustc reports errors there.
    let gives = entity
        .copied_by
        .iter()
        .map(|relation| quote_spanned!(relation.span()=> __copies::Outgoing::<Self>::of::<#relation>()));
    let holds = entity
        .copies_from
        .iter()
        .map(|relation| quote_spanned!(relation.span()=> __copies::Incoming::<Self>::of::<#relation>()));
    Some(quote! {
        const RELATIONS: ::core::option::Option<&'static __table::AnyRelations> = {
            use #copies as __copies;
            ::core::option::Option::Some(&__copies::Declared::<Self>::new(&[#(#gives),*], &[#(#holds),*]))
        };
    })
}

/// Declares the entity's end of each relation. A relation fails to compile unless the entities at both ends declare it.
pub(super) fn ends(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let copies = copies(entity);
    let end = |kind: TokenStream, relation: &Path| {
        quote! {
            #[automatically_derived]
            impl #of_impl #copies::#kind<#relation> for #ty #of_where {}
        }
    };
    let gives = entity.copied_by.iter().map(|relation| end(quote!(Gives), relation));
    let holds = entity.copies_from.iter().map(|relation| end(quote!(Holds), relation));
    quote!(#(#gives)* #(#holds)*)
}

/// Returns the names of the relations in the schema: `copied_by Manager`, `copies_from Owner`. The name is the last segment of a relation's path,
/// or the complete path if another relation at the same end has the same last segment.
pub(super) fn names(entity: &Entity<'_>) -> impl Iterator<Item = String> {
    let side = |side: &'static str, relations: &[Path]| {
        let last = |path: &Path| path.segments.last().map(|segment| segment.ident.to_string());
        let name = |path: &Path| {
            let is_shared = relations.iter().filter(|other| last(other) == last(path)).count() > 1;
            let whole = || path.to_token_stream().to_string().replace(' ', "");
            format!("{side} {}", last(path).filter(|_| !is_shared).unwrap_or_else(whole))
        };
        relations.iter().map(name).collect::<Vec<_>>()
    };
    let (given, held) = (side("copied_by", &entity.copied_by), side("copies_from", &entity.copies_from));
    given.into_iter().chain(held)
}

fn copies(entity: &Entity<'_>) -> TokenStream {
    let runtime = &entity.runtime;
    quote!(#runtime::copies::declared)
}
