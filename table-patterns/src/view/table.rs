//! The handle to a view, with the view's table, version and state.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Error, Result, Table};
use uuid::Uuid;

use crate::converge::{self, upsert};
use crate::feed::Feed;
use crate::outbox::keys::hash;
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::follower::Follower;
use crate::view::record;
use crate::view::state_row::StateRow;

/// The time, in ticks, for which the result of a state or version check is reused: ten seconds.
const KNOWN_TICKS: u64 = 100_000_000;
/// The default period after which a follower's lease expires.
const LEASE: Duration = Duration::from_secs(30);
/// The maximum length of a table name (TBL-1).
const NAME: usize = 63;
/// A ready version is recorded in the tables of this many preceding versions, and always in the first version's table.
const EARLIER: u32 = 16;
/// The default for the number of entities in one partition that may be set aside. Beyond this number, the view stops following the partition.
const POISON_LIMIT: usize = 1_000;

/// A handle to a view; see [the pattern](crate::view). Clones share their state.
pub struct ViewTable<V: View, S> {
    pub(super) source: Table<V::Source, S>,
    pub(super) rows: Table<V::Row, S>,
    /// The table of the view's first version. Its state row records the latest version, as do the state rows of the later versions' tables.
    first: Table<V::Row, S>,
    pub(super) feed: Feed<S>,
    pub(super) retry: Retry,
    pub(super) lease: Duration,
    pub(super) poison_limit: usize,
    pub(super) memory: Arc<Memory>,
}

/// The state shared by the clones of a handle.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The time, in ticks, at which a check last found the view ready; 0 if no check has. The result is reused only for a short time, because a view whose
    /// table is deleted and recreated is no longer ready.
    ready: AtomicU64,
    /// The time, in ticks, at which a check last found that no later version of the view is ready; 0 if no check has.
    current: AtomicU64,
    pub(super) follower: Follower,
}

/// The state of a view.
///
/// ```
/// use table_patterns::view::ViewState;
///
/// /// Returns `true` if a page that shows the view can be displayed.
/// fn may_be_shown(state: ViewState) -> bool {
///     state == ViewState::Ready
/// }
/// assert!(!may_be_shown(ViewState::Building));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewState {
    /// The view is not built: it may lack the rows of entities older than the view.
    Building,
    /// The view is complete, except for changes that have not been applied yet.
    Ready,
}

impl<V: View, S: TableStore + Clone> ViewTable<V, S> {
    /// Creates a handle to a view. The table names are taken from the schemas of the source type and the row type. The second and later
    /// [versions](View::VERSION) of a view have separate tables.
    #[must_use]
    pub fn new(store: S) -> Self {
        let first = store.table::<V::Row>();
        let rows = match first.name().and_then(|first| later(first, V::VERSION)) {
            Ok(name) if V::VERSION > 1 => Table::new(store.clone(), name),
            // If the name is invalid, every later call returns the error.
            _ => first.clone(),
        };
        Self {
            source: store.table(),
            rows,
            first,
            feed: Feed::new(store),
            retry: Retry::default(),
            lease: LEASE,
            poison_limit: POISON_LIMIT,
            memory: Arc::default(),
        }
    }

    /// Creates the view's table if it does not exist. A new view is [building](ViewState::Building).
    ///
    /// # Errors
    /// `SchemaMismatch` if the table's rows belong to a view with a different [name](View::name); any error from [`Table::create_if_missing`].
    pub async fn create_if_missing(self) -> Result<Self> {
        self.rows.clone().create_if_missing().await?;
        let (key, building) = (record::state_key()?, StateRow::new(V::name()));
        self.submit(&key.partition_key, vec![(key.row_key, OperationKind::Insert(building.row()))]).await?;
        let (StateRow { name: owner, .. }, _) = self.read_state().await?;
        if owner == V::name() {
            return Ok(self);
        }
        let fault = ViewFault::OtherOwner { owner, name: V::name() };
        Err(Error::of(fault).with_table(self.rows.name()?.as_str()))
    }
}

impl<V: View, S> ViewTable<V, S> {
    /// Sets the feed handle through which the view follows its source's feeds.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        Self { feed, ..self }
    }

    /// Sets the retry policy for conflicts with other writers.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Sets the period after which the lease of a dead follower expires and another follower takes over; 30 seconds by default. If it is zero, followers
    /// ignore each other and may repeat work.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// Sets the number of entities in one partition that may be [set aside](Self::poison); 1,000 by default. If more entities are set aside,
    /// [`catch_up`](Self::catch_up) sets the partition aside and stops following it. To resume, correct the entities and call
    /// [`retry_poison`](Self::retry_poison). It continues to follow all other partitions. [`catch_up_partition`](Self::catch_up_partition) ignores the limit.
    #[must_use]
    pub fn with_poison_limit(self, poison_limit: usize) -> Self {
        Self { poison_limit, ..self }
    }

    /// Returns the feed handle through which the view follows its source's feeds.
    #[must_use]
    pub const fn feed(&self) -> &Feed<S> {
        &self.feed
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Returns the view's table, for reading. Checks at most once every ten seconds that the view is ready. A view whose table has been deleted and recreated
    /// is no longer ready.
    ///
    /// # Errors
    /// `IndexNotReady` if the view is building; run [`rebuild`](Self::rebuild).
    pub async fn table(&self) -> Result<&Table<V::Row, S>> {
        if self.state().await? == ViewState::Building {
            return Err(Error::of(ViewFault::Building).with_table(V::Row::SCHEMA.table));
        }
        Ok(&self.rows)
    }

    /// Returns the state of the view: building or ready. Reads it from the store unless a recent check found the view ready.
    ///
    /// # Errors
    /// Any error from [`TableStore::get`].
    pub async fn state(&self) -> Result<ViewState> {
        let now = self.retry.runtime().now().max(1);
        let known = self.memory.ready.load(Ordering::Relaxed);
        if known > 0 && now.abs_diff(known) <= KNOWN_TICKS {
            return Ok(ViewState::Ready);
        }
        let (state, _) = self.read_state().await?;
        self.memory.ready.store(if state.ready { now } else { 0 }, Ordering::Relaxed);
        Ok(if state.ready { ViewState::Ready } else { ViewState::Building })
    }

    /// Reads the view's state row, with its version.
    pub(super) async fn read_state(&self) -> Result<(StateRow, Option<ETag>)> {
        self.read_state_in(self.rows.name()?).await
    }

    async fn read_state_in(&self, table: &TableName) -> Result<(StateRow, Option<ETag>)> {
        match self.rows.store().get(table, &record::state_key()?, &Select::All).await? {
            Some(found) => Ok((StateRow::read(found.row.view())?, Some(found.etag))),
            None => Ok((StateRow { id: Uuid::nil(), ..StateRow::new(V::name()) }, None)),
        }
    }

    /// Marks the view as ready, unless its state has changed since it was read. Returns `true` if the view was marked.
    pub(super) async fn set_ready(&self, state: StateRow, etag: Option<ETag>) -> Result<bool> {
        let (key, ready) = (record::state_key()?, StateRow { ready: true, ..state });
        self.submit(&key.partition_key, vec![(key.row_key, upsert(ready.row(), etag))]).await
    }

    /// Records that this version is ready: first in the tables of earlier versions, if they exist, and then in this version's table. Idempotent.
    pub(super) async fn supersede(&self) -> Result<()> {
        if V::VERSION <= 1 {
            return Ok(());
        }
        let first = self.first.name()?;
        for version in V::VERSION.saturating_sub(EARLIER).max(2)..V::VERSION {
            self.record_latest(&later(first, version)?).await?;
        }
        self.record_latest(first).await?;
        // IMPORTANT: the table of this version is written last. Its record proves that the tables of earlier versions have been written.
        self.record_latest(self.rows.name()?).await
    }

    /// Records in one version's table that this version is ready. Does nothing if that table does not exist.
    async fn record_latest(&self, table: &TableName) -> Result<()> {
        loop {
            let (state, etag) = match self.read_state_in(table).await {
                Err(error) if error.is_table_not_found() => return Ok(()),
                found => found?,
            };
            if state.latest >= V::VERSION || etag.is_none() {
                return Ok(());
            }
            let key = record::state_key()?;
            let write = [(key.row_key, upsert(StateRow { latest: V::VERSION, ..state }.row(), etag))];
            let submitted = converge::submit(self.rows.store(), table, &key.partition_key, write).await;
            if converge::is_won(submitted)? {
                return Ok(());
            }
        }
    }

    /// Returns an error if a later version of the view is ready. Reads the state rows at most about once every ten seconds. This includes the state row in the
    /// first version's table, which records every later version. That table may have been deleted.
    pub(super) async fn check_version(&self) -> Result<()> {
        let now = self.retry.runtime().now().max(1);
        let known = self.memory.current.load(Ordering::Relaxed);
        if known > 0 && now.abs_diff(known) <= KNOWN_TICKS {
            return Ok(());
        }
        let first = match self.read_state_in(self.first.name()?).await {
            Err(error) if error.is_table_not_found() => None,
            found => Some(found?.0),
        };
        let own = if V::VERSION > 1 { Some(self.read_state().await?.0) } else { None };
        let latest = [&first, &own].into_iter().flatten().map(|state| state.latest).max().unwrap_or(0);
        if latest > V::VERSION {
            let fault = ViewFault::Superseded { version: V::VERSION, latest };
            return Err(Error::of(fault).with_table(self.first.name()?.as_str()));
        }
        // The process that built this version may have died before it recorded that the version is ready.
        if own.is_some_and(|own| own.ready && own.latest < V::VERSION) {
            self.supersede().await?;
        }
        self.memory.current.store(now, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns the table name for a later version of a view: the first table's name, followed by `v` and the version. If this name would be too long, a
/// hash replaces the end of the first table's name.
fn later(first: &TableName, version: u32) -> Result<TableName> {
    let (name, end) = (first.as_str(), format!("v{version}"));
    if name.len() + end.len() <= NAME {
        return TableName::new(&[name, &end].concat());
    }
    let end = format!("{:016x}{end}", hash(first.folded().bytes()));
    let front = name.get(..NAME.saturating_sub(end.len())).unwrap_or(name);
    TableName::new(&[front, &end].concat())
}

clone_fields!([V: View, S: Clone] ViewTable[V, S] { source, rows, first, feed, retry, lease, poison_limit, memory });

debug_fields!([V: View, S: fmt::Debug] ViewTable[V, S] { source, rows, .. });
