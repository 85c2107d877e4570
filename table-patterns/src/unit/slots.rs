//! Series slots in a unit. Sets or increments single slots without writing the other slots. An increment requires that the row has not changed since it was
//! read.

use table_core::Result;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::property::Property;
use table_core::row::{self, Row};
use table_core::store::TableStore;

use crate::entities::{StepRecorder, read_as};
use crate::series::{Series, SlotNumber, add_to_slots, named_slots, only_slots, with_slots};
use crate::unit::UnitOfWork;

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds numbers to slots of a series, and returns the sums in order. An empty slot counts as zero. Only the given slots are written. If the row does not
    /// exist, inserts it with the properties of `entity`. Later calls for the same row build on the sums of earlier calls.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore, Error};
    /// # use table_patterns::series::Series;
    /// # use table_patterns::slot_names;
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Ledger")]
    /// #[partition_key(tenant)]
    /// #[row_key("balances_", page)]
    /// struct Balances { tenant: String, #[digits(4)] page: u32 }
    /// impl Series for Balances {
    ///     type Value = i64;
    ///     const SLOTS: &'static [&'static str] = slot_names!("Account", 0, 200);
    /// }
    ///
    /// # pollster::block_on(async {
    /// let balances = Engine::in_memory().entities::<Balances>().create_if_missing().await?;
    /// let page = Balances { tenant: "contoso".into(), page: 0 };
    /// let post = balances.transaction(Balances::partition("contoso"), async |unit| {
    ///     unit.increment(&page, &[(7, 100), (9, -100)]).await?;
    ///     Ok::<_, Error>(unit.increment(&page, &[(7, 5)]).await?)
    /// });
    /// assert_eq!(post.await?.into_value(), [105]);
    /// # Ok::<(), Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `OutOfRangeInput` if a slot does not exist, or the slot type cannot represent the sum; any error from [`get`](Self::get) or [`insert`](Self::insert).
    pub async fn increment<E: Series + Send + Sync>(
        &mut self,
        entity: &E,
        by: &[(usize, E::Value)],
    ) -> Result<Vec<E::Value>>
    where
        E::Value: SlotNumber,
    {
        let before = self.slots_before(entity).await?;
        let (slots, sums) = add_to_slots::<E>(before.as_ref(), by)?;
        self.write_slots(entity, &slots).await?;
        Ok(sums)
    }

    /// Sets slots of a series. Other slots stay unchanged. If the row does not exist, inserts it with the properties of `entity`.
    ///
    /// # Errors
    /// `OutOfRangeInput` if a slot does not exist; any error from [`get`](Self::get) or [`insert`](Self::insert).
    pub async fn set_slots<E: Series + Send + Sync>(
        &mut self,
        entity: &E,
        values: impl IntoIterator<Item = (usize, E::Value)>,
    ) -> Result<&mut Self> {
        let named = named_slots::<E>(values)?;
        self.write_slots(entity, &named).await?;
        Ok(self)
    }

    /// Returns the entity's key, after checking that the entity is in the unit's table and partition. The check is needed because slots are stored by `RowKey`
    /// only.
    ///
    /// # Errors
    /// Any error from [`check_place`](Self::check_place).
    fn slots_key<E: Series>(&self, entity: &E) -> Result<EntityKey> {
        let key = entity.key_of()?;
        self.check_place::<E>(&key)?;
        Ok(key)
    }

    /// Returns the stored row, with the slots that the unit has already changed.
    async fn slots_before<E: Series>(&mut self, entity: &E) -> Result<Option<Row>> {
        let key = self.slots_key(entity)?;
        match self.slots.get(&key.row_key) {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(self.read_row(&key.row_key).await?.map(|found| found.row)),
        }
    }

    async fn write_slots<E: Series + Send + Sync, V: Property>(
        &mut self,
        entity: &E,
        slots: &[(&str, V)],
    ) -> Result<()> {
        let key = self.slots_key(entity)?;
        let only = only_slots(slots)?;
        if let Some(known) = self.slots.get(&key.row_key) {
            let merged = row::merge(known.view(), only.view())?;
            self.draft.change_row(&key.row_key, &|known| row::merge(known.view(), only.view()))?;
            self.slots.insert(key.row_key, merged);
            return Ok(());
        }
        let found = self.read_row(&key.row_key).await?;
        let after = if let Some(found) = found {
            let after = row::merge(found.row.view(), only.view())?;
            let (old, new): (E, E) = (read_as(&key, &found.row)?, read_as(&key, &after)?);
            let if_match = IfMatch::ETag(found.etag);
            // Copies are computed from all stored properties, so a row with copies is replaced completely.
            let kind = if E::RELATIONS.is_some() {
                OperationKind::Replace(after.clone(), if_match)
            } else {
                OperationKind::Merge(only, if_match)
            };
            self.write("change of slots", key.clone(), kind, Some((&old, Some(&found.row))), Some(&new))?;
            after
        } else {
            let row = with_slots(entity, slots)?;
            self.write("insert", key.clone(), OperationKind::Insert(row.clone()), None, Some(entity))?;
            row
        };
        self.slots.insert(key.row_key, after);
        Ok(())
    }
}
