//! Labels: the names of key parts in conditions and on pages. Only parts that determine the value of a field have the field's name.

use table_core::schema::{Source, StoredPiece, StoredSchema};

use crate::keys::name_of;

/// The name prefixes of lossy codecs. In a lossy codec, several values can have the same encoding.
const DERIVED: [&str; 6] = ["bucket(", "hash(", "truncate(", "folded(", "replaced(", "first("];

/// Returns `true` if the codec is lossy: several values can have the same encoding. For example, several users can have the same bucket.
#[must_use]
pub(crate) fn is_derived(codec: &str) -> bool {
    DERIVED.iter().any(|derived| codec.starts_with(derived))
}

/// Returns the labels for the parts of a `PartitionKey` and a `RowKey`, in order.
///
/// The first part that determines the value of a field has the field's name as its label. All parts of the field with the same codec have this label too. Other
/// parts of the field get a suffix. For example, a bucket of `id` has the label `id@bucket`.
#[must_use]
pub fn labels(partition_key: &[StoredPiece], row_key: &[StoredPiece]) -> Vec<String> {
    let parts: Vec<(&str, &str)> = partition_key.iter().chain(row_key).filter_map(part_of).collect();
    let label = |&(name, codec): &(&str, &str)| {
        let codecs = || parts.iter().filter(|(other, _)| *other == name).map(|(_, codec)| *codec);
        if codecs().find(|codec| !is_derived(codec)) == Some(codec) {
            return name.to_owned();
        }
        let word = |codec: &str| codec.split('(').next().unwrap_or_default().to_owned();
        let is_ambiguous = codecs().any(|other| other != codec && word(other) == word(codec));
        if is_ambiguous { format!("{name}@{codec}") } else { format!("{name}@{}", word(codec)) }
    };
    parts.iter().map(label).collect()
}

/// Returns a copy of the schema with each part's source replaced by its label.
pub(super) fn labelled(schema: &StoredSchema) -> StoredSchema {
    let mut labelled = schema.clone();
    let labels = labels(&schema.partition_key, &schema.row_key);
    let parts =
        labelled.partition_key.iter_mut().chain(&mut labelled.row_key).filter_map(|piece| match piece {
            StoredPiece::Literal(_) => None,
            StoredPiece::Part { source, .. } => Some(source),
        });
    for (source, label) in parts.zip(labels) {
        *source = Source::Key(label);
    }
    labelled
}

/// Returns the name and the codec of a part, or `None` if the piece is a literal.
fn part_of(piece: &StoredPiece) -> Option<(&str, &str)> {
    match piece {
        StoredPiece::Literal(_) => None,
        StoredPiece::Part { source, codec, .. } => Some((name_of(source), codec)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_field_is_the_label_of_a_part_that_determines_it() {
        let id = "digits(6) 6 ordered [0-9]";
        let bucket = "bucket(digits(6):6,16) 2 unordered [0-9]";
        for (key, labels_of_key) in [
            (format!("PartitionKey id {id}\nRowKey id {id}\n"), vec!["id", "id"]),
            (format!("PartitionKey id {bucket}\nRowKey id {id}\n"), vec!["id@bucket", "id"]),
            (format!("PartitionKey id {bucket}\nRowKey \"r\"\n"), vec!["id@bucket"]),
            (
                "PartitionKey id bucket(text,16) 2 unordered [0-9]\nRowKey id bucket(text,3) 1 unordered [0-9]\nRowKey id text 0..512 ordered legal\n"
                    .to_owned(),
                vec!["id@bucket(text,16)", "id@bucket(text,3)", "id"],
            ),
            (
                "PartitionKey at truncate(yyyyMM) 6 ordered [0-9]\nRowKey at desc(ticks) 19 ordered [0-9]\n".to_owned(),
                vec!["at@truncate", "at"],
            ),
            (format!("PartitionKey Id {id}\nRowKey id {id}\n"), vec!["Id", "id"]),
        ] {
            let schema: StoredSchema = format!("schema 1\nentity E\ntable T\n{key}").parse().unwrap();
            assert_eq!(labels(&schema.partition_key, &schema.row_key), labels_of_key);
        }
    }
}
