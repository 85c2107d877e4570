//! The findings of an index check. A finding describes the kind and the location of an inconsistency.

use table_core::key::EntityKey;

/// The kind of inconsistency in an index.
///
/// ```
/// use table_patterns::index::FindingKind;
///
/// /// Returns `true` if a repair corrects it. A person must resolve duplicates, bad entities and odd rows.
/// fn is_repairable(kind: FindingKind) -> bool {
///     !matches!(kind, FindingKind::Duplicate | FindingKind::BadEntity | FindingKind::OddRow)
/// }
/// assert!(is_repairable(FindingKind::Missing));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// An entity has no entry in the index.
    Missing,
    /// The copy of an entity differs from the entity, or a repair that was interrupted has left a list marked.
    Stale,
    /// A copy or a list member belongs to an entity that does not exist or no longer has the value.
    Dangling,
    /// Two entities have the same value in a unique index, and the copy belongs to the other one. Such a duplicate must be resolved manually.
    Duplicate,
    /// A row of the index, or its entity, cannot be read. A repair replaces the row. If the store itself cannot represent the row or the entity, another tool
    /// must correct or delete it.
    Unreadable,
    /// An entity cannot be read, or has a value that the keys of the index cannot contain. It has no index entry until it is changed. Once another tool has
    /// corrected the entity, a repair writes the entry.
    BadEntity,
    /// A reserved row that its pattern cannot read and therefore ignores. A repair does not remove it.
    OddRow,
}

/// One inconsistency of an index. A second read has confirmed it.
///
/// ```
/// use table_patterns::index::Finding;
///
/// /// Formats a line of a report.
/// fn line(finding: &Finding) -> String {
///     let done = if finding.repaired { "repaired" } else { "left as it is" };
///     format!("{}: {:?} at {}, {done}", finding.index, finding.kind, finding.at)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the index. For a reserved row, the name of its pattern: `references` or `feed`.
    pub index: &'static str,
    /// The kind of inconsistency.
    pub kind: FindingKind,
    /// The key of the copy or the list. For a bad entity, the key of the entity; for an odd row, the key of the row.
    pub at: EntityKey,
    /// The key of the affected entity, if known.
    pub owner: Option<EntityKey>,
    /// `true` if the inconsistency was repaired.
    pub repaired: bool,
    /// The error with which the check or the repair failed.
    pub reason: Option<String>,
}
