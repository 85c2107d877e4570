//! Converts wide entities that were written with a different number of parts.

use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::{self, Row};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::wide::fault::WideFault;
use crate::wide::fetch::{Whole, fetch};
use crate::wide::table::undeclared;
use crate::wide::{MOST_PARTS, Wide, WideTable};

impl<W: Wide, S: TableStore> WideTable<W, S> {
    /// Converts an entity from `stored` parts to the declared number of parts, and moves each property to its declared part, in one transaction. Returns
    /// `false` if no conversion is needed. After an interruption, call this function again.
    ///
    /// The caller must state the stored number of parts. Otherwise, a lost part could be mistaken for one that was never declared (PAT-WIDE-4).
    /// - A missing property is read as `None` or is an error, depending on its type.
    /// - An undeclared property is kept, as in [`update`](Self::update). It stays in the part with the same number, or moves to the last part.
    /// - A slot that an earlier declaration stored with a different number of digits, such as `Day01`, is renamed to its declared name, `Day001`.
    /// - If two parts contain different values of a property, the value in the declared part is kept.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `EntityMismatch` if the number of parts is neither `stored` nor the declared number, or if the parts come from different writes (PAT-WIDE-4).
    /// - `InvalidInput` if `stored` is 0 or above 99.
    /// - `TooManyProperties` if a part has no room for the undeclared properties. Remove them with a program that declares them.
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
    /// /// The same entities after a later release has added hours.
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
    /// assert!(!new.resize(key(), 1).await?); // already converted
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
            let found = self.stored_in(&key, stored).await?;
            let (stored, properties) = (found.rows.len(), self.properties(&key, &found.rows)?);
            if stored == W::PARTS.len() && properties.is_placed() {
                return Ok(false);
            }
            let kept = undeclared::<W>(&properties);
            let whole = self.decode(&key, &found.rows, &properties.lenient())?;
            let (_, rows) = self.rows(&whole)?;
            let mut conditions = found.etags.into_iter().map(IfMatch::ETag);
            let write = |(row, kept): (Row, &Row)| {
                let row = row::merge(row.view(), kept.view())?;
                Ok(match conditions.next() {
                    Some(condition) => OperationKind::Replace(row, condition),
                    None => OperationKind::Insert(row),
                })
            };
            let written = rows.into_iter().zip(&kept).map(write).collect::<Result<Vec<_>>>()?;
            let gone = conditions.map(OperationKind::Delete);
            match self.submit(&key, false, written.into_iter().chain(gone).enumerate()).await {
                Ok(_) => return Ok(true),
                // Another writer committed first. It has changed a part, deleted the entity, or converted it.
                Err(error) if error.is_conflict() => race.retry(self.in_place(error, &key)).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads an entity that has `parts` parts. Also accepts the declared number of parts, in case the entity has already been converted.
    async fn stored_in(&self, key: &EntityKey, parts: usize) -> Result<Whole> {
        let (store, table) = (self.table.store(), self.table.name()?);
        match fetch(store, table, key, (parts, Select::All), &self.retry).await {
            Ok(found) => found.ok_or_else(|| self.in_place(Error::of(WideFault::NothingToResize), key)),
            // If the entity has not been converted, the first error is more informative.
            Err(error) if error.rule() == Some("PAT-WIDE-4") => {
                match fetch(store, table, key, (W::PARTS.len(), Select::All), &self.retry).await {
                    Ok(Some(found)) => Ok(found),
                    Err(other) if other.rule() != Some("PAT-WIDE-4") => Err(other),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }
}
