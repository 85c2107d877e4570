//! The methods shared with [`Table`], for generic code.

use table_core::entity::Entity;
use table_core::store::TableStore;
use table_core::table::{Repository, Table};

use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;

impl<E: Entity + Send + Sync, S: TableStore + Clone, O: StepRecorder> Repository<E> for Entities<E, S, O> {
    fn as_table(&self) -> &Table<E, S> {
        self.table()
    }

    table_core::__repository_verbs!(E, S);
}
