//! Classifies rows by the pattern of their keys.

use std::cmp::Reverse;

use table_core::ValueRef;
use table_core::query::EntityRef;
use table_core::schema::{ENTITY_TYPE, StoredPiece};

use crate::error::Result;
use crate::keys;
use crate::reserved::RESERVED;

/// A table's key patterns, each with a value of type `T` that describes matching rows. Created by [`kind::patterns`](crate::kind::patterns).
///
/// Several patterns may match the keys of a row. Then the pattern of the type whose kind is the row's `EntityType` comes first, followed by patterns of types
/// without a kind. Among equals, the pattern with the most literal characters comes first. Internal rows match no pattern.
///
/// If a row matches the pattern of a type with a kind but has a different `EntityType`, it belongs to an unknown type. It then matches a type without a kind
/// only if that type declares `EntityType` as a property.
///
/// ```
/// use table_core::query::EntityRef;
/// use table_core::row::RowWriter;
/// use table_core::schema::StoredSchema;
/// use table_inspect::kind;
///
/// let schema: StoredSchema = "schema 1\nentity Person\ntable People\nPartitionKey team text 0..512 ordered legal\n\
///     RowKey name text 0..512 ordered legal\n"
///     .parse()?;
/// let schemas = [("people".to_owned(), schema)];
/// let patterns = kind::patterns("People", &schemas, |kind| kind.name().to_owned());
/// let row = RowWriter::new().finish();
/// assert_eq!(patterns.of(EntityRef::new("red", "ada", row.view()))?.map(String::as_str), Some("Person"));
/// assert_eq!(patterns.of(EntityRef::new("red", "\u{FFFC}feed_0001", row.view()))?, None);
/// # Ok::<(), table_inspect::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Patterns<T> {
    /// The patterns, in descending order of literal characters.
    all: Vec<Pattern<T>>,
}

/// The key pattern of one kind of row.
#[derive(Clone, Debug)]
pub(crate) struct Pattern<T> {
    pub(crate) partition_key: Vec<StoredPiece>,
    pub(crate) row_key: Vec<StoredPiece>,
    pub(crate) entity_type: EntityType,
    pub(crate) value: T,
}

/// The `EntityType` values of one kind of row.
#[derive(Clone, Debug)]
pub(crate) enum EntityType {
    /// The rows have this `EntityType`.
    Only(String),
    /// The rows have any `EntityType`, or none.
    Any,
    /// The keys match no type with a kind. The rows therefore have no `EntityType`, or one that does not distinguish types.
    ///
    /// A type may collect properties such as `EntityType` in a `rest` field, which its stored schema does not show. In an entity set, the keys of such a type
    /// differ from the keys of types with a kind.
    None,
}

impl<T> Patterns<T> {
    /// Creates a classifier. If several patterns have the same number of literal characters, the first one takes precedence.
    pub(crate) fn new(mut all: Vec<Pattern<T>>) -> Self {
        all.sort_by_key(|pattern| Reverse(pattern.literal_length()));
        Self { all }
    }

    /// Returns the value of the pattern that a row matches, or `None` if the row matches no pattern.
    ///
    /// If [`need_entity_type`](Self::need_entity_type) returns `true`, `row` must include its stored `EntityType`, if any.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub fn of(&self, row: EntityRef<'_>) -> Result<Option<&T>> {
        Ok(self.of_keys(row.partition_key, row.row_key, entity_type(row)?))
    }

    /// Returns the value of the pattern that a row with these keys and this `EntityType` matches.
    pub(crate) fn of_keys(
        &self,
        partition_key: &str,
        row_key: &str,
        entity_type: Option<&str>,
    ) -> Option<&T> {
        if row_key.starts_with(RESERVED) {
            return None;
        }
        let fits = |pattern: &&Pattern<T>| {
            keys::fits(&pattern.partition_key, partition_key) && keys::fits(&pattern.row_key, row_key)
        };
        let typed = || self.all.iter().filter_map(|pattern| Some((pattern.kind()?, pattern)));
        let is_own = |(kind, pattern): &(&str, &Pattern<T>)| Some(*kind) == entity_type && fits(pattern);
        if let Some((_, own)) = typed().find(is_own) {
            return Some(&own.value);
        }
        let is_of_unknown_type = entity_type.is_some() && typed().any(|(_, pattern)| fits(&pattern));
        let matches = |pattern: &&Pattern<T>| match pattern.entity_type {
            EntityType::Only(_) => false,
            EntityType::None if is_of_unknown_type => false,
            EntityType::Any | EntityType::None => fits(pattern),
        };
        self.all.iter().find(matches).map(|pattern| &pattern.value)
    }

    /// Returns the value of the pattern that a wide entity with these keys matches.
    ///
    /// `entity_type` is the `EntityType` of a part. Only the first part has one. A part without it therefore also matches a type with a kind if the keys match
    /// no other pattern.
    pub(crate) fn of_whole(
        &self,
        partition_key: &str,
        row_key: &str,
        entity_type: Option<&str>,
    ) -> Option<&T> {
        let kinds = || self.all.iter().filter_map(Pattern::kind).filter(|_| entity_type.is_none());
        let of_kind = |kind| self.of_keys(partition_key, row_key, Some(kind));
        self.of_keys(partition_key, row_key, entity_type).or_else(|| kinds().find_map(of_kind))
    }

    /// Returns `true` if the pattern of a row can depend on the row's `EntityType`.
    #[must_use]
    pub fn need_entity_type(&self) -> bool {
        self.all.iter().any(|pattern| pattern.kind().is_some())
    }
}

impl<T> Pattern<T> {
    /// Returns the required `EntityType` of the rows, if any.
    fn kind(&self) -> Option<&str> {
        match &self.entity_type {
            EntityType::Only(kind) => Some(kind),
            EntityType::Any | EntityType::None => None,
        }
    }

    fn literal_length(&self) -> usize {
        let length = |piece: &StoredPiece| match piece {
            StoredPiece::Literal(literal) => literal.len(),
            StoredPiece::Part { .. } => 0,
        };
        self.partition_key.iter().chain(&self.row_key).map(length).sum()
    }
}

/// Returns the `EntityType` of a row, or `None` if it has none. If the `EntityType` is not a string, returns an empty string, which equals no kind.
///
/// # Errors
/// `Corrupted` if the row cannot be read.
pub(crate) fn entity_type(row: EntityRef<'_>) -> Result<Option<&str>> {
    Ok(row.row.find(ENTITY_TYPE, &mut 0)?.map(|found| match found {
        ValueRef::String(found) => found,
        _ => "",
    }))
}

#[cfg(test)]
mod tests {
    use table_core::TableEntity;
    use table_core::schema::StoredSchema;

    use crate::kind::{self, Kind};
    use crate::type_selection::TypeSelection;

    /// Returns the kind of a row with this RowKey and `EntityType`. First checks that the selections of all types agree with it.
    fn kind_of(schemas: &[(String, StoredSchema)], row_key: &str, entity_type: Option<&str>) -> String {
        let row = TableEntity::new("Sales", row_key).unwrap();
        let row = match entity_type {
            Some("7") => row.with("EntityType", 7),
            Some(found) => row.with("EntityType", found),
            None => row,
        };
        let kind = kind::of("Company", &row, schemas);
        for (_, schema) in schemas {
            let selection = TypeSelection::new("Company", schemas, Some(&schema.entity), &[]).unwrap();
            let bytes = row.to_row().unwrap();
            let stored = table_core::query::EntityRef::new("Sales", row_key, bytes.view());
            assert_eq!(selection.contains(stored).unwrap(), kind == Kind::Entity(schema), "{row:?}");
        }
        kind.name().to_owned()
    }

    #[test]
    fn a_row_belongs_to_the_type_of_its_kind_in_any_order_of_the_schemas() {
        let schema = |entity: &str, lines: &str| -> (String, StoredSchema) {
            let text = format!(
                "schema 1\nentity {entity}\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
                 RowKey \"empid_\"\nRowKey id digits(3) 3 ordered [0-9]\n{lines}"
            );
            ("company".to_owned(), text.parse().unwrap())
        };
        let any = "schema 1\nentity Any\ntable Company\nPartitionKey p text 0..512 ordered legal\nRowKey r text 0..512 ordered legal\n";
        let any = ("company".to_owned(), any.parse::<StoredSchema>().unwrap());
        let [employee, manager] =
            [("Employee", ""), ("Manager", "kind Boss\n")].map(|(name, lines)| schema(name, lines));
        for schemas in [
            vec![employee.clone(), manager.clone(), any.clone()],
            vec![any.clone(), manager.clone(), employee.clone()],
        ] {
            for (entity_type, expected) in [
                (None, "Employee"),
                (Some("Boss"), "Manager"),
                (Some("Robot"), "unexplained"),
                (Some("7"), "unexplained"),
            ] {
                assert_eq!(kind_of(&schemas, "empid_001", entity_type), expected, "{entity_type:?}");
            }
            // If the keys of a type differ from the keys of all types with a kind, the type may collect `EntityType` in a `rest` field.
            assert_eq!(kind_of(&schemas, "x", Some("Robot")), "Any");
        }
        let declaring = schema("Employee", "property EntityType Edm.String optional\n");
        for schemas in [vec![declaring.clone(), manager.clone()], vec![manager, declaring]] {
            for (entity_type, expected) in [("Boss", "Manager"), ("Robot", "Employee")] {
                assert_eq!(kind_of(&schemas, "empid_001", Some(entity_type)), expected, "{entity_type:?}");
            }
        }
    }
}
