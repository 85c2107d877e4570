//! A unit's handles, one for each entity type.

use std::any::{Any, TypeId};
use std::sync::Arc;

use table_core::Table;
use table_core::entity::Entity;
use table_core::name::TableName;
use table_core::store::TableStore;

use crate::entities::{Entities, StepRecorder};
use crate::entity_store::handle;
use crate::feed::FeedRecorder;
use crate::index::Indexes;
use crate::unit::UnitOfWork;

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Uses `table` as the handle for entities of its type, for example because it has a different retry policy. Entities of a type without a handle are
    /// written with the patterns that are declared on the struct or attached by the store.
    pub fn with<E: Entity>(mut self, table: &Entities<E, S, O>) -> Self {
        self.use_handle(table);
        self
    }

    /// Does the same as [`with`](Self::with), but inside the closure of a [`transaction`](Entities::transaction). Call it before the first read or write of an
    /// entity of this type. With period tables, each further entity type needs its own handle:
    ///
    /// ```
    /// # use chrono::{DateTime, Utc};
    /// # use table_patterns::periods::{Period, PeriodTables, Periodic};
    /// # use table_patterns::{Engine, Entity, Error, ticks};
    /// #[derive(Entity, Clone)]
    /// #[entity(table = "Readings")]
    /// #[partition_key(device)]
    /// #[row_key("at_", at)]
    /// struct Reading { device: String, at: DateTime<Utc>, value: i32 }
    ///
    /// #[derive(Entity, Clone)]
    /// #[entity(table = "Readings")]
    /// #[partition_key(device)]
    /// #[row_key("day_", day)]
    /// struct Peak { device: String, day: DateTime<Utc>, value: i32 }
    /// # impl Periodic for Reading {
    /// #     const PERIOD: Period = Period::Day;
    /// #     fn instant(&self) -> DateTime<Utc> { self.at }
    /// # }
    /// # impl Periodic for Peak {
    /// #     const PERIOD: Period = Period::Day;
    /// #     fn instant(&self) -> DateTime<Utc> { self.day }
    /// # }
    ///
    /// # pollster::block_on(async {
    /// # let store = Engine::in_memory();
    /// let (readings, peaks) = (PeriodTables::<Reading, _>::new(store.clone()), PeriodTables::<Peak, _>::new(store));
    /// let reading = Reading { device: "d7".into(), at: ticks::now(), value: 21 };
    /// let day = Period::Day.start(reading.at);
    /// let (readings, peaks) = (readings.entities_of(reading.at).await?, peaks.entities_of(reading.at).await?);
    /// let record = readings.transaction(Reading::partition("d7"), async |unit| {
    ///     unit.use_handle(&peaks).insert(&reading)?;
    ///     let known = unit.get(Peak::key("d7", day)).await?;
    ///     let value = known.as_ref().map_or(reading.value, |peak| peak.value.max(reading.value));
    ///     unit.save(known.as_ref(), &Peak { device: "d7".into(), day, value })?;
    ///     Ok::<_, Error>(())
    /// });
    /// record.await?;
    /// assert_eq!(peaks.get(Peak::key("d7", day)).await?.map(|peak| peak.value), Some(21));
    /// # Ok::<(), Error>(())
    /// # }).unwrap();
    /// ```
    pub fn use_handle<E: Entity>(&mut self, table: &Entities<E, S, O>) -> &mut Self {
        self.handles.insert(TypeId::of::<E>(), Arc::new(table.clone()));
        self
    }

    /// Returns the handle for an entity type.
    pub(super) fn handle<E: Entity + Send + Sync>(&mut self) -> Arc<Entities<E, S, O>> {
        let known = self.handles.get(&TypeId::of::<E>()).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return known;
        }
        let table = Table::of(self.store.clone()).watched(&self.watch);
        let handle = handle(table, self.outbox.clone())
            .with_retry(self.retry.clone())
            .with_contributor(FeedRecorder::new(self.feed.clone(), E::FEED))
            .with_contributor(Indexes { blobs: self.indexes.blobs.clone(), ..Indexes::of::<E>() });
        let handle = Arc::new(handle);
        self.handles.insert(TypeId::of::<E>(), Arc::clone(&handle) as Arc<dyn Any + Send + Sync>);
        handle
    }

    /// Returns the name of the table for an entity type. With period tables, the handle's table differs from the table in the schema.
    pub(super) fn table_of<E: Entity>(&self) -> &str {
        let known = self.handles.get(&TypeId::of::<E>());
        let handle = known.and_then(|handle| handle.downcast_ref::<Entities<E, S, O>>());
        let name = handle.and_then(|handle| handle.table().name().ok());
        name.map_or(E::SCHEMA.table, TableName::as_str)
    }
}
