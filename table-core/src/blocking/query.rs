//! Blocking queries and scans; streams become iterators.

use std::iter;

use futures_core::Stream;
use futures_util::StreamExt;
use pollster::block_on;

use crate::column::Condition;
use crate::entity::{FromEntity, ProjectionOf, Versioned};
use crate::error::Result;
use crate::query::{Continuation, Plan};
use crate::selection::{Primary, Reads, Source};
use crate::set::SetOf;
use crate::store::TableStore;
use crate::table::{self, BoundedScan, EntityPage};

/// A stream as an iterator whose every step waits.
pub(super) fn iterate<T>(stream: impl Stream<Item = T>) -> impl Iterator<Item = T> {
    let mut stream = Box::pin(stream);
    iter::from_fn(move || block_on(stream.next()))
}

/// [`EntityQuery`](table::EntityQuery) with verbs that wait; each is documented there.
#[derive(Debug)]
#[must_use = "a query reads nothing until it is asked for its page, iterator or collection"]
pub struct EntityQuery<E, S, T = E, F = Primary>(table::EntityQuery<E, S, T, F>);

impl<E, S: TableStore + Clone, T> EntityQuery<E, S, T> {
    /// As [`EntityQuery::read_as`](table::EntityQuery::read_as).
    pub fn read_as<U: SetOf<E>>(self) -> EntityQuery<E, S, U> {
        EntityQuery(self.0.read_as())
    }
}

impl<E, S: TableStore + Clone, T, F: Source> EntityQuery<E, S, T, F> {
    pub(super) const fn new(query: table::EntityQuery<E, S, T, F>) -> Self {
        Self(query)
    }

    /// As [`EntityQuery::filter`](table::EntityQuery::filter).
    pub fn filter(self, condition: Condition<E>) -> Self {
        Self(self.0.filter(condition))
    }

    /// As [`EntityQuery::top`](table::EntityQuery::top).
    pub fn top(self, entities: usize) -> Self {
        Self(self.0.top(entities))
    }

    /// As [`EntityQuery::limit`](table::EntityQuery::limit).
    pub fn limit(self, entities: usize) -> Self {
        Self(self.0.limit(entities))
    }

    /// As [`EntityQuery::project`](table::EntityQuery::project).
    pub fn project<P: ProjectionOf<E>>(self) -> EntityQuery<E, S, P, F>
    where
        F: Reads<P>,
    {
        EntityQuery(self.0.project())
    }

    /// As [`EntityQuery::plan`](table::EntityQuery::plan).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn plan(&self) -> Result<Plan> {
        self.0.plan()
    }

    /// As [`EntityQuery::page`](table::EntityQuery::page).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn page(&self) -> Result<EntityPage<T>>
    where
        F: Reads<T>,
    {
        block_on(self.0.page())
    }

    /// As [`EntityQuery::page_from`](table::EntityQuery::page_from).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn page_from(&self, continuation: &Continuation) -> Result<EntityPage<T>>
    where
        F: Reads<T>,
    {
        block_on(self.0.page_from(continuation))
    }

    /// As [`EntityQuery::stream`](table::EntityQuery::stream), as an iterator.
    pub fn iter(self) -> impl Iterator<Item = Result<Versioned<T>>> + use<E, S, T, F>
    where
        F: Reads<T>,
    {
        iterate(self.0.stream())
    }

    /// As [`EntityQuery::for_each`](table::EntityQuery::for_each).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn for_each(self, each: impl FnMut(Versioned<T>)) -> Result<u64>
    where
        F: Reads<T>,
    {
        block_on(self.0.for_each(each))
    }

    /// As [`EntityQuery::collect`](table::EntityQuery::collect).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn collect(self) -> Result<Vec<T>>
    where
        F: Reads<T>,
    {
        block_on(self.0.collect())
    }

    /// As [`EntityQuery::collect_versioned`](table::EntityQuery::collect_versioned).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn collect_versioned(self) -> Result<Vec<Versioned<T>>>
    where
        F: Reads<T>,
    {
        block_on(self.0.collect_versioned())
    }

    /// As [`EntityQuery::first`](table::EntityQuery::first).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn first(self) -> Result<Option<Versioned<T>>>
    where
        F: Reads<T>,
    {
        block_on(self.0.first())
    }
}

/// [`BoundedScan`] with verbs that wait; each is documented there.
#[derive(Debug)]
#[must_use = "a scan reads nothing until it is run"]
pub struct Scan<E, S, T = E>(BoundedScan<E, S, T>);

impl<E, S: TableStore + Clone, T: FromEntity> Scan<E, S, T> {
    pub(super) const fn new(scan: BoundedScan<E, S, T>) -> Self {
        Self(scan)
    }

    /// As [`BoundedScan::filter`].
    pub fn filter(self, condition: Condition<E>) -> Self {
        Self(self.0.filter(condition))
    }

    /// As [`BoundedScan::project`].
    pub fn project<P: ProjectionOf<E>>(self) -> Scan<E, S, P> {
        Scan(self.0.project())
    }

    /// As [`BoundedScan::stream`], as an iterator.
    pub fn iter(self) -> impl Iterator<Item = Result<Versioned<T>>> + use<E, S, T> {
        iterate(self.0.stream())
    }

    /// As [`BoundedScan::for_each`].
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn for_each(self, each: impl FnMut(Versioned<T>)) -> Result<u64> {
        block_on(self.0.for_each(each))
    }

    /// As [`BoundedScan::collect`].
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn collect(self) -> Result<Vec<T>> {
        block_on(self.0.collect())
    }
}
