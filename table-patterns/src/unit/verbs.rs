//! The verbs of a unit: what is done to each entity, and on which condition.

use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::IfMatch;
use table_core::operation::OperationKind;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;

use crate::index::IndexOutbox;
use crate::outbox::Step;
use crate::series::{Series, SeriesRow};
use crate::unit::Unit;
use crate::unit::change::Change;
use crate::unit::fault::UnitFault;
use crate::unit::kept::Part;

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Adds an insert: the entity must not exist (INS-1).
    ///
    /// # Errors
    /// One operation, or byte, too many (EGT-2, EGT-3), a row that is in it already (EGT-4), another partition (EGT-5) or table (EGT-1), a
    /// value that is in it already (PAT-INTRA-5). The unit stays as it was.
    pub fn insert<E: Entity + Send + Sync>(&mut self, entity: &E) -> Result<&mut Self> {
        let kind = OperationKind::Insert(entity.to_row()?);
        self.write("insert", &entity.key_of()?, kind, None, Some(entity))
    }

    /// Adds a replace of an entity as it was read. Properties that `E` does not know are kept, as slots of a series; a field that is `None`
    /// is removed. Where one is, or copies are kept, the commit reads the entity.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert); `InvalidInput` if the two have different keys (UPD-6).
    pub fn replace<E: Entity + Send + Sync>(&mut self, old: &Versioned<E>, new: &E) -> Result<&mut Self> {
        let key = new.key_of()?;
        if old.key_of()? != key {
            return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
        }
        let (before, after) = (old.to_row()?, new.to_row()?);
        self.change(&key, Change { etag: old.etag(), old: (old.value(), before), new: (new, after) })
    }

    /// Adds a change of an entity as it was read, as [`replace`](Self::replace) does.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn update<E: Entity + Clone + Send + Sync>(
        &mut self,
        old: &Versioned<E>,
        change: impl FnOnce(&mut E),
    ) -> Result<&mut Self> {
        let mut new = old.value().clone();
        change(&mut new);
        self.replace(old, &new)
    }

    /// Adds what makes an entity be as given: an insert where none was read, a replace of what was.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn put<E: Entity + Send + Sync>(&mut self, old: Option<&Versioned<E>>, new: &E) -> Result<&mut Self> {
        match old {
            Some(old) => self.replace(old, new),
            None => self.insert(new),
        }
    }

    /// As [`put`](Self::put) of an entity that has slots: those that are empty here are empty afterwards.
    ///
    /// ```
    /// # use table_patterns::EntityStore;
    /// # use table_patterns::series::{self, Series, SeriesRow, SeriesTable};
    /// # use table_patterns::{Engine, Entity};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Counts", feed)]
    /// # #[partition_key(employee)]
    /// # #[row_key(day)]
    /// # struct Counts { employee: u32, #[digits(8)] day: u32 }
    /// # impl Series for Counts {
    /// #     type Value = i32;
    /// #     const SLOTS: &'static [&'static str] = series::HOURS;
    /// # }
    /// # pollster::block_on(async {
    /// let counts = Engine::in_memory().entities::<Counts>().create_if_missing().await?;
    /// let mut row = SeriesRow::new(Counts { employee: 123, day: 20140423 });
    /// *row.slot_mut(9)? = Some(42);
    /// let mut unit = counts.transaction(Counts::partition(123))?;
    /// unit.put_series(None, &row)?; // with whatever else is of this partition
    /// unit.commit().await?;
    /// let read = SeriesTable::new(counts).get(Counts::key(123, 20140423)).await?;
    /// assert_eq!(read.as_deref(), Some(&row));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub fn put_series<E: Send + Sync + Series>(
        &mut self,
        old: Option<&Versioned<SeriesRow<E>>>,
        new: &SeriesRow<E>,
    ) -> Result<&mut Self> {
        let (key, row) = (new.entity.key_of()?, new.to_row()?);
        let Some(old) = old else {
            return self.write("insert", &key, OperationKind::Insert(row), None, Some(&new.entity));
        };
        if old.entity.key_of()? != key {
            return Err(self.here(Error::of(UnitFault::KeyChanged), &key));
        }
        let (before, etag) = (old.to_row()?, old.etag());
        self.change(&key, Change { etag, old: (&old.entity, before), new: (&new.entity, row) })
    }

    /// Adds a delete of an entity as it was read (DEL-2).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn delete<E: Entity + Send + Sync>(&mut self, old: &Versioned<E>) -> Result<&mut Self> {
        let kind = OperationKind::Delete(IfMatch::ETag(old.etag().clone()));
        self.write("delete", &old.key_of()?, kind, Some(old.value()), None)
    }

    /// Adds the condition that an entity is there. It changes its version, and nothing else.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn require<E: Entity>(&mut self, key: Selection<E, Point>) -> Result<&mut Self> {
        self.condition::<E>(key.into_key()?, IfMatch::Any)
    }

    /// Adds the condition that an entity is as it was read. It changes its version, and nothing else.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn unchanged<E: Entity>(&mut self, read: &Versioned<E>) -> Result<&mut Self> {
        self.condition::<E>(read.key_of()?, IfMatch::ETag(read.etag().clone()))
    }

    /// Intends a step elsewhere, of the entity of a key: a worker takes it once the unit is committed (PAT-EC-8). It needs a handle with an outbox.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert). That two guarded steps of one entity have one target is an error when the unit is committed.
    pub fn send<E: Entity>(&mut self, of: Selection<E, Point>, step: Step) -> Result<&mut Self> {
        let key = of.into_key()?;
        self.check_place::<E>(&key)?;
        let mut batch = self.batch.clone();
        batch.intend(&key.row_key, vec![step.clone()]);
        self.take(batch, &key)?.parts.push(Part::Step(key.row_key, step));
        Ok(self)
    }
}
