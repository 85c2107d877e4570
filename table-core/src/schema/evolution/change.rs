//! Changes between two schemas, and their compatibility.

use std::fmt;

use crate::schema::evolution::rules::{
    BUCKET, CODEC, Compatibility, INDEX_REMOVED, KEPT_REMOVED, KIND, LITERAL, MADE_REQUIRED, MOVED,
    OPTIONAL_ADDED, PART_ADDED, PART_REMOVED, PART_UNKNOWN, REMOVED, REQUIRED_ADDED, Rule,
};
use crate::schema::stored::StoredSchema;

/// A difference between two schemas.
///
/// ```
/// use table_core::schema::Change;
///
/// /// Returns the work that remains before the new schema is complete.
/// fn pending(changes: &[Change]) -> Vec<&str> {
///     changes.iter().filter_map(|change| change.pending.as_deref()).collect()
/// }
/// assert!(pending(&[]).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule that determines the effect of the change.
    pub rule: &'static Rule,
    /// A description, such as "property `Age`: Edm.Int32 becomes Edm.Int64".
    pub what: String,
    /// The one-time work that [`Compatibility::NeedsBackfill`] requires. Examples are `index ByEmail`, `keeps feed`, `keeps copies_from Manager` and `property
    /// Age`.
    pub pending: Option<String>,
}

impl Change {
    pub(super) fn new(rule: &'static Rule, what: String) -> Self {
        Self { rule, what, pending: None }
    }

    pub(super) fn with_pending(rule: &'static Rule, what: String, pending: String) -> Self {
        Self { rule, what, pending: Some(pending) }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { id, compatibility, then, advice, .. } = self.rule;
        write!(f, "{id} {compatibility}: {}; {then}: {advice}", self.what)
    }
}

/// All differences between two schemas, and their combined effect.
///
/// ```
/// use table_core::schema::{Evolution, Compatibility};
///
/// /// Returns the output of a deployment script.
/// fn report(evolution: &Evolution) -> Vec<String> {
///     evolution.changes.iter().map(ToString::to_string).collect()
/// }
/// assert_eq!(Evolution::default().compatibility(), Compatibility::Same);
/// assert!(report(&Evolution::default()).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evolution {
    /// All differences, in the order name, table, kind, keys, properties, indexes, and other derived rows.
    pub changes: Vec<Change>,
}

impl Evolution {
    /// Returns the worst compatibility among the changes, or [`Compatibility::Same`] if the schemas are equal.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.changes.iter().map(|change| change.rule.compatibility).max().unwrap_or(Compatibility::Same)
    }

    /// Returns `true` if programs with the older schema and programs with the newer schema can write concurrently. `self` is the evolution from the newer
    /// schema to the older one.
    ///
    /// The newer program must be able to read everything that the older program writes. The older schema may therefore lack only optional properties, and
    /// indexes, feeds or copies whose backfill has not begun.
    ///
    /// The older schema may declare additional properties. It may also require properties that the newer schema lacks or declares as optional. An older program
    /// that writes index rows copies the properties unknown to it from the stored entity.
    pub(crate) fn can_write_concurrently(
        &self,
        (newer, older): (&StoredSchema, &StoredSchema),
        is_announced: impl Fn(&str) -> bool,
    ) -> bool {
        let has = |name: &str| older.properties.iter().any(|property| property.name == name);
        let mut lacking = newer.properties.iter().filter(|property| !has(&property.name));
        let knows = |name: &str| older.indexes.iter().any(|index| index.name == name);
        let mut indexes = newer.indexes.iter().filter(|index| !knows(&index.name));
        let mut kept = newer.keeps.iter().filter(|word| !older.keeps.contains(word));
        let allowed = [
            REMOVED.id,
            OPTIONAL_ADDED.id,
            REQUIRED_ADDED.id,
            MADE_REQUIRED.id,
            INDEX_REMOVED.id,
            KEPT_REMOVED.id,
        ];
        lacking.all(|property| property.optional)
            && indexes.all(|index| is_announced(&format!("index {}", index.name)))
            && kept.all(|word| is_announced(&format!("keeps {word}")))
            && self.changes.iter().all(|change| allowed.contains(&change.rule.id))
    }

    /// Returns `true` if both schemas have the same kind, and their keys contain the same literals and values in the same order. Two different types in the
    /// same table always differ in their kind or their keys.
    pub(crate) fn keeps_form_of_keys(&self) -> bool {
        let others = [
            KIND.id,
            LITERAL.id,
            CODEC.id,
            MOVED.id,
            PART_ADDED.id,
            PART_UNKNOWN.id,
            PART_REMOVED.id,
            BUCKET.id,
        ];
        !self.changes.iter().any(|change| others.contains(&change.rule.id))
    }

    /// Returns `true` if the schemas are equal.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Prints the compatibility, then one line for each change.
impl fmt::Display for Evolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.compatibility())?;
        self.changes.iter().try_for_each(|change| write!(f, "\n  {change}"))
    }
}

/// The evolution is the source of a `SchemaMismatch` error.
impl std::error::Error for Evolution {}
