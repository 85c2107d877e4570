//! Handle on a view: following the feeds, and its lag.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::Table;
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::operation::OperationKind;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use uuid::Uuid;

use crate::converge::upsert;
use crate::feed::Feed;
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::follow::Following;
use crate::view::record;
use crate::view::standing::Standing;

/// How long a view that was ready is taken to be so: ten seconds.
const KNOWN_TICKS: u64 = 100_000_000;

/// The rows of a view and what keeps them: see [the pattern](crate::view). Cheap to clone.
pub struct ViewTable<V: View, S> {
    pub(super) source: Table<V::Source, S>,
    pub(super) rows: Table<V::Row, S>,
    pub(super) feed: Feed<S>,
    pub(super) retry: Retry,
    pub(super) memory: Arc<Memory>,
}

/// State that clones share.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The instant of the last check that found the view ready, in ticks; 0 if none did. A table that was deleted and created again is building.
    ready: AtomicU64,
    pub(super) following: Following,
}

/// Whether a view can be read.
///
/// ```
/// use table_patterns::view::ViewState;
///
/// /// Whether a page that reads the view can be shown.
/// fn may_be_shown(state: ViewState) -> bool {
///     state == ViewState::Ready
/// }
/// assert!(!may_be_shown(ViewState::Building));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewState {
    /// It has not been built: rows from before the view may be missing.
    Building,
    /// It has all rows, but for what the feeds have not brought yet.
    Ready,
}

impl<V: View, S: TableStore + Clone> ViewTable<V, S> {
    /// A view in a store, of the tables that the designs of its two types name.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self {
            source: store.table(),
            rows: store.table(),
            feed: Feed::new(store),
            retry: Retry::default(),
            memory: Arc::default(),
        }
    }

    /// Makes the table of the view if it is not there; a new view is [building](ViewState::Building).
    ///
    /// # Errors
    /// Those of [`Table::create_if_missing`].
    pub async fn create_if_missing(self) -> Result<Self> {
        self.rows.clone().create_if_missing().await?;
        let key = record::state_key()?;
        let building = Standing::default().row();
        self.submit(&key.partition_key, vec![(key.row_key, OperationKind::Insert(building))]).await?;
        Ok(self)
    }
}

impl<V: View, S> ViewTable<V, S> {
    /// The same with other feeds: with another clock, or another skew.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        Self { feed, ..self }
    }

    /// The same with another back-off for races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// The feeds that it follows.
    #[must_use]
    pub const fn feed(&self) -> &Feed<S> {
        &self.feed
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// The table of the view, for reads. Asks for its state until that is ready, and then every ten seconds: a view whose table was deleted
    /// and made anew is building again.
    ///
    /// # Errors
    /// `IndexNotReady` while it is building: [`rebuild`](Self::rebuild) it.
    pub async fn rows(&self) -> Result<&Table<V::Row, S>> {
        if self.state().await? == ViewState::Building {
            return Err(Error::of(ViewFault::Building).with_table(V::Row::SCHEMA.table));
        }
        Ok(&self.rows)
    }

    /// Whether it can be read.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn state(&self) -> Result<ViewState> {
        let now = self.retry.runtime().now().max(1);
        let known = self.memory.ready.load(Ordering::Relaxed);
        if known > 0 && now.abs_diff(known) <= KNOWN_TICKS {
            return Ok(ViewState::Ready);
        }
        let (standing, _) = self.standing().await?;
        self.memory.ready.store(if standing.ready { now } else { 0 }, Ordering::Relaxed);
        Ok(if standing.ready { ViewState::Ready } else { ViewState::Building })
    }

    /// What is stored of the view itself.
    pub(super) async fn standing(&self) -> Result<(Standing, Option<ETag>)> {
        match self.get(&record::state_key()?).await? {
            Some(found) => Ok((Standing::read(found.row.view())?, Some(found.etag))),
            None => Ok((Standing { ready: false, id: Uuid::nil() }, None)),
        }
    }

    /// Says that the view is built, if it is still as it was; whether it was.
    pub(super) async fn set_ready(&self, standing: Standing, etag: Option<ETag>) -> Result<bool> {
        let (key, ready) = (record::state_key()?, Standing { ready: true, ..standing });
        self.submit(&key.partition_key, vec![(key.row_key, upsert(ready.row(), etag))]).await
    }
}

impl<V: View, S: Clone> Clone for ViewTable<V, S> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            rows: self.rows.clone(),
            feed: self.feed.clone(),
            retry: self.retry.clone(),
            memory: Arc::clone(&self.memory),
        }
    }
}

impl<V: View, S: fmt::Debug> fmt::Debug for ViewTable<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewTable")
            .field("source", &self.source)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
