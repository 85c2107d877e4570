//! Findings of a check: the kind and the location of damage in an index.

use table_core::key::EntityKey;

/// The kinds of damage in an index.
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
    /// An entity has no entry in the index.
    Missing,
    /// The copy of an entity differs from the entity.
    Stale,
    /// A copy or a list member belongs to an entity that does not exist or has another value.
    Dangling,
    /// Two entities have one value of a unique index; the copy is the other's. Only a person can say whose it is.
    Duplicate,
    /// A row of the index is not to be read.
    Unreadable,
}

/// Damage in an index, confirmed by a second read.
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
