//! Functions and types for generated code. They are not part of the API. They are public only because macros expand in other crates.
//!
//! Macro expansions contain only constants and calls. The comment on each function names the generated method that calls it. Expansions use only the paths in
//! this module, so they also compile against a crate that re-exports it.

mod access;
mod bucket;
mod handles;
mod hot;
mod index;
mod json;
mod key;
mod key_parts;
mod levels;
mod message;
mod part;
mod partitions;
mod property;
mod reader;
mod refused;
mod require;
mod rows;
mod serde;
mod set;
mod text;
mod variant;

pub use std::option::Option::{None, Some};
pub use std::primitive::{bool, usize};
pub use std::result::Result::{Err, Ok};
pub use std::string::String;
pub use std::vec::Vec;

/// The names of properties.
pub type Names = &'static [&'static str];

pub use access::{index_name, require_fan_out, table_name};
pub use bucket::{KeyTexts, partitions};
pub use handles::{
    require_droppable, require_log, require_no_outbox, require_recording_outbox, require_table_of_owner,
};
pub use hot::require_spread;
pub use index::{index_of, indexed, project, select_copies, write_key_text};
pub use json::{MayBeNull, NotNull, json_schema};
pub use key::{KeyOf, key_field};
pub use key_parts::{KeyProperties, OwnerKey};
pub use levels::{LevelsOf, require_cardinality, require_levels};
pub use part::{derived_place, place};
pub use partitions::{partitions_in, partitions_share, partitions_with};
pub use property::{
    Encode, encoded, entered, of_field, of_its_key, property_schema, put, put_literal, read_field, stub,
    written,
};
pub use reader::{Decode, DecodeAgain, EntityReader};
pub use require::{require_ambiguous, require_key, require_sound, require_stored, require_told_apart};
pub use rows::RowsOf;
pub use serde::{Serde, WithoutSerde, require_serde};
pub use set::{
    not_read, read_member, read_own_as, require_members, require_one_partition, require_owner, require_under,
    select_of, set_schemas, write_kind,
};
pub use text::{KeyText, partition, point};
pub use variant::{read_variant, variant_value, write_variant};

#[cfg(feature = "derive")]
pub use table_derive::{access_at, access_ceiling, access_list};

pub use crate::bag::TableEntity;
pub use crate::column::{Column, Indexed, KeyColumn, OfKey, Operand, Plain, Projected};
pub use crate::column::{ShowsConditions, ShowsKey};
pub use crate::entity::{
    AnyRelations, AnyTable, Around, Declared, Entity, FeedEntity, FromEntity, HasField, NamedTable, NotRead,
    PlainEntity, ProjectionOf, ToEntity, Versioned, table_number,
};
pub use crate::etag::ETag;
pub use crate::group::{EntityGroup, GroupField, GroupOf, skip};
pub use crate::index::{
    CopyIndex, EventuallyConsistent, FromCopy, Includes, Index, IndexOf, IndexPart, StronglyConsistent,
};
pub use crate::key::EntityKey;
pub use crate::key::codec::compound::{is_self_delimiting, keeps_order};
pub use crate::key::codec::{
    Bars, Base64, Bucket, Caret, Crc32, DerivedPart, Desc, Digest, Digits, Escaped, First, Fnv1a, Folded,
    Form, GuidAs, Hex, Hour, Inverted, KeyCodec, KeyEnum, KeyNewtype, KeyPart, LevelCodec, Md5, Newtype,
    NonNegative, Pattern, Percent, Replaced, Sha256, Signed, Truncated, Ulid, Unix, Unpadded, Variant, Week,
    Without, pattern,
};
pub use crate::property::{Chunked, Json, JsonValue, Property, Rest};
pub use crate::query::{EntityRef, KeyRange, Select};
pub use crate::refused::Refused;
pub use crate::row::{Row, RowWriter};
pub use crate::schema::{
    EntitySchema, IndexKind, IndexSchema, KeyPiece, PropertySchema, Shape, is_same_text,
};
pub use crate::selection::ShowsPoint;
pub use crate::selection::{
    Copies, FanOut, KeyArg, KeyBounds, KeyPrefix, Lists, Narrowed, Ordered, Partition, PartitionRange, Point,
    Primary, RowRange, Scan, Selection, SelfDelimiting, around_indexes,
};
pub use crate::set::{EntitySet, SetOf, is_of};
pub use crate::table::refused::{
    Begins, BeginsUnit, Changes, Combines, Contains, Counts, Creates, Drops, Filters, Finds, Follows,
    GetsOrInserts, ReadsAll, ReadsIndex, Removes, RemovesMany, Saves, Selects, WritesMany,
};
pub use crate::table::uncommitted::Uncommitted;
pub use crate::{
    __refused_forms as refused_forms, __refused_parts as refused_parts, __refused_ranges as refused_ranges,
};
pub use table_store::Result;
pub use table_store::{EdmType, Value, ValueRef};
