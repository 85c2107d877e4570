//! The parts of a type's schema whose rows may be incomplete in an export.

use std::collections::BTreeSet;

/// The prefix of widened properties in the list of pending parts.
const PROPERTY: &str = "property ";

/// The parts of a type's schema whose derived rows or values may be missing from an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lacking {
    /// `true` if the export does not contain the schema with which its rows were written.
    pub(super) is_unknown: bool,
    /// The names of the parts in the form of `SchemaRecord::pending`, such as `index ByEmail`.
    pub(super) parts: BTreeSet<String>,
}

impl Lacking {
    /// Returns `true` if the exported rows of the index may be incomplete or outdated. A widened property also affects index rows, because they contain
    /// property values.
    pub(super) fn lacks_index(&self, name: &str) -> bool {
        self.is_unknown
            || self
                .parts
                .iter()
                .any(|part| part.strip_prefix("index ") == Some(name) || part.starts_with(PROPERTY))
    }

    /// Returns the names of the pending parts for properties that may have values with an earlier type.
    pub(super) fn properties(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().filter(|part| part.starts_with(PROPERTY))
    }
}
