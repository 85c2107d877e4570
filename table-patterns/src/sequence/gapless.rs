//! Numbers without gaps, taken by the unit that uses them.

use std::fmt;
use std::ops::Range;

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::RowKey;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;

use crate::entities::{Entities, NoOutbox, StepRecorder};
use crate::sequence::row;
use crate::unit::{Unit, partition_key};

/// A sequence without gaps: a number is taken in the transaction that uses it, or not at all. See [the module](crate::sequence) for its price.
pub struct GaplessSequence<E, S, O = NoOutbox> {
    entities: Entities<E, S, O>,
    row_key: RowKey,
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> GaplessSequence<E, S, O> {
    /// The sequence of this name in each partition of the entities.
    ///
    /// # Errors
    /// `InvalidInput` for an empty name, `KeyEncoding`, `PropertyValueTooLarge` for one that is not part of a key.
    pub fn new(entities: &Entities<E, S, O>, name: &str) -> Result<Self> {
        Ok(Self { entities: entities.clone(), row_key: row::row_key(name)? })
    }

    /// Takes the next number of a partition and commits a unit that uses it. `uses` may be asked several times, with another number and
    /// an empty unit each time: where another writer takes the number first.
    ///
    /// # Errors
    /// Those of `uses` and of [committing](Unit::commit): the number is then free again. `UpdateConditionNotSatisfied` (CON-3) if others were faster in all
    /// attempts of the [policy](Entities::with_retry); `InvalidInput` if the number is more than an `N` holds, as the field that it is for. After an [ambiguous](table_core::Error::is_ambiguous) one look before trying again.
    pub async fn next<N: TryFrom<u64> + Copy>(
        &self,
        partition: Selection<E, Partition>,
        mut uses: impl FnMut(N, &mut Unit<S, O>) -> Result<()>,
    ) -> Result<N> {
        self.take(partition, 1, |numbers, unit| uses(numbers.start, unit)).await.map(|numbers| numbers.start)
    }

    /// Takes so many numbers at once, as [`next`](Self::next) takes one: for a unit that inserts several entities.
    ///
    /// # Errors
    /// Those of [`next`](Self::next); `InvalidInput` for no number at all.
    pub async fn take<N: TryFrom<u64> + Copy>(
        &self,
        partition: Selection<E, Partition>,
        count: u64,
        mut uses: impl FnMut(Range<N>, &mut Unit<S, O>) -> Result<()>,
    ) -> Result<Range<N>> {
        let partition_key = partition_key(partition)?;
        let (store, table) = (self.entities.table().store(), self.entities.table().name()?);
        let mut race = self.entities.retry().race("the sequence");
        let mut refused = None;
        loop {
            let mut unit = self.entities.unit_in(partition_key.clone())?;
            let place = (&partition_key, &self.row_key);
            let (numbers, operation) = row::take(store, table, place, count).await?;
            // A number that another writer took is found in its entity before it is in the row of the sequence: only that says whose fault it is.
            if let Some((before, error)) = refused.take() {
                if before == numbers {
                    return Err(error);
                }
                race.lost(error).await?;
                continue;
            }
            unit.add_rows("sequence", [operation])?;
            uses(row::fit(numbers.start)?..row::fit(numbers.end)?, &mut unit)?;
            match unit.commit().await {
                Ok(_) => return Ok(row::fit(numbers.start)?..row::fit(numbers.end)?),
                Err(error) if row::is_refused(&error) => refused = Some((numbers, error)),
                Err(error) => return Err(error),
            }
        }
    }
}

impl<E, S, O> fmt::Debug for GaplessSequence<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GaplessSequence").field("row_key", &self.row_key).finish_non_exhaustive()
    }
}
