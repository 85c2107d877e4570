//! Expands the model to tokens. Each kind of generated item has its own file.
//!
//! Generated code consists of constants and calls; the logic is in `table_core::__private`. For example, `snapshots/` contains the complete
//! expansion of this declaration:
//!
//! ```text
//! #[derive(Entity)]
//! #[partition_key(department)]
//! #[row_key("empid_", id)]
//! struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
//! ```

mod aliases;
mod columns;
mod derives_serde;
mod forms;
mod group;
mod index;
mod key;
mod key_part;
mod large;
mod levels;
mod partitions;
mod prelude;
mod projection;
mod reading;
mod reading_in_place;
mod refused;
mod relations;
mod rows;
mod schema;
mod selections;
mod set;
mod wide;
mod writing;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Path, parse_quote};

use crate::model::Entity;
use crate::model::generics::Parameters;
use crate::model::key::Key;

pub(crate) use derives_serde::derives_serde;
pub(crate) use group::{group, stub as group_stub};
pub(crate) use key_part::{key_part, stub as key_part_stub};
pub(crate) use large::large;
pub(crate) use projection::{projection, stub as projection_stub};
pub(crate) use set::{set, stub as set_stub};
pub(crate) use wide::{stub as wide_stub, wide};

/// Expands `#[derive(Entity)]`.
pub(crate) fn entity(entity: &Entity<'_>) -> TokenStream {
    let (Some(partition_key), Some(row_key)) = (&entity.partition_key, &entity.row_key) else {
        return TokenStream::new();
    };
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let aliases = aliases::Aliases::default();
    let design = key::Design { entity, aliases: &aliases, partition_key, row_key, index: None, stub: false };
    let schema::Keys { constants: keys, proof: of_keys } = schema::keys(&design);
    let partition_text = design.partition_text();
    let properties = schema::properties(entity);
    let schema = schema::schema(&design);
    let encode_key = writing::encode_key(&design);
    let to_row = writing::to_row(entity);
    let from_entity = reading::from_entity(&design);
    let read_again = reading_in_place::read_again(&design);
    let columns = columns::columns(entity);
    let key_columns = columns::key_columns(&design);
    let selections = selections::selections(&design);
    let (rows, rows_methods) = rows::rows(&design).unzip();
    let (prefixes, prefixes_methods) = levels::prefixes(&design);
    let plain =
        (entity.indexes.is_empty() && entity.feed.is_none() && !entity.has_copies()).then(|| plain(entity));
    let maintained = maintained(entity);
    let fed = entity.feed.as_ref().map(|_| fed(entity));
    let forms = forms::forms(&design);
    let ends = relations::ends(entity);
    let (set_schemas, mixed, proof) = set_constants(entity);
    let around = around(entity);
    let index::Indexes { types, list, impls, selections: by_index, proof: of_indexes } =
        index::indexes(&design);
    let valid = schema::proven(&quote!(#of_keys #of_indexes));
    let (aliases, allow_names) = (aliases.items(), allow_names(entity));
    let items = wrapped(
        &entity.runtime,
        &quote! {
            #aliases
            #keys
            #valid
            #properties
            #partition_text
            #[automatically_derived]
            impl #of_impl __table::Entity for #ty #of_where {
                #schema
                #list
                #maintained
                #set_schemas
                #encode_key
                #to_row
            }
            #[automatically_derived]
            impl #of_impl __table::FromEntity for #ty #of_where {
                #mixed
                #around
                const NOT_READ: ::core::option::Option<__table::NotRead> = __table::Some(__table::not_read::<Self>);
                #from_entity
                #read_again
            }
            #ends
            #proof
            #plain
            #fed
            #allow_names
            #[automatically_derived]
            impl #of_impl #ty #of_where {
                #columns
                #key_columns
                #selections
                #by_index
            }
            #rows_methods
            #prefixes_methods
            #impls
            #forms
        },
    );
    quote!(#rows #prefixes #types #items)
}

/// Returns the constants that describe the entity's feed and relations. Every write of the entity must keep the feed and the copies up to date.
fn maintained(entity: &Entity<'_>) -> TokenStream {
    let feed = entity.feed.as_ref().map(|_| {
        quote!(
            const FEED: bool = true;
        )
    });
    let relations = relations::declared(entity);
    quote!(#feed #relations)
}

/// Returns the constant that allows multi-partition reads to skip index partitions, or `None` if all index rows are in entity partitions or in other tables.
fn around(entity: &Entity<'_>) -> Option<TokenStream> {
    let mut indexes = entity.indexes.iter().filter(|index| index.partition_key.is_some());
    let is_here = |table: &LitStr| table.value().eq_ignore_ascii_case(&entity.table.0);
    indexes.any(|index| index.attr.table.as_ref().is_none_or(is_here)).then(|| {
        quote!(
            const AROUND: ::core::option::Option<__table::Around> =
                __table::Some(__table::around_indexes::<Self>);
        )
    })
}

/// Returns the constants for an entity in a set: the schemas of the set, the `IS_MIXED` flag, and the compile-time check that the rows of all types can be told
/// apart.
fn set_constants(entity: &Entity<'_>) -> (Option<TokenStream>, Option<TokenStream>, Option<TokenStream>) {
    let Some(set) = &entity.set else { return (None, None, None) };
    let ty = entity.ty();
    let designs = quote_spanned! {set.span()=>
        const SET_SCHEMAS: &'static [&'static __table::EntitySchema] = __table::set_schemas::<#set, Self>();
    };
    let mixed = quote!(
        const IS_MIXED: ::core::primitive::bool = true;
    );
    let proof = entity
        .parameters
        .is_empty()
        .then(|| quote!(const _: () = { let _ = <#ty as __table::Entity>::SET_SCHEMAS; };));
    (Some(designs), Some(mixed), proof)
}

/// Expands an invalid declaration to empty traits, the columns, and functions without bodies. These stubs prevent follow-up errors.
pub(crate) fn stub(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let aliases = aliases::Aliases::default();
    let none: Attribute = parse_quote!(#[none]);
    let placeholder = Key::placeholder(&none);
    let partition_key = entity.partition_key.as_ref().unwrap_or(&placeholder);
    let row_key = entity.row_key.as_ref().unwrap_or(&placeholder);
    let design = key::Design { entity, aliases: &aliases, partition_key, row_key, index: None, stub: true };
    let traits = trait_stubs(entity);
    let columns = columns::columns(entity);
    let key_columns = columns::key_column_stubs(entity);
    let selections = selections::selections(&design);
    let (rows, rows_methods) = rows::rows(&design).unzip();
    let (prefixes, prefixes_methods) = levels::prefixes(&design);
    let index::Indexes { types, impls, selections: by_index, .. } =
        if entity.parameters.is_empty() { index::indexes(&design) } else { index::Indexes::default() };
    let items = wrapped(
        &entity.runtime,
        &quote! {
            #traits
            #[automatically_derived]
            impl #of_impl #ty #of_where {
                #columns
                #key_columns
                #selections
                #by_index
            }
            #rows_methods
            #prefixes_methods
            #impls
        },
    );
    quote!(#rows #prefixes #types #items)
}

/// Generates empty trait implementations for an invalid declaration.
fn trait_stubs(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let (plain, fed, ends) = (plain(entity), fed(entity), relations::ends(entity));
    quote! {
            #[automatically_derived]
            impl #of_impl __table::Entity for #ty #of_where {
                const SCHEMA: &'static __table::EntitySchema = &__table::EntitySchema::NONE;
                fn encode_key(&self, _: &mut __table::String, _: &mut __table::String) -> __table::Result<()> {
                    __table::stub()
                }
                fn to_row(&self) -> __table::Result<__table::Row> {
                    __table::stub()
                }
            }
            #[automatically_derived]
            impl #of_impl __table::FromEntity for #ty #of_where {
                fn from_entity(_: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
            #plain
            #fed
            #ends
    }
}

/// Repeats the field names in the attributes, with their spans, so rust-analyzer can complete them and show their types. rustc ignores the repetition.
///
/// The repetition precedes all other output, including the errors. To complete a name, rust-analyzer expands the declaration a second time with a longer name,
/// and looks up the position of this name in the first expansion, so the tokens before that position must have the same length in both expansions.
pub(crate) fn named(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let (names, value) = (&entity.named, writing::local("entity"));
    let reason = "generated";
    quote! {
        #[allow(deprecated, unexpected_cfgs, reason = #reason)]
        const _: () = {
            #[cfg(rust_analyzer)]
            fn named #of_impl(#value: &#ty) #of_where {
                #(let _ = &#value.#names;)*
            }
        };
    }
}

/// Wraps items that refer to the runtime as `__table` in an anonymous module.
fn wrapped(runtime: &Path, items: &TokenStream) -> TokenStream {
    let allow = allow();
    quote! {
        #allow
        const _: () = {
            use #runtime::__private as __table;
            #items
        };
    }
}

/// Marks an entity as plain: it has no derived rows, so an ordinary write stores it completely.
fn plain(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    let table = &entity.table.0;
    quote! {
        #[automatically_derived]
        impl #of_impl __table::PlainEntity for #ty #of_where {
            type Table = __table::NamedTable<{ __table::table_number(#table) }>;
        }
    }
}

/// Marks an entity whose changes are recorded in a feed, so a view can follow it.
fn fed(entity: &Entity<'_>) -> TokenStream {
    let (ty, of_impl, of_where) = (entity.ty(), entity.parameters.of_impl(), entity.parameters.of_where());
    quote! {
        #[automatically_derived]
        impl #of_impl __table::FeedEntity for #ty #of_where {}
    }
}

/// Allows the lints that generated code would trigger.
fn allow() -> TokenStream {
    // The literal is outside `quote!`, which would parse it; this is slow in an unoptimised macro.
    let reason = "generated";
    quote! {
        #[allow(
            dead_code,
            deprecated,
            missing_debug_implementations,
            private_bounds,
            private_interfaces,
            unexpected_cfgs,
            unreachable_pub,
            unused_qualifications,
            clippy::needless_pass_by_value,
            reason = #reason
        )]
    }
}

/// Suppresses a lint for a struct that shares its name with a generated selection, such as `Scan`.
fn allow_names(entity: &Entity<'_>) -> Option<TokenStream> {
    let ident = entity.ty().ident;
    let is_selection = ["Key", "Partition", "Rows", "Scan", "Within"].iter().any(|name| ident == name);
    let reason = "generated";
    is_selection.then(|| quote!(#[allow(clippy::self_named_constructors, reason = #reason)]))
}

/// Allows the lints that a generated type would trigger. The type of a generic entity may additionally mention private and deprecated types.
fn allow_type(parameters: &Parameters) -> TokenStream {
    if !parameters.is_empty() {
        return allow();
    }
    let reason = "generated";
    quote! {
        #[allow(dead_code, missing_debug_implementations, unreachable_pub, unused_qualifications, reason = #reason)]
    }
}
