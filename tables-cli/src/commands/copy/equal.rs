//! Detects rows whose rewritten keys are equal. A copy would keep only the last of these rows.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use table_core::{DynTableStore, EntityKey, FromEntity, TableEntity, TableName};

use crate::failure::{Failure, Result};
use crate::rows::{Pages, Selected};

/// The rows of a table, with a function that rewrites their keys.
pub(super) struct Rewritten<'a> {
    pub(super) source: &'a DynTableStore,
    pub(super) table: &'a TableName,
    pub(super) selected: Selected,
    /// Converts a row of the source to the row to write.
    pub(super) rewrite: &'a (dyn Fn(TableEntity) -> Result<TableEntity> + Sync),
}

impl Rewritten<'_> {
    /// Returns an error if several rows have the same new key. Reads the rows once, and keeps an eight-byte hash of each new key in memory. If two hashes are
    /// equal, reads the rows a second time.
    ///
    /// # Errors
    /// `Refused` if two rows have the same new key (the message names both rows), or if the key of a row cannot be rewritten. Any error from the store.
    pub(super) async fn refuse_equal_keys(&self) -> Result<()> {
        let hasher = RandomState::new();
        match self.first_equal(|key| hasher.hash_one(key)).await? {
            None => Ok(()),
            Some((key, [first, second])) => {
                let [key, first, second] = [key, first, second].map(|key| shown(&key));
                Err(Failure::Refused(format!(
                    "rows {first} and {second} of table {} have the same new key {key}; use patterns that keep their keys apart",
                    self.table
                )))
            }
        }
    }

    /// Returns a new key shared by several rows, together with the first two of those rows, or `None` if all new keys are distinct.
    async fn first_equal(
        &self,
        hash: impl Fn(&EntityKey) -> u64,
    ) -> Result<Option<(EntityKey, [EntityKey; 2])>> {
        let mut hashes = Vec::new();
        let mut pages = self.pages();
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                hashes.push(hash((self.rewrite)(TableEntity::from_entity(entity)?)?.key()));
            }
        }
        hashes.sort_unstable();
        let repeated: Vec<u64> =
            hashes.iter().zip(hashes.iter().skip(1)).filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
        if repeated.is_empty() {
            return Ok(None);
        }
        let mut rows = HashMap::new();
        let mut pages = self.pages();
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                let row = entity.key().clone();
                let key = (self.rewrite)(entity)?.key().clone();
                if repeated.binary_search(&hash(&key)).is_err() {
                    continue;
                }
                if let Some(first) = rows.insert(key.clone(), row.clone()) {
                    return Ok(Some((key, [first, row])));
                }
            }
        }
        Ok(None)
    }

    fn pages(&self) -> Pages<'_> {
        Pages::new(self.source, self.table, self.selected.clone())
    }
}

fn shown(EntityKey { partition_key, row_key }: &EntityKey) -> String {
    format!("('{partition_key}', '{row_key}')")
}

#[cfg(test)]
mod tests {
    use table_core::query::KeyRange;
    use table_core::{Engine, Query, TableStoreExt};

    use super::*;

    /// Checks 40 rows whose new row keys are their numbers modulo `modulus`. Returns the row keys of the first two rows with equal new keys.
    async fn first_equal(modulus: u32, hash: impl Fn(&EntityKey) -> u64) -> Option<[String; 2]> {
        let engine = DynTableStore::new(Engine::in_memory());
        let table = TableName::new("Things").unwrap();
        engine.create_table_if_missing(&table).await.unwrap();
        let handle = engine.untyped("Things").unwrap();
        for row in 0..40 {
            handle.insert(&TableEntity::new("p", format!("{row:02}")).unwrap()).await.unwrap();
        }
        let rewrite = |entity: TableEntity| {
            let row: u32 = entity.key().row_key.as_str().parse().unwrap();
            Ok(TableEntity::new("q", format!("{}", row % modulus)).unwrap())
        };
        let rows = Rewritten {
            source: &engine,
            table: &table,
            selected: Query::new(KeyRange::ALL).into(),
            rewrite: &rewrite,
        };
        let found = rows.first_equal(hash).await.unwrap();
        found.map(|(_, rows)| rows.map(|row| row.row_key.as_str().to_owned()))
    }

    #[tokio::test]
    async fn equal_keys_are_found_with_every_hash() {
        for modulus in [1, 2, 39, 40] {
            let expected = (modulus < 40).then(|| ["00".to_owned(), format!("{modulus:02}")]);
            let hasher = RandomState::new();
            assert_eq!(first_equal(modulus, |key| hasher.hash_one(key)).await, expected);
            assert_eq!(first_equal(modulus, |_| 7).await, expected, "all hashes are equal");
            assert_eq!(first_equal(modulus, |key| hasher.hash_one(key) % 8).await, expected);
        }
    }
}
