//! The indexes: a type each, what an entity has in it, how that is read back, and the functions that select by it.

mod reading;
mod schema;
mod selections;
mod writing;

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::allow;
use crate::expand::key::Design;
use crate::expand::{partitions, rows};
use crate::model::index::Index;

/// What the indexes of an entity add to its expansion.
pub(super) struct Indexes {
    /// Types beside the entity: `EmployeeByEmail`, `EmployeeByEmailRows`.
    pub(super) types: TokenStream,
    /// `const INDEXES: &'static [IndexOf<Self>] = …;`
    pub(super) list: Option<TokenStream>,
    /// The constants and impls of those types.
    pub(super) impls: TokenStream,
    /// The functions of the entity: `by_email`, `by_email_rows`.
    pub(super) selections: TokenStream,
}

/// All of them.
pub(super) fn indexes(primary: &Design<'_>) -> Indexes {
    let (mut types, mut impls, mut selections) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let mut list = Vec::new();
    for (at, index) in primary.entity.indexes.iter().enumerate() {
        let Some(row_key) = &index.row_key else { continue };
        let partition_key = index.partition_key.as_ref().unwrap_or(primary.partition_key);
        let design = Design { partition_key, row_key, index: Some((at, index)), ..*primary };
        let marker = index.marker(primary.entity);
        list.push(quote! {
            __table::IndexOf::new(
                <#marker as __table::Index>::SCHEMA,
                <#marker as __table::Index>::entry,
                <#marker as __table::Index>::owner,
            )
        });
        types.extend(marker_type(&design, index));
        impls.extend(index_impl(&design, primary, index));
        selections.extend(selections::look_up(&design, index));
        // The rows of lists are of no use yet: no entity can be read from them.
        if !index.attr.list {
            impls.extend(reading::copies(&design, primary, index));
            if index.partition_key.is_some() {
                selections.extend(partitions::functions(&design));
            }
            selections.extend(rows::entry(&design));
            let (definition, methods) = rows::rows(&design).unzip();
            types.extend(definition);
            impls.extend(methods);
        }
    }
    let list =
        (!list.is_empty()).then(|| quote!(const INDEXES: &'static [__table::IndexOf<Self>] = &[#(#list),*];));
    Indexes { types, list, impls, selections }
}

/// `pub enum EmployeeByEmail {}`
fn marker_type(design: &Design<'_>, index: &Index) -> TokenStream {
    let (vis, ident, marker) = (design.vis(), design.ident(), index.marker(design.entity));
    let doc = format!("The index `{}` of [`{ident}`], as a type.", index.attr.name);
    let allow = allow();
    quote! {
        #[doc = #doc]
        #[automatically_derived]
        #allow
        #vis enum #marker {}
    }
}

/// `impl Index for EmployeeByEmail`
fn index_impl(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (ident, marker) = (design.ident(), index.marker(design.entity));
    let constants = schema::constants(design, index);
    let schema = schema::schema(design, index);
    let encode_key = writing::encode_key(design, index);
    let to_row = writing::to_row(design, primary, index);
    let owner = reading::owner(design, primary, index);
    let in_step = index.attr.table.is_none() && index.partition_key.is_none();
    let consistency = if in_step { quote!(InStep) } else { quote!(Behind) };
    quote! {
        #constants
        impl ::core::fmt::Debug for #marker {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match *self {}
            }
        }
        #[automatically_derived]
        impl __table::Index for #marker {
            type Entity = #ident;
            type Consistency = __table::#consistency;
            #schema
            #encode_key
            #to_row
            #owner
        }
    }
}
