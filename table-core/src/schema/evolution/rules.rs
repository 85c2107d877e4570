//! The rules of evolution: for each change its verdict, and what to do.

use std::fmt;

use self::Verdict::{Compatible, NeedsAcceptance, NeedsBackfill, NeedsRewrite, Refused};

/// The verdict on a change, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The bytes lie as before.
    Same,
    /// Old rows and new rows are read by the new program alike.
    Compatible,
    /// Old rows are read; a new index, or a filter on a widened property, misses them until they have been gone over once.
    NeedsBackfill,
    /// The new design keeps less than the stored one promises, as an older program would: the program has to confirm that this is meant.
    NeedsAcceptance,
    /// Old rows are not read, or not found, until each has been written anew; all that takes is in them.
    NeedsRewrite,
    /// Old rows do not say what the new design needs, or two of them would become one.
    Refused,
}

impl Verdict {
    /// Whether a program of the new design may go to work at once.
    ///
    /// ```
    /// use table_core::schema::Verdict;
    ///
    /// assert!(Verdict::NeedsBackfill.is_allowed() && !Verdict::NeedsRewrite.is_allowed());
    /// ```
    #[must_use]
    pub const fn is_allowed(self) -> bool {
        matches!(self, Self::Same | Self::Compatible | Self::NeedsBackfill)
    }
}

impl fmt::Display for Verdict {
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
    /// Its name, such as `EVO-1`.
    pub id: &'static str,
    /// The change.
    pub change: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The effect on old rows.
    pub then: &'static str,
    /// The remedy.
    pub advice: &'static str,
}

macro_rules! rules {
    ($($name:ident: $id:literal, $change:literal, $verdict:ident, $then:literal, $advice:literal;)*) => {
        $(pub(super) static $name: Rule =
            Rule { id: $id, change: $change, verdict: $verdict, then: $then, advice: $advice };)*
        /// Every rule, in order.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    OPTIONAL_ADDED: "EVO-1", "an optional property is added", Compatible,
        "old rows read as `None`", "nothing to do";
    REQUIRED_ADDED: "EVO-2", "a required property is added", NeedsRewrite,
        "old rows cannot be read as the type", "make it an `Option`, or write it into every old row";
    REMOVED: "EVO-3", "a property is removed", Compatible,
        "its values stay stored until a row is replaced",
        "nothing to do; if it was renamed, keep its stored name with `#[property(\"…\")]`";
    MADE_OPTIONAL: "EVO-4", "a required property becomes optional", Compatible,
        "old rows read as `Some`", "nothing to do, once no program of the old design reads";
    MADE_REQUIRED: "EVO-5", "an optional property becomes required", NeedsRewrite,
        "rows without it cannot be read", "keep the `Option`, or write it into every row without it";
    WIDENED: "EVO-6", "an `Edm.Int32` property becomes `Edm.Int64` or `Edm.Double`", NeedsBackfill,
        "old values are read (ENG-12), a filter on it misjudges them (FIL-15, FIL-16)",
        "read and write every old row once before filtering on it";
    CONVERTED: "EVO-7", "a property changes to another number type", NeedsRewrite,
        "old values are of another type and are not read", "write every old row with the value converted";
    RETYPED: "EVO-8", "a property changes to a type that its values do not carry over to", Refused,
        "old values are not read", "declare a new property beside the old one";
    KIND: "EVO-9", "the kind (`EntityType`) that marks entities is another, comes or goes", NeedsRewrite,
        "old rows are taken for another type", "write every old row anew, or give the type its old kind back";
    LITERAL: "EVO-10", "a literal in a key changes, comes or goes", NeedsRewrite,
        "old rows lie under other keys", "copy every row to its new key, then delete the old one";
    CODEC_WIDTH: "EVO-11", "a key part is written by another codec for the same values: digits, order, escapes, signs", NeedsRewrite,
        "old rows lie under other keys, and not every value has to fit", "copy every row to its new key, then delete the old one";
    ACCEPTS_MORE: "EVO-12", "a key part accepts more values, written as before: `without` becomes text, an enum gains variants", Compatible,
        "old keys are read as before", "nothing to do";
    CODEC: "EVO-13", "a key part is written by a codec for other values", Refused,
        "old keys do not say the new values", "declare a new table or another key beginning, and move the values that are known";
    MOVED: "EVO-14", "key parts change places", NeedsRewrite,
        "old rows lie under other keys, which may read as wrong values", "copy every row to its new key, then delete the old one";
    PART_ADDED: "EVO-15", "a key gains a part that old rows hold as a property", NeedsRewrite,
        "old rows lie under other keys", "copy every row to its new key, then delete the old one";
    PART_UNKNOWN: "EVO-16", "a key gains a part that old rows do not hold", Refused,
        "old rows do not say their new key", "declare a new table, or add the value as a property first";
    PART_REMOVED: "EVO-17", "a key loses a part", Refused,
        "two old rows may have one new key", "declare a new table, and say which of two rows wins";
    BUCKET: "EVO-18", "a bucket comes, goes, or has another number of partitions", NeedsRewrite,
        "old rows lie in other partitions", "copy every row to its new key, then delete the old one";
    TABLE_RENAMED: "EVO-19", "the table has another name", NeedsRewrite,
        "old rows lie in the old table", "copy the table, or open it by its old name with `table_named`";
    INDEX_ADDED: "EVO-20", "an index is added", NeedsBackfill,
        "it misses old rows", "build it before it is read";
    INDEX_REMOVED: "EVO-21", "an index is removed", NeedsAcceptance,
        "its copies stay stored and grow stale", "accept it once no program reads the index; delete its copies, above all before an index of this key comes back";
    INDEX_KEY: "EVO-22", "an index changes its kind, its table, its place or its key", NeedsBackfill,
        "its copies lie under other keys", "delete the old copies and build it before it is read";
    KEEPS_MORE: "EVO-23", "an index keeps more properties", NeedsBackfill,
        "old copies lack them", "build it again before it is read";
    KEEPS_LESS: "EVO-24", "an index keeps fewer properties", NeedsAcceptance,
        "old copies hold more than is read, new ones lack it", "accept it once no program reads them";
    MADE_UNIQUE: "EVO-25", "an index becomes unique", NeedsBackfill,
        "old rows may share a value", "build it again, which finds values that are shared";
    NOT_UNIQUE: "EVO-26", "an index is unique no more", NeedsAcceptance,
        "old copies are right", "accept it once no program relies on it";
    LEAVES_OUT_OTHERS: "EVO-27", "an index leaves out other entities: its `when` is another, comes or goes, or it is sparse no more", NeedsBackfill,
        "it holds and misses others than it should", "delete the old copies and build it before it is read";
    MADE_SPARSE: "EVO-28", "an index becomes sparse, as a value of its key becomes optional", Compatible,
        "old copies are right", "nothing to do";
    STORES_OTHERWISE: "EVO-29", "an index stores a part of the entity's key under another name, as its field was renamed, or other properties", NeedsBackfill,
        "old copies lack them", "keep the name with `#[property(\"…\")]`, or build it again before it is read";
    KEPT_ADDED: "EVO-30", "a feed or copies are declared", Compatible,
        "what was written before is not in the feed, and its references are not recorded",
        "rebuild views of it; write holders of copies once";
    KEPT_REMOVED: "EVO-31", "a feed or copies are declared no more", NeedsAcceptance,
        "views and copies follow no longer", "accept it once no program reads the feed or the copies";
}
