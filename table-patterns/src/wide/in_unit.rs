//! Wide entities in a unit of work. Their parts are written in the unit's transaction.

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;

use crate::entities::StepRecorder;
use crate::unit::UnitOfWork;
use crate::wide::check::check_parts;
use crate::wide::fetch::row_key;
use crate::wide::table::rows_of;
use crate::wide::{Wide, WideVersion};

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds operations for all parts of a wide entity to the unit, one per part. If `old` is `None`, they insert the parts. Otherwise, they replace the parts,
    /// provided that these still have the versions in `old`. The commit returns no version for a wide entity, so read the entity again before you replace it
    /// again.
    ///
    /// Declare indexes, feeds and copies on a separate entity in the same unit:
    ///
    /// ```
    /// # use table_patterns::EntityStore;
    /// # use table_patterns::wide::{Wide, WideStore};
    /// # use table_patterns::{Engine, Entity};
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Sites", feed)]
    /// #[partition_key(site)]
    /// #[row_key("meter_", number)]
    /// #[index(ByRoom, row_key("room_", room, "_", number))]
    /// struct Meter { site: String, #[digits(3)] number: u32, #[without('_')] room: String }
    ///
    /// #[derive(Wide, Clone, Debug, PartialEq)]
    /// #[entity(table = "Sites")]
    /// #[partition_key(site)]
    /// #[row_key("readings_", number)]
    /// struct Readings { site: String, #[digits(3)] number: u32, #[slots("Day", 1..=366)] days: Vec<Option<i32>> }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let (meters, readings) = (store.entities::<Meter>().create_if_missing().await?, store.wide::<Readings>());
    /// let mut unit = meters.unit(Meter::partition("Oslo"))?;
    /// unit.insert(&Meter { site: "Oslo".into(), number: 7, room: "attic".into() })?;
    /// unit.put_wide(None, &Readings { site: "Oslo".into(), number: 7, days: vec![Some(1); 366] })?;
    /// unit.commit().await?; // the meter, its index and its feed, and two parts of readings
    ///
    /// let found = meters.query(Meter::by_room("Oslo", "attic")).collect().await?;
    /// let (year, _) = readings.get(Readings::key("Oslo", found[0].number)).await?.expect("written with its meter");
    /// assert_eq!(year.days[365], Some(1));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert) for all parts together, or from [`WideTable::insert`](crate::wide::WideTable::insert).
    /// `InvalidInput` if `old` was read with a declaration that has a different number of parts (PAT-WIDE-2).
    /// After an error, the unit of work is unchanged.
    pub fn put_wide<W: Wide>(&mut self, old: Option<&WideVersion>, whole: &W) -> Result<&mut Self> {
        const { check_parts::<W>() }
        let (key, rows) = rows_of(whole)?;
        let kinds = match old {
            Some(version) => version.conditions::<W>().map(|conditions| {
                rows.into_iter().zip(conditions).map(|(row, of)| OperationKind::Replace(row, of)).collect()
            }),
            None => Ok(rows.into_iter().map(OperationKind::Insert).collect()),
        };
        self.put_parts::<W>(&key, kinds, old.is_some())
    }

    /// Adds operations that delete all parts of a wide entity, provided that they still have the versions in `version`.
    ///
    /// # Errors
    /// Any error from [`put_wide`](Self::put_wide).
    pub fn delete_wide<W: Wide>(
        &mut self,
        key: Selection<W::Header, Point>,
        version: &WideVersion,
    ) -> Result<&mut Self> {
        let conditions = version.conditions::<W>();
        let kinds = conditions.map(|conditions| conditions.into_iter().map(OperationKind::Delete).collect());
        self.put_parts::<W>(&key.into_key()?, kinds, false)
    }

    fn put_parts<W: Wide>(
        &mut self,
        key: &EntityKey,
        kinds: Result<Vec<OperationKind>>,
        is_whole: bool,
    ) -> Result<&mut Self> {
        let parts = kinds.and_then(|kinds| {
            let operation = |(part, kind)| Ok(Operation { row_key: row_key(key, part)?, kind });
            kinds.into_iter().enumerate().map(operation).collect::<Result<Vec<_>>>()
        });
        let parts = parts.map_err(|error| self.here(error, key))?;
        self.check_place::<W::Header>(key)?;
        self.add_rows(W::Header::SCHEMA.entity, parts)?;
        self.warn_if_dropped();
        Ok(self.admit_rows_of::<W::Header>(is_whole))
    }
}
