//! Derive macros of the Tables project: attributes on a struct become a table design.
//!
//! The attributes are described where users meet them: on the re-export of each macro by `table_core` or `table_patterns`. Inside, a derive is a
//! pipeline of four modules: `attr` (tokens to slots), `model` (meaning), `check` (rules), `expand` (model to tokens);
//! `derive` calls them in order and is the only file that knows all four.

mod access;
mod attr;
mod check;
mod codec;
mod ctxt;
mod derive;
mod expand;
mod grammar;
mod model;
mod runtime;
mod symbol;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a struct an entity: key, row, schema, typed columns, typed selections. Described at `table_core::Entity`.
#[proc_macro_derive(
    Entity,
    attributes(
        entity,
        partition_key,
        row_key,
        index,
        index_entity,
        property,
        digits,
        escaped,
        without,
        hour,
        hex,
        unpadded,
        guid,
        ulid,
        pattern,
        unix,
        caret,
        percent,
        // Refused, with what is meant.
        table,
        table_name,
        kind,
        feed,
        key,
        primary_key,
        hash_key,
        range_key,
        sort_key,
        unique,
        column,
        rename,
        json,
        desc,
        bucket,
        hash,
        truncate,
        folded,
        replaced,
        first,
        inverted,
        literal,
        codec
    )
)]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    derive::entity(input.into(), runtime::find).into()
}

/// Lets a newtype or a fieldless enum stand in keys. Described at `table_core::KeyPart`.
#[proc_macro_derive(
    KeyPart,
    attributes(
        key_part, digits, escaped, without, hour, hex, unpadded, guid, ulid, pattern, unix, caret, percent
    )
)]
pub fn derive_key_part(input: TokenStream) -> TokenStream {
    derive::key_part(input.into(), runtime::find).into()
}

/// Reads an entity as some of its properties. Described at `table_core::Projection`.
#[proc_macro_derive(Projection, attributes(projection))]
pub fn derive_projection(input: TokenStream) -> TokenStream {
    derive::projection(input.into(), runtime::find).into()
}

/// Reads the rows of a table as one sum type. Described at `table_core::EntitySet`.
#[proc_macro_derive(EntitySet, attributes(entity_set, other, upgrade))]
pub fn derive_entity_set(input: TokenStream) -> TokenStream {
    derive::entity_set(input.into(), runtime::find).into()
}

/// Reads related entities into one struct by one query. Described at `table_core::EntityGroup`.
#[proc_macro_derive(EntityGroup, attributes(entity_group, other))]
pub fn derive_entity_group(input: TokenStream) -> TokenStream {
    derive::entity_group(input.into(), runtime::find).into()
}

/// Marks the blobs of an entity. Described at `table_patterns::large::Large`.
#[proc_macro_derive(Large, attributes(large, blob))]
pub fn derive_large(input: TokenStream) -> TokenStream {
    derive::large(input.into(), runtime::find_patterns).into()
}

/// Makes a struct a wide entity: one in several rows. Described at `table_patterns::wide::Wide`.
#[proc_macro_derive(
    Wide,
    attributes(
        entity,
        partition_key,
        row_key,
        property,
        slots,
        part,
        // Refused, with the reason.
        index,
        index_entity,
        digits,
        escaped,
        without,
        hour,
        hex,
        unpadded,
        guid,
        ulid,
        pattern,
        unix,
        caret,
        percent
    )
)]
pub fn derive_wide(input: TokenStream) -> TokenStream {
    derive::wide(input.into(), runtime::find_patterns).into()
}

/// Tells the mistakes of a list that `access_patterns!` has no rule for. Not an API.
#[doc(hidden)]
#[proc_macro]
pub fn access_list(input: TokenStream) -> TokenStream {
    access::list(input.into()).into()
}

/// Tells what is wrong with the ceiling of a question: its name, and what stands there. Not an API.
#[doc(hidden)]
#[proc_macro]
pub fn access_ceiling(input: TokenStream) -> TokenStream {
    access::ceiling(input.into()).into()
}

/// The tokens behind the first one, at its place. Not an API.
#[doc(hidden)]
#[proc_macro]
pub fn access_at(input: TokenStream) -> TokenStream {
    access::at(input.into()).into()
}
