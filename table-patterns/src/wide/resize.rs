//! Migration of entities that were written with a different number of parts.

use table_core::operation::OperationKind;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::wide::fault::WideFault;
use crate::wide::fetch::fetch;
use crate::wide::{MOST_PARTS, Wide, WideTable, WideVersion};

impl<W: Wide, S: TableStore> WideTable<W, S> {
    /// Converts an entity from the number of parts in `stored` to the declared number, in one transaction. Returns `false` if the entity already has
    /// the declared number. An interrupted run can simply be repeated.
    ///
    /// The caller must state the stored number of parts, because a lost part must not be mistaken for a part that was never declared (PAT-WIDE-4).
    /// A property that the entity lacks is read as `None`, or is an error, depending on its type.
    /// A property that is no longer declared is removed, as by [`replace`](Self::replace).
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `EntityMismatch` if the number of parts is neither `stored` nor the declared
    ///   number, or if the parts belong to different writes (PAT-WIDE-4).
    /// - `InvalidInput` if `stored` is 0 or above 99.
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    /// - Any error from [`Wide::read`] or [`insert`](Self::insert).
    ///
    /// ```
    /// use table_patterns::embedded::Engine;
    /// use table_patterns::wide::{Wide, WideStore};
    ///
    /// #[derive(Wide)]
    /// #[entity(table = "Counts")]
    /// #[partition_key(employee)]
    /// #[row_key(year)]
    /// struct Year { employee: u32, year: u16, #[slots("Day", 1..=200)] days: Vec<Option<i32>> }
    ///
    /// /// The same entities after hours were added.
    /// #[derive(Wide)]
    /// #[entity(table = "Counts")]
    /// #[partition_key(employee)]
    /// #[row_key(year)]
    /// struct YearOfHours {
    ///     employee: u32,
    ///     year: u16,
    ///     #[slots("Day", 1..=200)]
    ///     days: Vec<Option<i32>>,
    ///     #[part(2)]
    ///     #[slots("Hour", 0..=23)]
    ///     hours: Vec<Option<i64>>,
    /// }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let old = store.wide::<Year>().create_if_missing().await?;
    /// old.insert(&Year { employee: 123, year: 2014, days: vec![Some(7); 200] }).await?;
    ///
    /// let new = store.wide::<YearOfHours>();
    /// let key = || YearOfHours::key(123, 2014);
    /// assert!(new.get(key()).await.is_err()); // its second part is missing
    /// assert!(new.resize(key(), 1).await?);
    /// assert!(!new.resize(key(), 1).await?); // done before
    /// let (year, _) = new.get(key()).await?.expect("just there");
    /// assert_eq!((year.days[0], year.hours[0]), (Some(7), None));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn resize(&self, key: Selection<W::Header, Point>, stored: usize) -> Result<bool> {
        let key = key.into_key()?;
        if !(1..=MOST_PARTS).contains(&stored) {
            let fault = WideFault::Parts { parts: stored, most: MOST_PARTS };
            return Err(self.in_place(Error::of(fault), &key));
        }
        let mut race = self.retry.start("the wide entity");
        loop {
            let found = match fetch(self.table.store(), self.table.name()?, &key, stored, &self.retry).await {
                Ok(Some(found)) => found,
                Ok(None) => {
                    return Err(self.in_place(Error::of(WideFault::NothingToResize), &key));
                }
                // The entity may already be converted. If it is not, the first error is the most informative.
                Err(error) if error.rule() == Some("PAT-WIDE-4") => {
                    return match self.read(&key).await {
                        Ok(Some(_)) => Ok(false),
                        Err(other) if other.rule() != Some("PAT-WIDE-4") => Err(other),
                        _ => Err(error),
                    };
                }
                Err(error) => return Err(error),
            };
            if stored == W::PARTS.len() {
                return Ok(false);
            }
            let version = WideVersion(found.etags);
            let (_, rows) = self.rows(&self.decode(&key, &found.rows)?)?;
            let written = rows.into_iter().enumerate().map(|(part, row)| {
                let kind = if part < stored {
                    OperationKind::Replace(row, version.of(part)?)
                } else {
                    OperationKind::Insert(row)
                };
                Ok((part, kind))
            });
            let gone =
                (W::PARTS.len()..stored).map(|part| Ok((part, OperationKind::Delete(version.of(part)?))));
            match self.submit(&key, written.chain(gone).collect::<Result<Vec<_>>>()?).await {
                Ok(_) => return Ok(true),
                // Another writer committed first: it changed a part, deleted the entity, or converted it.
                Err(error) if error.is_conflict() => race.retry(self.in_place(error, &key)).await?,
                Err(error) => return Err(error),
            }
        }
    }
}
