//! Generates the schemas of indexes as constants.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::key::Design;
use crate::expand::schema::{self, Keys, option};
use crate::model::index::{Index, Stored};

/// Generates the pieces of the index's keys, its condition, and the compile-time check that the keys are valid.
pub(super) fn constants(design: &Design<'_>, index: &Index) -> Keys {
    let Keys { constants, proof } = schema::keys(design);
    let when = index.attr.when.as_ref().map(|path| {
        let (ident, constant) = (design.ident(), design.constant("WHEN"));
        quote_spanned!(path.span()=> const #constant: fn(&#ident) -> ::core::primitive::bool = #path;)
    });
    Keys { constants: quote!(#constants #when), proof }
}

/// Generates `const SCHEMA: &'static IndexSchema = &IndexSchema { name: "ByEmail", … };`.
pub(super) fn schema(design: &Design<'_>, index: &Index) -> TokenStream {
    let entity = design.entity;
    let name = index.attr.name.unraw().to_string();
    let kind = if index.attr.list { quote!(List) } else { quote!(Copies) };
    let unique = index.attr.unique.is_some();
    let at_most = option(index.attr.at_most.as_ref().map(ToTokens::to_token_stream));
    let sparse = sparse(design, index);
    // The path is stored as written. Printing its tokens adds spaces, which are removed.
    let when = index.attr.when.as_ref().map(|path| {
        let written: String = path.to_token_stream().to_string().split_whitespace().collect();
        quote!(#written)
    });
    let when = option(when);
    let table = option(index.attr.table.as_ref().map(ToTokens::to_token_stream));
    let partition_constant = design.partition_constant();
    let partition_key = option(index.partition_key.as_ref().map(|_| quote!(&#partition_constant.pieces)));
    let row_key = design.constant("ROW_KEY");
    let include = index.attr.include.as_ref().map(|include| {
        let kept = |name: &syn::Ident| entity.properties().find(|(field, _)| field.ident == name);
        let names = include.iter().filter_map(|name| kept(name).map(|(_, property)| &property.name));
        quote!(&[#(#names),*])
    });
    let include = option(include);
    let stored = index.stored(entity);
    let properties = stored.iter().filter_map(|(at, field, stored)| match stored {
        Stored::Property => {
            let place = entity.place(*at);
            Some(quote!(__PROPERTIES[#place]))
        }
        Stored::KeyText(name) => {
            let ident = field.ident.unraw().to_string();
            Some(quote! {
                __table::PropertySchema { name: #name, field: #ident, edm: __table::EdmType::String, optional: false }
            })
        }
        Stored::Rest => None,
    });
    let more_chunks = stored.iter().filter(|(.., stored)| matches!(stored, Stored::Property));
    let more_chunks = more_chunks.flat_map(|(at, ..)| entity.places_of_more_chunks(*at));
    let more_chunks = more_chunks.map(|place| quote!(__PROPERTIES[#place]));
    let properties = properties.chain(more_chunks);
    quote! {
        const SCHEMA: &'static __table::IndexSchema = &__table::IndexSchema {
            name: #name,
            kind: __table::IndexKind::#kind,
            unique: #unique,
            at_most: #at_most,
            sparse: #sparse,
            when: #when,
            table: #table,
            partition_key: #partition_key,
            row_key: &#row_key.pieces,
            include: #include,
            properties: &[#(#properties),*],
        };
    }
}

/// Returns an expression that is `true` if the index may omit entities. The compiler evaluates it, because a type alias may hide an `Option`.
fn sparse(design: &Design<'_>, index: &Index) -> TokenStream {
    if index.attr.when.is_some() {
        return quote!(true);
    }
    let mut seen = Vec::new();
    let mut lacking = Vec::new();
    for part in index.keys(design.entity).flat_map(crate::model::key::Key::parts) {
        let Some(field) = design.field(part).filter(|field| field.is_optional) else { continue };
        if !seen.contains(&part.field) {
            seen.push(part.field);
            let ty = field.field.ty;
            lacking.push(quote_spanned!(field.span=> <#ty as __table::IndexPart>::SPARSE));
        }
    }
    if lacking.is_empty() { quote!(false) } else { quote!(#(#lacking)||*) }
}
