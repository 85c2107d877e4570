//! Findings of a check: what is wrong with an index, and where.

use table_core::key::EntityKey;

/// What can be wrong with an index.
///
/// ```
/// use table_patterns::index::FindingKind;
///
/// /// Whether a repair makes it good: of duplicates a person says which one stays.
/// fn is_repairable(kind: FindingKind) -> bool {
///     kind != FindingKind::Duplicate
/// }
/// assert!(is_repairable(FindingKind::Missing));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// An entity is not in the index.
    Missing,
    /// The copy of an entity does not hold what it should.
    Stale,
    /// A copy, or a member of a list, is of an entity that is gone or has another value.
    Dangling,
    /// Two entities have one value of a unique index; the copy is the other's. Only a person can say whose it is.
    Duplicate,
    /// A row of the index is not to be read.
    Unreadable,
}

/// One thing that is wrong with an index, confirmed by reading again.
///
/// ```
/// use table_patterns::index::Finding;
///
/// /// The line of a report.
/// fn line(finding: &Finding) -> String {
///     let done = if finding.repaired { "repaired" } else { "left as it is" };
///     format!("{}: {:?} at {}, {done}", finding.index, finding.kind, finding.at)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The index.
    pub index: &'static str,
    /// What is wrong.
    pub kind: FindingKind,
    /// The key of the copy or list.
    pub at: EntityKey,
    /// The key of the entity, if that is known.
    pub owner: Option<EntityKey>,
    /// Whether it was made good.
    pub repaired: bool,
}
