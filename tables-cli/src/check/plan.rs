//! Determines which derived rows of a schema can be checked, and why others cannot.

use table_core::schema::{IndexKind, Source, StoredIndex, StoredPiece, StoredSchema};

use table_inspect::keys;
use table_inspect::kind::{self, Kind};

use crate::check::forms::are_distinguished;

/// The check of one pattern of an entity type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    /// The pattern, such as `index ByEmail` or `copies`.
    pub pattern: String,
    /// The index to check, or the reason why the pattern cannot be checked.
    pub check: Result<&'a StoredIndex, String>,
}

/// Returns a check for each pattern that a schema declares. `schemas` contains the schemas that can describe rows of the table, each paired with its lower-case
/// table name.
///
/// ```
/// use tables_cli::check::plan::plans;
///
/// let schema = "schema 1\nentity E\ntable T\nkeeps feed\nPartitionKey p text 0..512 ordered legal\nRowKey \"r\"\n".parse()?;
/// let schemas = [("t".to_owned(), schema)];
/// let plans = plans(&schemas[0].1, &schemas);
/// assert_eq!(plans[0].pattern, "feed");
/// assert!(plans[0].check.is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn plans<'a>(schema: &'a StoredSchema, schemas: &[(String, StoredSchema)]) -> Vec<Plan<'a>> {
    let indexes = schema.indexes.iter().map(|index| Plan {
        pattern: format!("index {}", index.name),
        check: reason(schema, index).or_else(|| rival(schema, index, schemas)).map_or(Ok(index), Err),
    });
    let keeps = schema.keeps.iter().map(|word| Plan { pattern: word.clone(), check: Err(reason_of(word)) });
    indexes.chain(keeps).collect()
}

/// Returns the reason why the rows of an index cannot be checked with the stored schema alone, or `None` if they can.
fn reason(schema: &StoredSchema, index: &StoredIndex) -> Option<String> {
    if index.kind == IndexKind::List {
        return Some("the members of a list are written by the program's type".to_owned());
    }
    if index.table.is_some() || index.partition_key.is_some() {
        return Some("its rows in other partitions follow later, through the program's outbox".to_owned());
    }
    if let Some(when) = &index.when {
        return Some(format!("the function `{when}` of the program selects its entities"));
    }
    if schema.kind.is_some() {
        return Some("the program writes `EntityType` into its rows".to_owned());
    }
    let key_parts = || schema.partition_key.iter().chain(&schema.row_key);
    for piece in &index.row_key {
        let StoredPiece::Part { source, codec, .. } = piece else { continue };
        let is_copied = key_parts().any(|part| is_part(part, source, codec));
        if !is_copied && !can_encode(source, codec) {
            return Some(format!("only the program knows the codec `{codec}`"));
        }
    }
    for piece in &schema.row_key {
        let StoredPiece::Part { source, codec, .. } = piece else { continue };
        let is_in_index = index.row_key.iter().any(|part| is_part(part, source, codec));
        if !is_in_index && !can_encode(source, codec) {
            return Some(format!(
                "only the program knows the codec `{codec}` of the key `{}`",
                keys::name_of(source)
            ));
        }
        let name = keys::name_of(source);
        let is_stored = || index.properties.iter().any(|property| keys::is_field(name, &property.name));
        if !is_in_index && !is_stored() {
            return Some(format!("only the program knows the property in which its rows store `{name}`"));
        }
    }
    let is_known = |name: &str| {
        let parts = key_parts().filter_map(keys::source_of);
        schema.properties.iter().any(|property| property.name == name)
            || parts.into_iter().any(|source| keys::is_field(keys::name_of(source), name))
    };
    let unknown = index.properties.iter().find(|property| !is_known(&property.name));
    unknown.map(|property| format!("only the program knows the source of `{}`", property.name))
}

/// Returns `true` if [`index_row`](super::index_row) can compute a key part from the value of its source.
fn can_encode(source: &Source, codec: &str) -> bool {
    match source {
        Source::Property(_) => keys::can_encode_property(codec),
        Source::Key(_) => keys::can_encode(codec),
    }
}

/// Returns the reason why an index's rows or their entities cannot be distinguished from other rows in the table, or `None` if they can.
fn rival(schema: &StoredSchema, index: &StoredIndex, schemas: &[(String, StoredSchema)]) -> Option<String> {
    let own = [Kind::Entity(schema), Kind::Index(schema, index)];
    let mut others = kind::of_table(&schema.table, schemas).filter(|kind| !own.contains(kind));
    let other = others.find(|other| !own.iter().all(|own| are_distinguished(own, other)))?;
    let other = match other {
        Kind::Index(of, index) => format!("the index `{}` of `{}`", index.name, of.entity),
        kind => format!("`{}`", kind.name()),
    };
    Some(format!("only the program distinguishes its rows from those of {other}"))
}

fn is_part(piece: &StoredPiece, source: &Source, codec: &str) -> bool {
    matches!(piece, StoredPiece::Part { source: other, codec: written, .. } if other == source && written == codec)
}

/// Returns the reason why a pattern cannot be checked. `word` represents the pattern in the schema's `keeps` list.
fn reason_of(word: &str) -> String {
    match word {
        "feed" => "the entries of a feed are numbered by the program's handle".to_owned(),
        word if word.starts_with("copied_by ") || word.starts_with("copies_from ") => {
            "the relations of copies are types of the program".to_owned()
        }
        other => format!("`{other}` is maintained by the program's types"),
    }
}
