//! Derive macros of the Tables project. The attributes of a struct declare its table schema.
//!
//! The attributes are documented on the re-exports of the macros in `table_core` and `table_patterns`. A derive macro
//! is a pipeline of four modules: `attr` (parses tokens into slots), `model` (resolves their meaning), `check` (applies
//! the rules) and `expand` (generates tokens). Only `derive`, which calls them in order, depends on all four.

mod access;
mod attr;
mod casing;
mod check;
mod codec;
mod ctxt;
mod derive;
mod expand;
mod fault_derive;
mod grammar;
mod model;
mod role;
mod runtime;
mod samples;
mod self_type;
mod symbol;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares `#[derive(Entity)]` and its attributes. The macro also accepts other libraries' attributes, but only to suggest the correct one. The documentation
/// (`--cfg docsrs`) lists only the attributes of entities.
macro_rules! entity {
    (own: [$($own:ident),*], foreign: [$($foreign:ident),*]) => {
        /// Makes a struct an entity with keys, a schema, typed columns and typed selections. See `table_core::Entity`.
        #[cfg_attr(docsrs, proc_macro_derive(Entity, attributes($($own),*)))]
        #[cfg_attr(not(docsrs), proc_macro_derive(Entity, attributes($($own,)* $($foreign),*)))]
        pub fn derive_entity(input: TokenStream) -> TokenStream {
            derive::entity(input.into(), runtime::find).into()
        }
    };
}

entity! {
    own: [
        entity, partition_key, row_key, index, index_entity, property, digits, escaped, without,
        hour, hex, unpadded, guid, ulid, pattern, unix, caret, percent, bars, base64, week
    ],
    foreign: [
        table, table_name, Table, TableName, collection, container, document, model, rename_all,
        naming_strategy, kind, discriminator, Discriminator, feed, key, Key, primary_key, PrimaryKey, id, Id,
        primary, hash_key, PartitionKey, pk, PK, partitionkey, partitionKey, HashKey, DynamoDBHashKey,
        DynamoDbPartitionKey, range_key, sort_key, RowKey, sk, SK, rowkey, rowKey, RangeKey, SortKey,
        DynamoDBRangeKey, DynamoDbSortKey, unique, Index, Unique, unique_index, unique_key, indexed, Indexed,
        gsi, lsi, GSI, LSI, secondary_index, global_secondary_index, local_secondary_index, column,
        column_name, Column, rename, data_member, DataMember, JsonPropertyName, field_name, not_mapped,
        NotMapped, ignore_data_member, IgnoreDataMember, transient, Transient, JsonIgnore, belongs_to,
        has_one, foreign_key, ForeignKey, references, reference, relation, relationship, many_to_one,
        one_to_one, ManyToOne, OneToOne, has_many, inverse_property, one_to_many, many_to_many, OneToMany,
        ManyToMany, auto, auto_increment, autoincrement, database_generated, DatabaseGenerated, generated,
        generated_value, GeneratedValue, sequence, serial, identity, required, Required, not_null, NotNull,
        nullable, Nullable, optional, max_length, MaxLength, min_length, string_length, StringLength,
        column_type, sql_type, precision, Precision, enumerated, Enumerated, created_at, updated_at,
        comment, Comment, keyless, Keyless, data_type, DataType, db_type, EmailAddress, Phone,
        RegularExpression, range, Range, default_value, DefaultValue, padding, Padding, pad, padded, zero_pad,
        timestamps, CreationTimestamp, UpdateTimestamp, timestamp, Timestamp, concurrency_check,
        ConcurrencyCheck, version, Version, etag, ETag, row_version, ttl, TTL, expires, time_to_live,
        lowercase, uppercase, trim, embed, embedded, Embedded, owned, Owned, json, nested, changeset_options,
        order, order_by, sort, descending, ascending, asc, desc, bucket, hash, truncate, folded, replaced,
        first, inverted, literal, codec, diesel, sea_orm, sqlx, dynomite, serde, Collection, Container,
        DynamoDBTable, BsonCollection, Entity, BsonId, Ignore, BsonIgnore, DynamoDBIgnore,
        Flatten, BsonExtraElements, JsonExtensionData, JsonProperty, BsonElement, DynamoDBProperty,
        DynamoDBVersion, attribute, Attribute, field
    ]
}

/// Makes a newtype or a fieldless enum usable in keys. See `table_core::KeyPart`.
#[proc_macro_derive(
    KeyPart,
    attributes(
        key_part, digits, escaped, without, hour, hex, unpadded, guid, ulid, pattern, unix, caret, percent,
        bars, base64, week, serde, strum, sqlx, sea_orm, diesel
    )
)]
pub fn derive_key_part(input: TokenStream) -> TokenStream {
    derive::key_part(input.into(), runtime::find).into()
}

/// Reads an entity as a subset of its properties. See `table_core::Projection`.
#[proc_macro_derive(Projection, attributes(projection, property, serde))]
pub fn derive_projection(input: TokenStream) -> TokenStream {
    derive::projection(input.into(), runtime::find).into()
}

/// Reads the rows of a table as an enum. See `table_core::EntitySet`.
#[proc_macro_derive(EntitySet, attributes(entity_set, other, upgrade, serde))]
pub fn derive_entity_set(input: TokenStream) -> TokenStream {
    derive::entity_set(input.into(), runtime::find).into()
}

/// Reads related entities into one struct with one query. See `table_core::EntityGroup`.
#[proc_macro_derive(EntityGroup, attributes(entity_group, other))]
pub fn derive_entity_group(input: TokenStream) -> TokenStream {
    derive::entity_group(input.into(), runtime::find).into()
}

/// Assigns a code and a rule to each variant of an error enum. See `table_core::Fault`.
#[proc_macro_derive(Fault, attributes(fault))]
pub fn derive_fault(input: TokenStream) -> TokenStream {
    fault_derive::derive(input.into(), runtime::find_errors).into()
}

/// Declares the blobs of an entity. See `table_patterns::large::Large`.
#[proc_macro_derive(Large, attributes(large, blob))]
pub fn derive_large(input: TokenStream) -> TokenStream {
    derive::large(input.into(), runtime::find_patterns).into()
}

/// Makes a struct a wide entity, stored in several rows. See `table_patterns::wide::Wide`.
#[proc_macro_derive(
    Wide,
    attributes(
        entity,
        partition_key,
        row_key,
        property,
        slots,
        part,
        // `index` and `index_entity` are recognised only to report their use here.
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
        percent,
        bars,
        base64,
        week
    )
)]
pub fn derive_wide(input: TokenStream) -> TokenStream {
    derive::wide(input.into(), runtime::find_patterns).into()
}

/// Reports the errors in an access-pattern list that no rule of `access_patterns!` matches. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn access_list(input: TokenStream) -> TokenStream {
    access::list(input.into()).into()
}

/// Reports that the cost ceiling of an access pattern is missing or invalid. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn access_ceiling(input: TokenStream) -> TokenStream {
    access::ceiling(input.into()).into()
}

/// Returns the tokens after the first one, all with the span of the first. Not public API.
#[doc(hidden)]
#[proc_macro]
pub fn access_at(input: TokenStream) -> TokenStream {
    access::at(input.into()).into()
}
