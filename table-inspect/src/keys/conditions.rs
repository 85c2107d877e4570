//! Conditions on key parts. They are checked for one key at a time.

use table_core::key::codec::Form;
use table_core::query::KeyRange;
use table_core::schema::{StoredPiece, StoredSchema};

use crate::error::Result;
use crate::keys::accepted::Accepted;
use crate::keys::label::labels;
use crate::keys::request::{PartRequest, key_range};
use crate::keys::split::split;

/// Conditions on the key parts of a schema.
///
/// ```
/// use table_core::schema::StoredSchema;
/// use table_inspect::keys::{PartConditions, PartRequest};
///
/// let schema: StoredSchema = "schema 1\nentity Person\ntable People\nPartitionKey name text 0..512 ordered legal\nRowKey \"_\"\n".parse()?;
/// let conditions = PartConditions::new(&schema, &[PartRequest::between("name", "a", "b")])?;
/// assert!(conditions.accept("ada", "_") && conditions.accept("b", "_") && !conditions.accept("bob", "_"));
/// # Ok::<(), table_inspect::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PartConditions {
    partition_key: Vec<StoredPiece>,
    row_key: Vec<StoredPiece>,
    keys: KeyRange,
    /// The encoded values that each condition accepts, with the index of the part and its form. The form describes the possible encodings.
    accepted: Vec<(usize, Form, Accepted)>,
}

impl PartConditions {
    /// Creates conditions on the key parts of a schema.
    ///
    /// # Errors
    /// Any error from [`key_range`].
    pub fn new(schema: &StoredSchema, requests: &[PartRequest]) -> Result<Self> {
        let keys = key_range(schema, requests)?;
        let (partition_key, row_key) = (schema.partition_key.clone(), schema.row_key.clone());
        let parts = partition_key.iter().chain(&row_key).filter_map(|piece| match piece {
            StoredPiece::Literal(_) => None,
            StoredPiece::Part { form, .. } => Some((piece, *form)),
        });
        let mut accepted = Vec::new();
        for (at, ((piece, form), label)) in parts.zip(labels(&partition_key, &row_key)).enumerate() {
            for request in requests.iter().filter(|request| request.is_on(&label)) {
                accepted.push((at, form, request.accepted(piece)?));
            }
        }
        Ok(Self { partition_key, row_key, keys, accepted })
    }

    /// Returns a range of all keys that satisfy the conditions. It may also contain other keys.
    #[must_use]
    pub const fn keys(&self) -> &KeyRange {
        &self.keys
    }

    /// Returns `true` if the keys match the schema and their parts satisfy all conditions.
    #[must_use]
    pub fn accept(&self, partition_key: &str, row_key: &str) -> bool {
        let parts = split(&self.partition_key, partition_key).zip(split(&self.row_key, row_key));
        parts.is_some_and(|(mut parts, of_row)| {
            parts.extend(of_row);
            let mut all = self.accepted.iter();
            all.all(|(at, form, accepted)| {
                parts.get(*at).is_some_and(|(.., text)| accepted.accepts(text, form))
            })
        })
    }
}
