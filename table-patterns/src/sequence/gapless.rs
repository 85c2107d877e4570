//! Sequences without gaps. A number is allocated in the unit of work that uses it.

use std::ops::Range;

use table_core::entity::Entity;
use table_core::key::RowKey;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Entities, NoOutbox, StepRecorder};
use crate::sequence::row;
use crate::unit::{Committed, Decide, UnitOfWork, partition_key};

/// A sequence without gaps. A number is allocated only in the transaction that uses it. For the costs, see [the module](crate::sequence).
///
/// Clones refer to the same sequence.
pub struct GaplessSequence<E, S, O = NoOutbox> {
    entities: Entities<E, S, O>,
    row_key: RowKey,
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> GaplessSequence<E, S, O> {
    /// Creates a handle to the sequence with the given name. Each partition has its own sequence. Sends no request.
    ///
    /// # Errors
    /// `InvalidInput` if the name is empty. `KeyEncoding` or `PropertyValueTooLarge` if the name cannot be part of a key.
    pub fn new(entities: &Entities<E, S, O>, name: &str) -> Result<Self> {
        Ok(Self { entities: entities.clone(), row_key: row::row_key(name)? })
    }

    /// Allocates the next number in a partition, and commits a unit of work that uses it. Retries like [`transaction`](Entities::transaction): `uses` may be
    /// called several times, each time with an empty unit and possibly with a different number.
    ///
    /// # Errors
    /// - Any error from `uses` or from [`UnitOfWork::commit`]. The number is then available again.
    /// - `UpdateConditionNotSatisfied` (CON-3) if other writers committed first in all attempts allowed by the [policy](Entities::with_retry).
    /// - `InvalidInput` if the type `N` cannot represent the number.
    /// - `SchemaMismatch` if a different entity type has a sequence with this name in the partition.
    ///
    /// After an [ambiguous](table_core::Error::is_ambiguous) error, check whether the entity exists before retrying.
    pub async fn next<N: TryFrom<u64> + Copy>(
        &self,
        partition: Selection<E, Partition>,
        mut uses: impl FnMut(N, &mut UnitOfWork<S, O>) -> Result<()>,
    ) -> Result<N> {
        let uses = |numbers: Range<u64>, unit: &mut UnitOfWork<S, O>| {
            let number = row::convert(numbers.start).map_err(|error| self.here(unit, error))?;
            uses(number, unit).map(|()| number)
        };
        self.decide(partition, 1, uses).await
    }

    /// Allocates `count` consecutive numbers, for a unit of work that inserts several entities.
    ///
    /// # Errors
    /// `InvalidInput` if `count` is 0, or if the type `N` cannot represent the end of the range (the number after the last one); any error from
    /// [`next`](Self::next).
    pub async fn take<N: TryFrom<u64> + Copy>(
        &self,
        partition: Selection<E, Partition>,
        count: u64,
        mut uses: impl FnMut(Range<N>, &mut UnitOfWork<S, O>) -> Result<()>,
    ) -> Result<Range<N>> {
        let uses = |numbers: Range<u64>, unit: &mut UnitOfWork<S, O>| {
            let numbers = row::convert_all(numbers).map_err(|error| self.here(unit, error))?;
            uses(numbers.clone(), unit).map(|()| numbers)
        };
        self.decide(partition, count, uses).await
    }

    async fn decide<T>(
        &self,
        partition: Selection<E, Partition>,
        count: u64,
        uses: impl FnMut(Range<u64>, &mut UnitOfWork<S, O>) -> Result<T>,
    ) -> Result<T> {
        let take = Take { sequence: self, count, uses };
        self.entities.decide(partition_key(partition)?, take).await.map(Committed::into_value)
    }

    /// Allocates the next number in an existing unit. A unit can allocate numbers only once.
    ///
    /// # Errors
    /// - `InvalidInput` if the type `N` cannot represent the number, or if the unit writes to a different table than the sequence's handle (EGT-1).
    /// - `InvalidDuplicateRow` if the unit has already allocated numbers.
    /// - Any error from the store.
    pub async fn next_in<N: TryFrom<u64>>(&self, unit: &mut UnitOfWork<S, O>) -> Result<N> {
        self.numbers_in(unit, 1, |numbers| row::convert(numbers.start)).await
    }

    /// Allocates `count` consecutive numbers in an existing unit. A unit can allocate numbers only once.
    ///
    /// # Errors
    /// `InvalidInput` if `count` is 0, or if the type `N` cannot represent the end of the range (the number after the last one); any error from
    /// [`next_in`](Self::next_in).
    pub async fn take_in<N: TryFrom<u64>>(
        &self,
        unit: &mut UnitOfWork<S, O>,
        count: u64,
    ) -> Result<Range<N>> {
        self.numbers_in(unit, count, row::convert_all).await
    }

    /// Allocates numbers and passes them to `convert`. If `convert` fails, the unit stays unchanged.
    async fn numbers_in<T>(
        &self,
        unit: &mut UnitOfWork<S, O>,
        count: u64,
        convert: impl FnOnce(Range<u64>) -> Result<T>,
    ) -> Result<T> {
        // A sequence with the same name in a different table is a different sequence. Therefore, the unit's table is checked.
        let own = unit.check_table::<E>(self.entities.table().name()?.as_str());
        own.map_err(|error| self.here(unit, error))?;
        let found = unit.read_row(&self.row_key).await?;
        let (numbers, operation) = row::take(found, (&self.row_key, E::SCHEMA.entity), count)
            .map_err(|error| self.here(unit, error))?;
        let numbers = convert(numbers).map_err(|error| self.here(unit, error))?;
        unit.add_rows("sequence", [operation])?;
        unit.warn_if_dropped();
        Ok(numbers)
    }

    /// Adds the table and the key of the sequence's row to an error.
    fn here(&self, unit: &UnitOfWork<S, O>, error: Error) -> Error {
        self.entities.in_table(unit.at_row(error, &self.row_key))
    }

    /// Sets the next number in a partition, for example after an import. The smallest possible number is 1. Afterwards, the sequence belongs to this entity
    /// type, even if it belonged to another one before, for example because the type was renamed.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore};
    /// # use table_patterns::sequence::GaplessSequence;
    /// # #[derive(Entity)]
    /// # #[partition_key(tenant)]
    /// # #[row_key(number)]
    /// # struct Ticket { tenant: String, number: u32 }
    /// # pollster::block_on(async {
    /// let tickets = Engine::in_memory().entities::<Ticket>().create_if_missing().await?;
    /// let numbers = GaplessSequence::new(&tickets, "ticket")?;
    /// numbers.set(Ticket::partition("contoso"), 1_001).await?;
    /// let insert = |number, unit: &mut table_patterns::unit::UnitOfWork<_, _>| {
    ///     unit.insert(&Ticket { tenant: "contoso".into(), number }).map(drop)
    /// };
    /// assert_eq!(numbers.next(Ticket::partition("contoso"), insert).await?, 1_001);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `next` is 0 or above `i64::MAX`; any error from the store. If `next` is `i64::MAX`, the sequence has no more numbers.
    pub async fn set(&self, partition: Selection<E, Partition>, next: u64) -> Result<()> {
        let set = self
            .entities
            .decide(partition_key(partition)?, Set { of: (&self.row_key, E::SCHEMA.entity), next });
        set.await.map(drop).map_err(|error| self.entities.in_table(error))
    }
}

/// The transaction closure that allocates numbers and passes them to the caller's function.
struct Take<'a, E, S, O, U> {
    sequence: &'a GaplessSequence<E, S, O>,
    count: u64,
    uses: U,
}

impl<E, S, O, T, U> Decide<S, O, T, Error> for Take<'_, E, S, O, U>
where
    E: Entity,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
    U: FnMut(Range<u64>, &mut UnitOfWork<S, O>) -> Result<T>,
{
    async fn decide(&mut self, unit: &mut UnitOfWork<S, O>) -> Result<T> {
        let numbers = self.sequence.numbers_in(unit, self.count, Ok).await?;
        (self.uses)(numbers, unit)
    }
}

/// The transaction closure that sets the next number.
struct Set<'a> {
    of: (&'a RowKey, &'static str),
    next: u64,
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> Decide<S, O, (), Error> for Set<'_> {
    async fn decide(&mut self, unit: &mut UnitOfWork<S, O>) -> Result<()> {
        let found = unit.read_row(self.of.0).await?;
        unit.add_rows("sequence", [row::set(found, self.of, self.next)?]).map(drop)
    }
}

clone_fields!([E, S: Clone, O: Clone] GaplessSequence[E, S, O] { entities, row_key });

debug_fields!([E, S, O] GaplessSequence[E, S, O] { row_key, .. });
