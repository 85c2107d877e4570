//! The rules of schema evolution. They state the compatibility of each kind of change, and the remedies for its effects.

use std::fmt;

use self::Compatibility::{Compatible, NeedsAcceptance, NeedsBackfill, NeedsRewrite, Refused};

/// The effect of a change on compatibility. The variants are ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compatibility {
    /// The change does not affect the stored bytes.
    Same,
    /// The new program reads old rows and new rows in the same way.
    Compatible,
    /// Old rows can be read. However, a new index, or a filter on a widened property, does not find them until a backfill has processed them.
    NeedsBackfill,
    /// The type has been renamed, or the new schema lacks something declared by the stored schema, such as an index. One possible cause is that an older
    /// version of the program was started. The change must be accepted explicitly, with [`accept_schema`](crate::Table::accept_schema).
    NeedsAcceptance,
    /// Old rows cannot be read or found until they are rewritten.
    NeedsRewrite,
    /// Old rows lack information needed by the new schema, or several old rows would be merged into one.
    Refused,
}

impl Compatibility {
    /// Returns `true` if a program with the new schema may start immediately.
    ///
    /// ```
    /// use table_core::schema::Compatibility;
    ///
    /// assert!(Compatibility::NeedsBackfill.is_allowed() && !Compatibility::NeedsRewrite.is_allowed());
    /// ```
    #[must_use]
    pub const fn is_allowed(self) -> bool {
        matches!(self, Self::Same | Self::Compatible | Self::NeedsBackfill)
    }
}

impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Compatible => "compatible",
            Self::NeedsBackfill => "needs backfill",
            Self::NeedsAcceptance => "needs acceptance",
            Self::NeedsRewrite => "needs rewrite",
            Self::Refused => "refused",
        })
    }
}

/// The rule for one kind of change.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The number of the rule, such as `EVO-1`.
    pub id: &'static str,
    /// A human-readable description of the schema change.
    pub change: &'static str,
    /// The compatibility of old rows with the new schema.
    pub compatibility: Compatibility,
    /// The effect of the change on old rows.
    pub then: &'static str,
    /// Advice to a programmer who makes this change.
    pub advice: &'static str,
}

macro_rules! rules {
    ($($name:ident: $id:literal, $change:literal, $compatibility:ident, $then:literal, $advice:literal;)*) => {
        $(pub(super) static $name: Rule =
            Rule { id: $id, change: $change, compatibility: $compatibility, then: $then, advice: $advice };)*
        /// The rules for all kinds of changes, ordered by their numbers.
        pub static EVOLUTION_RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    OPTIONAL_ADDED: "EVO-1", "an optional property is added", Compatible,
        "rows without it read as `None`", "nothing to do";
    REQUIRED_ADDED: "EVO-2", "a required property is added", NeedsRewrite,
        "old rows cannot be read as the type", "make it an `Option`, or write it into every old row";
    REMOVED: "EVO-3", "a property is removed", Compatible,
        "old values remain stored until a row is replaced",
        "nothing to do; if it was renamed, keep its stored name with `#[property(\"…\")]`";
    MADE_OPTIONAL: "EVO-4", "a required property becomes optional", Compatible,
        "old rows read as `Some`", "nothing to do once no program with the old schema reads the table";
    MADE_REQUIRED: "EVO-5", "an optional property becomes required", NeedsRewrite,
        "rows without it cannot be read", "keep the `Option`, or write it into every row without it";
    WIDENED: "EVO-6", "an `Edm.Int32` property becomes `Edm.Int64` or `Edm.Double`", NeedsBackfill,
        "old values can be read (ENG-12), but filters on it evaluate them incorrectly (FIL-15, FIL-16)",
        "read and write every old row once, and repair indexes that contain it with `check().repair()`, before filtering on it; then call `accept_schema`";
    CONVERTED: "EVO-7", "a property changes to a different number type", NeedsRewrite,
        "old values have a different type and cannot be read", "write every old row with the converted value";
    RETYPED: "EVO-8", "a property changes its type, and the old or new type is not a number; or its stored name is that of a chunk of another property in one of the schemas", Refused,
        "old values cannot be read, or are read as part of another value", "declare another property";
    KIND: "EVO-9", "the kind (`EntityType`) is changed, added or removed", NeedsRewrite,
        "old rows are treated as rows of a different type", "rewrite every old row, or restore the old kind";
    LITERAL: "EVO-10", "a literal in a key is changed, added or removed", NeedsRewrite,
        "old rows are stored under other keys", "copy every row to its new key, then delete the old one";
    CODEC_WIDTH: "EVO-11", "a key part has a different codec for the same values: digits, order, escapes, signs", NeedsRewrite,
        "old rows are stored under other keys, and some values may not fit", "copy every row to its new key, then delete the old one";
    ACCEPTS_MORE: "EVO-12", "a key part accepts more values in the same form: `without` becomes text, an enum gains variants", Compatible,
        "old keys can be read", "nothing to do";
    CODEC: "EVO-13", "a key part has a codec for other values", Refused,
        "old keys do not contain the new values", "declare a new table or another key prefix, and move the known values";
    MOVED: "EVO-14", "key parts are reordered", NeedsRewrite,
        "old rows are stored under other keys, which may be decoded to wrong values", "copy every row to its new key, then delete the old one";
    PART_ADDED: "EVO-15", "a key gains a part that old rows hold as a property", NeedsRewrite,
        "old rows are stored under other keys", "copy every row to its new key, then delete the old one";
    PART_UNKNOWN: "EVO-16", "a key gains a part that old rows lack", Refused,
        "old rows do not determine their new key", "declare a new table, or add the value as a property first";
    PART_REMOVED: "EVO-17", "a key loses a part", Refused,
        "two old rows may have the same new key", "declare a new table, and decide which of the two rows to keep";
    BUCKET: "EVO-18", "a bucket is added, removed, or has a different number of partitions", NeedsRewrite,
        "old rows are in other partitions", "copy every row to its new key, then delete the old one";
    TABLE_RENAMED: "EVO-19", "the table is renamed", NeedsRewrite,
        "old rows are in the old table", "copy the table, or open it by its old name with `table_named`";
    INDEX_ADDED: "EVO-20", "an index is added", NeedsBackfill,
        "the index lacks old rows", "build it before reading it";
    INDEX_REMOVED: "EVO-21", "an index is removed", NeedsAcceptance,
        "the index's copies remain stored and become stale", "accept it once no program reads the index; delete its copies before an index with this key is declared again";
    INDEX_KEY: "EVO-22", "an index changes its kind, table, partition or key", NeedsBackfill,
        "its copies are stored under the old keys", "delete the old copies and build it before reading it";
    KEEPS_MORE: "EVO-23", "an index includes more properties", NeedsBackfill,
        "old copies lack them", "build it again before reading it";
    KEEPS_LESS: "EVO-24", "an index includes fewer properties", NeedsAcceptance,
        "old copies contain properties that are no longer read, new copies lack them", "accept it once no program reads them";
    MADE_UNIQUE: "EVO-25", "an index with the same key becomes unique", NeedsBackfill,
        "its rows were written without a check", "build it again, which fails if two rows share a key";
    NOT_UNIQUE: "EVO-26", "an index with the same key is no longer unique", NeedsAcceptance,
        "old copies are correct", "accept it once no program relies on it";
    LEAVES_OUT_OTHERS: "EVO-27", "an index excludes other entities: its `when` is changed, added or removed, or it is no longer sparse", NeedsBackfill,
        "the index contains extra entries and lacks required ones", "delete the old copies and build it before reading it";
    MADE_SPARSE: "EVO-28", "an index becomes sparse, because a value of its key becomes optional", Compatible,
        "old copies are correct", "nothing to do";
    STORES_OTHERWISE: "EVO-29", "an index stores other properties, or a field of the entity's key under a new name because it was renamed", NeedsBackfill,
        "old copies lack them", "keep the name with `#[property(\"…\")]`, or build it again before reading it";
    KEPT_ADDED: "EVO-30", "a feed or a relation with copies is declared", NeedsBackfill,
        "earlier writes are not in the feed, and their references are not recorded",
        "run the backfill of the feed or of the copies, then rebuild views of the feed";
    KEPT_REMOVED: "EVO-31", "a feed or a relation with copies is no longer declared", NeedsAcceptance,
        "views and copies are no longer updated", "accept it once no program reads the feed or the copies";
    TYPE_RENAMED: "EVO-32", "the type is renamed", NeedsAcceptance,
        "the old schema is stored under the old name, so it is not compared",
        "keep the name with `#[entity(schema_name = \"…\")]`, or accept the schema as that of another type";
    CHUNKS_REMOVED: "EVO-33", "a property is no longer stored in chunks", NeedsRewrite,
        "only the first chunk of an old value is read", "keep `#[property(chunks)]`, or shorten every old value to one chunk";
    CHUNKS_ADDED: "EVO-34", "a property is now stored in chunks", Compatible,
        "an old value is read as one chunk", "nothing to do once no program with the old schema writes the table";
}
