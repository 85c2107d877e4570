//! Code generated for indexes: a type for each index, and the functions that write its rows, read them, and select from them.

mod key_parts;
mod reading;
mod schema;
mod selections;
mod writing;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::expand::allow_type;
use crate::expand::key::Design;
use crate::expand::{partitions, rows};
use crate::model::index::Index;
use crate::model::key::Key;

/// The code added to an entity's expansion for its indexes.
#[derive(Default)]
pub(super) struct Indexes {
    /// The types generated next to the entity: `EmployeeByEmail`, `EmployeeByEmailRows`.
    pub(super) types: TokenStream,
    /// The list of all indexes: `const INDEXES: &'static [IndexOf<Self>] = …;`.
    pub(super) list: Option<TokenStream>,
    /// The trait implementations, constants and methods of the generated types.
    pub(super) impls: TokenStream,
    /// The functions added to the entity: `by_email`, `by_email_rows`.
    pub(super) selections: TokenStream,
    /// The compile-time check that the keys are valid.
    pub(super) proof: TokenStream,
}

/// Generates the code for all indexes of an entity.
pub(super) fn indexes(primary: &Design<'_>) -> Indexes {
    let (mut types, mut impls, mut selections) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let (mut list, mut proof) = (Vec::new(), TokenStream::new());
    for (at, index) in primary.entity.indexes.iter().enumerate() {
        // The index rules report duplicate names.
        let is_twice = || {
            primary.entity.is_index_twice(at)
                || primary.entity.method_made_twice(at).is_some()
                || primary.entity.type_made_twice(index).is_some()
        };
        if primary.stub && is_twice() {
            continue;
        }
        let missing;
        let row_key = match &index.row_key {
            Some(row_key) => row_key,
            None if primary.stub => {
                missing = Key::placeholder(&index.attr.original);
                &missing
            }
            None => continue,
        };
        let partition_key = index.partition_key.as_ref().unwrap_or(primary.partition_key);
        let design = Design { partition_key, row_key, index: Some((at, index)), ..*primary };
        let marker = index.marker(primary.entity);
        list.push(quote! {
            __table::index_of::<#marker>()
        });
        types.extend([marker_type(&design, index)]);
        if primary.stub {
            impls.extend([stub(&design, index)]);
        } else {
            let keys = schema::constants(&design, index);
            impls.extend([index_impl(&design, primary, index, &keys.constants)]);
            proof.extend([keys.proof]);
        }
        let (look_up, check) = selections::look_up(&design, index);
        selections.extend([look_up]);
        proof.extend(check.filter(|_| !primary.stub));
        // Lists have no row selection, because they contain keys instead of entities.
        if !index.attr.list {
            if !primary.stub {
                impls.extend([reading::copies(&design, primary, index)]);
            }
            if index.partition_key.is_some() {
                selections.extend([partitions::functions(&design)]);
            }
            selections.extend([rows::entry(&design)]);
            let (definition, methods) = rows::rows(&design).unzip();
            types.extend(definition);
            impls.extend(methods);
        }
    }
    let list =
        (!list.is_empty()).then(|| quote!(const INDEXES: &'static [__table::IndexOf<Self>] = &[#(#list),*];));
    Indexes { types, list, impls, selections, proof }
}

/// Generates `pub enum EmployeeByEmail {}`.
fn marker_type(design: &Design<'_>, index: &Index) -> TokenStream {
    let (vis, ident, marker) = (design.vis(), design.ident(), index.marker(design.entity));
    let doc = format!("The index `{}` of [`{ident}`], as a type.", index.attr.name);
    let allow = allow_type(&design.entity.parameters);
    // The type has the span of the index's name. If another type has the same name, rustc reports the duplicate there.
    let definition = quote_spanned!(index.attr.name.span()=> enum #marker {});
    quote! {
        #[doc = #doc]
        #allow
        #vis #definition
    }
}

/// Generates empty trait implementations for an invalid declaration.
fn stub(design: &Design<'_>, index: &Index) -> TokenStream {
    let (ident, marker) = (design.ident(), index.marker(design.entity));
    let consistency = consistency(index);
    let copies = (!index.attr.list).then(|| {
        quote! {
            impl __table::CopyIndex for #marker {}
            impl<const __PROPERTY: ::core::primitive::u64> __table::Includes<__PROPERTY> for #marker {}
            impl __table::FromCopy<#marker> for #ident {
                fn from_copy(_: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
        }
    });
    quote! {
        impl __table::Index for #marker {
            type Entity = #ident;
            type Consistency = __table::#consistency;
            const SCHEMA: &'static __table::IndexSchema = &__table::IndexSchema::NONE;
            fn encode_key(
                _: &#ident,
                _: &mut __table::String,
                _: &mut __table::String,
            ) -> __table::Result<__table::bool> {
                __table::stub()
            }
            fn to_row(_: &#ident) -> __table::Result<__table::Row> {
                __table::stub()
            }
            fn owner(_: __table::EntityRef<'_>) -> __table::Result<__table::EntityKey> {
                __table::stub()
            }
        }
        #copies
    }
}

/// Returns the consistency of the index: `StronglyConsistent` or `EventuallyConsistent`.
fn consistency(index: &Index) -> TokenStream {
    let in_step = index.attr.table.is_none() && index.attr.partition_key.is_none();
    if in_step { quote!(StronglyConsistent) } else { quote!(EventuallyConsistent) }
}

/// Generates `impl Index for EmployeeByEmail`.
fn index_impl(
    design: &Design<'_>,
    primary: &Design<'_>,
    index: &Index,
    constants: &TokenStream,
) -> TokenStream {
    let (ident, marker) = (design.ident(), index.marker(design.entity));
    let schema = schema::schema(design, index);
    let encode_key = writing::encode_key(design, index);
    let to_row = writing::to_row(design, primary, index);
    let owner = key_parts::owner(design, primary, index);
    let consistency = consistency(index);
    quote! {
        #constants
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
