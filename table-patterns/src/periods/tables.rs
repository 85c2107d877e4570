//! The tables of an entity type with one table per period. They are created in advance, chosen by an entity's time, and dropped when they expire.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use table_core::__private::require_droppable;
use table_core::clock::Clock;
use table_core::etag::ETag;
use table_core::name::TableName;
use table_core::selection::{Class, IntoSelection};
use table_core::store::TableStore;
use table_core::table::LEASE;
use table_core::{Error, ErrorCode, Result, Table};

use crate::entities::Entities;
use crate::entity_store::has_remote;
use crate::periods::of_period::OfPeriod;
use crate::periods::{Period, PeriodQuery, Periodic};

/// The maximum number of table names per listing request.
const NAMES: usize = 1_000;
/// The longest time, in ticks, for which an opened table is assumed to exist. Equal to the [`LEASE`] of the table's stored schema.
const LEASE_TICKS: u64 = LEASE.as_secs() * 10_000_000;

/// The tables of entities of type `E`, one for each period. See [the pattern](crate::periods).
///
/// By default, the 30 periods before the current one are retained, and the current and the next period can be written.
pub struct PeriodTables<E, S> {
    store: S,
    clock: Clock,
    retain: u16,
    precreate: u16,
    keeping: Option<Keeping<E, S>>,
    opened: Arc<Mutex<Handles<E, S>>>,
}

/// A function that configures the handle of each table.
type Keeping<E, S> = Arc<dyn Fn(Entities<E, S>) -> Entities<E, S> + Send + Sync>;

/// An opened table.
struct Opened<E, S> {
    handle: Entities<E, S>,
    /// The time when the table was last known to exist.
    checked: u64,
}

clone_fields!([E, S: Clone] Opened[E, S] { handle, checked });

/// The opened tables, by name.
type Handles<E, S> = HashMap<TableName, Opened<E, S>>;

impl<E, S> PeriodTables<E, S> {
    /// Creates a handle to the tables of an entity type in a store. Sends no request.
    // The trait bound is on the function, because rustc shows the custom error message only for a bound on a function, and not for one on an `impl`.
    #[must_use]
    pub fn new(store: S) -> Self
    where
        E: Periodic,
    {
        const { require_droppable(E::SCHEMA, has_remote(E::SCHEMA.indexes), E::RELATIONS.is_some()) };
        Self {
            store,
            clock: Clock::default(),
            retain: 30,
            precreate: 1,
            keeping: None,
            opened: Arc::default(),
        }
    }
}

impl<E: Periodic, S> PeriodTables<E, S> {
    /// Sets a function that configures the handle of every table. For example, it can set a different [retry policy](crate::Entities::with_retry).
    ///
    /// To attach participants, use [`with_participant`](crate::EntityStore::with_participant) on the store.
    #[must_use]
    pub fn with_handles(
        self,
        keeping: impl Fn(Entities<E, S>) -> Entities<E, S> + Send + Sync + 'static,
    ) -> Self {
        Self { keeping: Some(Arc::new(keeping)), opened: Arc::default(), ..self }
    }

    /// Sets the number of periods before the current one that are retained.
    #[must_use]
    pub fn retain(self, periods: u16) -> Self {
        Self { retain: periods, ..self }
    }

    /// Sets the number of periods after the current one that can already be written. [`prepare`](Self::prepare) creates their tables (PAT-HVD-5).
    #[must_use]
    pub fn precreate(self, periods: u16) -> Self {
        Self { precreate: periods, ..self }
    }

    /// Sets the clock that determines the current period.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.instant()
    }

    /// Returns the start of the first retained period.
    #[must_use]
    pub fn first(&self) -> DateTime<Utc> {
        self.first_at(self.now())
    }

    /// Returns the start of the first period that is retained at the time `now`.
    fn first_at(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        E::PERIOD.offset(now, -i32::from(self.retain)).unwrap_or(DateTime::<Utc>::MIN_UTC)
    }

    /// Returns the start of the last writable period.
    #[must_use]
    pub fn last(&self) -> DateTime<Utc> {
        self.last_at(self.now())
    }

    /// Returns the start of the last period that can be written at the time `now`.
    fn last_at(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        E::PERIOD.offset(now, i32::from(self.precreate)).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// Returns the name of the table of the period that contains `instant` (PAT-HVD-4).
    ///
    /// # Errors
    /// `OutOfRangeInput` if the period is no longer retained, or is too far in the future.
    pub fn name_of(&self, instant: DateTime<Utc>) -> Result<TableName> {
        self.name_at(self.now(), instant)
    }

    /// Returns the name of the table of the period that contains `instant`. The period must be retained or writable at the time `now`.
    fn name_at(&self, now: DateTime<Utc>, instant: DateTime<Utc>) -> Result<TableName> {
        let (start, first, last) = (E::PERIOD.start(instant), self.first_at(now), self.last_at(now));
        if let Some(suffix) = E::PERIOD.suffix(start).filter(|_| (first..=last).contains(&start)) {
            return TableName::new(&format!("{}{suffix}", E::SCHEMA.table));
        }
        let message = format!(
            "{instant} is outside the kept periods, which begin from {first} to {last}; keep more periods or skip the entity"
        );
        let error = Error::new(ErrorCode::OutOfRangeInput, message).with_rule("PAT-HVD-4");
        Err(error.with_table(E::SCHEMA.table))
    }
}

impl<E: Periodic, S: TableStore + Clone + 'static> PeriodTables<E, S> {
    /// Returns the table of the period that contains `instant`. Sends no request, so the table may not exist yet. The table is not opened: no schema is stored
    /// or compared, or checked before a write.
    ///
    /// Use it for reads, and in programs that cannot access the stored schemas. For all other writes, use [`entities_of`](Self::entities_of) or
    /// [`insert`](Self::insert). They store the schema, which tells a later release that this program writes.
    ///
    /// # Errors
    /// Any error from [`name_of`](Self::name_of).
    pub fn table_of(&self, instant: DateTime<Utc>) -> Result<Table<E, S>> {
        Ok(Table::new(self.store.clone(), self.name_of(instant)?))
    }

    /// Returns the handle to the table of the period that contains `instant`. The handle accepts only entities of this period, and maintains everything that
    /// the struct declares.
    ///
    /// The first call for a table creates the table if it is missing, and compares the stored schema. Later calls return the same handle. If the last call was
    /// more than [five seconds](LEASE) ago, a call first sends one request, to check that no other process has dropped the table.
    ///
    /// ```
    /// # use chrono::{DateTime, Utc};
    /// # use table_patterns::periods::{Period, PeriodTables, Periodic};
    /// # use table_patterns::{Engine, Entity, ticks};
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Scans", feed)]
    /// #[partition_key(depot)]
    /// #[row_key("at_", at)]
    /// #[index(ByParcel, row_key("parcel_", parcel, "_", at))]
    /// struct Scan { depot: String, at: DateTime<Utc>, #[digits(6)] parcel: u32 }
    ///
    /// impl Periodic for Scan {
    ///     const PERIOD: Period = Period::Day;
    ///     fn instant(&self) -> DateTime<Utc> { self.at }
    /// }
    ///
    /// # pollster::block_on(async {
    /// let scans = PeriodTables::<Scan, _>::new(Engine::in_memory());
    /// let scan = Scan { depot: "Oslo".into(), at: ticks::now(), parcel: 7 };
    /// scans.insert(&scan).await?;
    ///
    /// let today = scans.entities_of(scan.at).await?;
    /// assert_eq!(today.query(Scan::by_parcel("Oslo", 7)).collect().await?, [scan]);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from [`name_of`](Self::name_of) or [`Entities::create_if_missing`].
    pub async fn entities_of(&self, instant: DateTime<Utc>) -> Result<Entities<E, S>> {
        let name = self.name_of(instant)?;
        let known = self.opened().get(&name).cloned();
        if let Some(Opened { handle, checked }) = known {
            let now = self.clock.now();
            if now.abs_diff(checked) <= LEASE_TICKS {
                return Ok(handle);
            }
            if self.exists(&name).await? {
                if let Some(known) = self.opened().get_mut(&name) {
                    known.checked = now;
                }
                return Ok(handle);
            }
        }
        self.open_period(name, instant).await
    }

    /// Opens the table `name` of the period that contains `instant`, and remembers its handle.
    async fn open_period(&self, name: TableName, instant: DateTime<Utc>) -> Result<Entities<E, S>> {
        let handle = self.handle(name.clone(), instant).create_if_missing().await?;
        self.keep(name, &handle);
        Ok(handle)
    }

    /// Returns `true` if a table exists.
    async fn exists(&self, name: &TableName) -> Result<bool> {
        let page = self.store.list_tables(name.as_str(), None, NAMES).await?;
        Ok(page.names.iter().any(|found| found.folded() == name.folded()))
    }

    /// Remembers the handle to an opened table. Removes the handles for periods that are no longer retained, because another process may have dropped their
    /// tables.
    fn keep(&self, name: TableName, handle: &Entities<E, S>) {
        let (first, checked, mut opened) = (self.first(), self.clock.now(), self.opened());
        opened.retain(|name, _| Self::start_of(name).is_some_and(|start| start >= first));
        opened.insert(name, Opened { handle: handle.clone(), checked });
    }

    /// Forgets the handle to a dropped table.
    pub(super) fn forget_handle(&self, name: &TableName) {
        self.opened().remove(name);
    }

    /// Creates the handle to the table `name`, for the period that contains `instant`.
    fn handle(&self, name: TableName, instant: DateTime<Utc>) -> Entities<E, S> {
        let handle: Entities<E, S> = Table::new(self.store.clone(), name).into();
        let handle = handle.with_contributor(OfPeriod { start: E::PERIOD.start(instant) });
        match &self.keeping {
            Some(keeping) => keeping(handle),
            None => handle,
        }
    }

    #[cfg(test)]
    pub(super) fn opened_tables(&self) -> usize {
        self.opened().len()
    }

    fn opened(&self) -> MutexGuard<'_, Handles<E, S>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the missing tables of the current period and of the periods after it that can be written. Stores their schemas. Returns the number of created
    /// tables (PAT-HVD-5).
    ///
    /// # Errors
    /// Any error from [`entities_of`](Self::entities_of). Tables created before the error remain.
    pub async fn prepare(&self) -> Result<usize> {
        // The time is read once: a period may end during this call, and the first period may then no longer be retained.
        let (now, mut made) = (self.now(), 0);
        for period in 0..=i32::from(self.precreate) {
            let Some(start) = E::PERIOD.offset(now, period) else { continue };
            let name = self.name_at(now, start)?;
            let (handle, is_new) = self.handle(name.clone(), start).create_or_open().await?;
            made += usize::from(is_new);
            self.keep(name, &handle);
        }
        Ok(made)
    }

    /// Inserts an entity into the table of its period. Creates the table if it is missing.
    ///
    /// # Errors
    /// Any error from [`entities_of`](Self::entities_of) or [`Entities::insert`].
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let (name, instant) = (self.name_of(entity.instant())?, entity.instant());
        let known = self.opened().get(&name).map(|known| known.handle.clone());
        let handle = match known {
            Some(handle) => handle,
            None => self.open_period(name.clone(), instant).await?,
        };
        match handle.insert(entity).await {
            // Another process may have dropped the table after this process opened it.
            Err(error) if error.is_table_not_found() => {
                self.open_period(name, instant).await?.insert(entity).await
            }
            written => written,
        }
    }

    /// Creates a query for a selection in several periods, from the one that contains `from` to the one that contains `to`. The query merges the periods in key
    /// order (PAT-HVD-3).
    ///
    /// # Errors
    /// Any error from [`name_of`](Self::name_of) for either time. Expired periods cannot be read.
    pub fn query<C: Class>(
        &self,
        selection: impl IntoSelection<E, C>,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<PeriodQuery<E, S>> {
        let now = self.now();
        let last = self.name_at(now, to)?;
        let (mut names, mut start) = (vec![self.name_at(now, from)?], E::PERIOD.start(from));
        while names.last() != Some(&last) && start <= to {
            let Some(next) = E::PERIOD.offset(start, 1).filter(|next| *next <= to) else { break };
            names.push(self.name_at(now, next)?);
            start = next;
        }
        Ok(PeriodQuery::new(
            self.store.clone(),
            if from <= to { names } else { Vec::new() },
            selection.into_selection(),
        ))
    }

    /// Returns the existing tables, each with the start of its period, in chronological order.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn tables(&self) -> Result<Vec<(TableName, DateTime<Utc>)>> {
        let (base, mut found, mut from) = (E::SCHEMA.table, Vec::new(), None);
        loop {
            let page = self.store.list_tables(base, from.as_deref(), NAMES).await?;
            for name in page.names {
                // Other tables may have the same prefix. Only names with a valid suffix for this length of period are included.
                if let Some(start) = Self::start_of(&name) {
                    found.push((name, start));
                }
            }
            from = page.next;
            if from.is_none() {
                found.sort_by_key(|(_, start)| *start);
                return Ok(found);
            }
        }
    }

    /// Returns the start of a table's period. Returns `None` if the table does not belong to this entity type.
    pub(crate) fn start_of(table: &TableName) -> Option<DateTime<Utc>> {
        let (base, name) = (E::SCHEMA.table, table.as_str());
        let is_ours = name.get(..base.len()).is_some_and(|own| own.eq_ignore_ascii_case(base));
        E::PERIOD.parse(name.get(base.len()..).filter(|_| is_ours)?)
    }

    /// Creates the table of a period with its schema if it is missing, and returns its handle. This works even if the period is no longer retained.
    pub(crate) async fn open(&self, table: &TableName) -> Result<Entities<E, S>> {
        self.handle_to(table).create_if_missing().await
    }

    /// Creates the handle to a table, even if its period is no longer retained.
    pub(crate) fn handle_to(&self, table: &TableName) -> Entities<E, S> {
        self.handle(table.clone(), Self::start_of(table).unwrap_or(DateTime::<Utc>::MIN_UTC))
    }

    /// Returns the store that contains the tables.
    pub(crate) const fn store(&self) -> &S {
        &self.store
    }

    /// Returns the length of the period that one table covers.
    #[must_use]
    pub const fn period(&self) -> Period {
        E::PERIOD
    }
}

clone_fields!([E, S: Clone] PeriodTables[E, S] { store, clock, retain, precreate, keeping, opened });

debug_fields!([E, S: fmt::Debug] PeriodTables[E, S] { store, retain, precreate, .. });
