//! Key parts: the labels of their columns, and their values in a row.

use table_core::query::EntityRef;
use table_core::schema::{Source, StoredPiece, StoredSchema};
use table_core::ticks;
use table_inspect::kind::{self, Kind as RowKind};
use table_inspect::{Patterns, Result, keys};

use crate::column::Kind;

/// The name prefixes of lossy codecs. A field cannot be computed from a part encoded with such a codec.
const DERIVED: [&str; 6] = ["bucket(", "hash(", "truncate(", "folded(", "replaced(", "first("];

/// The entity types of a table.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    /// The stored schemas of the types, with the sources of key parts replaced by [labels](label).
    pub(crate) schemas: Vec<StoredSchema>,
    /// The table's key patterns, each with the index of its schema if it belongs to an entity type.
    patterns: Patterns<Option<usize>>,
}

impl Types {
    /// Finds the entity types of a table. `stored` contains the stored schemas that can describe rows of the table. Also returns the column names of the key
    /// parts, indexed by label.
    pub(crate) fn new(table: &str, stored: &[(String, StoredSchema)]) -> (Self, Vec<String>) {
        let own: Vec<_> = stored
            .iter()
            .filter(|(of, _)| of.eq_ignore_ascii_case(table))
            .map(|(_, schema)| schema)
            .collect();
        let patterns = kind::patterns(table, stored, |kind| match kind {
            RowKind::Entity(schema) => own.iter().position(|own| std::ptr::eq(*own, schema)),
            RowKind::Index(..) | RowKind::Reserved(_) | RowKind::Unknown => None,
        });
        let mut schemas: Vec<_> = own.into_iter().cloned().collect();
        let names = label(&mut schemas);
        (Self { schemas, patterns }, names)
    }

    /// Returns `true` if the key parts of a row can depend on its `EntityType`.
    pub(crate) fn need_entity_type(&self) -> bool {
        self.patterns.need_entity_type()
    }

    /// Returns the key parts of a row. Returns `None` if the row matches no entity type, or if encoding the values of its parts does not reproduce its keys.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub(crate) fn parts(&self, entity: EntityRef<'_>) -> Result<Option<Parts>> {
        let Some(schema) = self.patterns.of(entity)?.copied().flatten() else { return Ok(None) };
        let values = self.schemas.get(schema).and_then(|stored| values(stored, entity));
        Ok(values.map(|values| Parts { schema, values }))
    }
}

/// Replaces the source of each key part with a label and returns the column names, indexed by label. Labels are numbers that start at 0.
///
/// Parts of the same field have the same label if they have the same codec. If a schema encodes a field in several ways, the lossless encoding is named after
/// the field. The others get a suffix, such as `id@bucket` for a bucket of `id`.
fn label(schemas: &mut [StoredSchema]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for schema in schemas {
        let own = names_of(schema);
        let parts =
            schema.partition_key.iter_mut().chain(&mut schema.row_key).filter_map(|piece| match piece {
                StoredPiece::Literal(_) => None,
                StoredPiece::Part { source, .. } => Some(source),
            });
        for (source, name) in parts.zip(own) {
            let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            *source = Source::Key(at.to_string());
        }
    }
    names
}

/// Returns the column names of a schema's key parts, in order.
fn names_of(schema: &StoredSchema) -> Vec<String> {
    let parts: Vec<(&str, &str)> =
        schema.partition_key.iter().chain(&schema.row_key).filter_map(part_of).collect();
    let name = |&(name, codec): &(&str, &str)| {
        let codecs = || parts.iter().filter(|(other, _)| *other == name).map(|(_, codec)| *codec);
        let is_whole = |codec: &&str| !DERIVED.iter().any(|derived| codec.starts_with(derived));
        if codecs().find(is_whole).or(codecs().next()) == Some(codec) {
            return name.to_owned();
        }
        let word = |codec: &str| codec.split('(').next().unwrap_or_default().to_owned();
        match codecs().any(|other| other != codec && word(other) == word(codec)) {
            true => format!("{name}@{codec}"),
            false => format!("{name}@{}", word(codec)),
        }
    };
    parts.iter().map(name).collect()
}

/// Returns the name and the codec of a key part, or `None` for a literal.
fn part_of(piece: &StoredPiece) -> Option<(&str, &str)> {
    match piece {
        StoredPiece::Literal(_) => None,
        StoredPiece::Part { source, codec, .. } => Some((keys::name_of(source), codec)),
    }
}

/// The key parts of one row.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The index of the row's schema.
    pub(crate) schema: usize,
    /// The label and the value of each part. Values are in their user-facing format.
    values: Vec<(String, String)>,
}

impl Parts {
    /// Returns the value of a part in its user-facing format.
    pub(crate) fn get(&self, label: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == label).map(|(_, value)| value.as_str())
    }
}

/// Returns the labels and values of a row's key parts. Returns `None` unless encoding the values reproduces the row's keys, because conditions on values are
/// converted to encoded keys.
fn values(schema: &StoredSchema, entity: EntityRef<'_>) -> Option<Vec<(String, String)>> {
    let keys = [(&schema.partition_key, entity.partition_key), (&schema.row_key, entity.row_key)];
    let mut values: Vec<(String, String)> = Vec::new();
    for (pieces, key) in keys {
        let forms = pieces.iter().filter_map(|piece| match piece {
            StoredPiece::Literal(_) => None,
            StoredPiece::Part { form, .. } => Some(form),
        });
        for ((source, codec, encoded), form) in keys::parts(pieces, key)?.into_iter().zip(forms) {
            let value = keys::decode_text(&codec, &encoded);
            let is_value = match Kind::of_part(&codec, form) {
                Kind::Int64 => value.parse::<i64>().is_ok(),
                Kind::Nanos => ticks::read(&value).is_some(),
                _ => true,
            };
            is_value.then(|| values.push((keys::name_of(&source).to_owned(), value)))?;
        }
    }
    let value =
        |label: &str| values.iter().find(|(known, _)| known == label).map(|(_, value)| value.as_str());
    let are_written = keys.iter().all(|(pieces, key)| keys::row_range(pieces, value).single() == Some(key));
    are_written.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(key: &str) -> StoredSchema {
        format!("schema 1\nentity E\ntable T\n{key}").parse().unwrap()
    }

    #[test]
    fn parts_of_the_same_field_share_a_column_only_with_the_same_codec() {
        let id = "digits(6) 6 ordered [0-9]";
        for (key, names) in [
            (format!("PartitionKey id {id}\nRowKey id {id}\n"), vec!["id"]),
            (format!("PartitionKey id bucket(digits(6):6,16) 2 unordered [0-9]\nRowKey id {id}\n"), vec!["id@bucket", "id"]),
            ("PartitionKey id bucket(digits(6):6,16) 2 unordered [0-9]\nRowKey \"r\"\n".to_owned(), vec!["id"]),
            (
                "PartitionKey id bucket(text,16) 2 unordered [0-9]\nRowKey id bucket(text,3) 1 unordered [0-9]\nRowKey id text 0..512 ordered legal\n"
                    .to_owned(),
                vec!["id@bucket(text,16)", "id@bucket(text,3)", "id"],
            ),
            (format!("PartitionKey Id {id}\nRowKey id {id}\n"), vec!["Id", "id"]),
        ] {
            let mut schemas = [schema(&key)];
            assert_eq!(label(&mut schemas), names);
            let labels = schemas[0].partition_key.iter().chain(&schemas[0].row_key).filter_map(part_of);
            assert_eq!(labels.map(|(label, _)| label.parse::<usize>().unwrap()).max(), Some(names.len() - 1));
        }
    }
}
