//! Conditions: empty merges, of which two on one entity are one.

use table_core::etag::IfMatch;
use table_core::operation::OperationKind;

/// Whether an operation changes nothing but the version of what it asks for.
pub(super) fn is_condition(kind: &OperationKind) -> bool {
    matches!(kind, OperationKind::Merge(row, _) if row.view().properties().next().is_none())
}

/// Two conditions on one entity as one, if they can both hold.
pub(super) fn both(one: &OperationKind, other: &OperationKind) -> Option<OperationKind> {
    if !is_condition(one) || !is_condition(other) {
        return None;
    }
    match (one, other) {
        (OperationKind::Merge(_, IfMatch::Any), stricter)
        | (stricter, OperationKind::Merge(_, IfMatch::Any)) => Some(stricter.clone()),
        (one, other) => (one == other).then(|| one.clone()),
    }
}
