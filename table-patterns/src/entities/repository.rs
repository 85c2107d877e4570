//! The verbs that the handle has in common with a [`Table`], for generic code.

use table_core::entity::{Entity, Versioned};
use table_core::error::Result;
use table_core::etag::{ETag, IfMatch};
use table_core::selection::{IntoSelection, Paged, Point, Primary, Selection};
use table_core::store::TableStore;
use table_core::table::{EntityQuery, Repository, Table, UpdateFrom};

use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;

impl<E: Entity + Send + Sync, S: TableStore + Clone, O: StepRecorder> Repository<E> for Entities<E, S, O> {
    type Store = S;

    fn as_table(&self) -> &Table<E, S> {
        self.table()
    }

    fn insert(&self, entity: &E) -> impl Future<Output = Result<ETag>> + Send {
        Self::insert(self, entity)
    }

    fn replace(&self, entity: &E, if_match: IfMatch) -> impl Future<Output = Result<ETag>> + Send {
        Self::replace(self, entity, if_match)
    }

    fn insert_or_replace(&self, entity: &E) -> impl Future<Output = Result<ETag>> + Send {
        Self::insert_or_replace(self, entity)
    }

    fn update(
        &self,
        from: impl Into<UpdateFrom<E>>,
        change: impl FnMut(&mut E) + Send,
    ) -> impl Future<Output = Result<Versioned<E>>> + Send {
        let from = from.into();
        async move { Self::update(self, from, change).await }
    }

    fn delete(&self, key: Selection<E, Point>, if_match: IfMatch) -> impl Future<Output = Result<()>> + Send {
        Self::delete(self, key, if_match)
    }

    fn query<C: Paged>(&self, selection: impl IntoSelection<E, C, Primary>) -> EntityQuery<E, S> {
        Self::query(self, selection)
    }
}
