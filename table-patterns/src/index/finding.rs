//! Findings of a check: the kind and the location of damage in an index.

use table_core::key::EntityKey;

/// The kinds of damage in an index.
///
/// ```
/// use table_patterns::index::FindingKind;
///
/// /// Returns `true` if a repair makes it good. Of duplicates a person says which one stays, and a bad entity has to be changed.
/// fn is_repairable(kind: FindingKind) -> bool {
///     !matches!(kind, FindingKind::Duplicate | FindingKind::BadEntity)
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
    /// A row of the index, or the entity that it names, cannot be read.
    Unreadable,
    /// An entity cannot be read, or has a value that the keys of the index cannot hold. It has no entry until it is changed.
    BadEntity,
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
    /// The key of the copy or list; of a bad entity its own.
    pub at: EntityKey,
    /// The key of the entity, if it is known.
    pub owner: Option<EntityKey>,
    /// `true` if it was made good.
    pub repaired: bool,
    /// The error that prevented a judgement or a repair.
    pub reason: Option<String>,
}
