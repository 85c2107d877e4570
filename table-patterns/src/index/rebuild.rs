//! Requires a new backfill of an index.

use table_core::Result;
use table_core::entity::Entity;
use table_core::index::Index;
use table_core::store::TableStore;
use table_core::table::SchemaRecord;

use crate::entities::{Entities, StepRecorder};
use crate::fence;
use crate::index::state::note;

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Marks an index as needing a complete [`backfill`](Self::backfill), for example because another tool has changed entities. The index is *building* until
    /// the backfill completes. A running backfill restarts from the beginning. [`check`](Self::check) with `repair` does the same work while the index stays in
    /// use.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore};
    /// # use table_patterns::index::IndexState;
    /// # #[derive(Entity, Clone)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByEmail, unique, row_key("email_", email))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, email: String }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// employees.rebuild::<EmployeeByEmail>().await?;
    /// assert_eq!(employees.states().await?, [("ByEmail", IndexState::Building)]);
    /// employees.backfill::<EmployeeByEmail>().assume_no_older_programs().run().await?;
    /// assert_eq!(employees.states().await?, [("ByEmail", IndexState::Ready)]);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `ResourceNotFound` if no schema is stored because the table was never opened; `UpdateConditionNotSatisfied` after too many conflicts; any error from the
    /// store.
    pub async fn rebuild<I: Index<Entity = E>>(&self) -> Result<()> {
        let (note, pass) = (note(I::SCHEMA.name), self.retry.runtime().random());
        self.note(|layout| fence::restart(layout, &note, pass)).await.map(drop)
    }
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Changes the schema record, and updates the index states that the handle has cached.
    pub(crate) async fn note(&self, change: impl Fn(&mut SchemaRecord)) -> Result<SchemaRecord> {
        let layout = self.table.update_schema_record(change).await?;
        self.index_states().learn::<E>(&layout);
        Ok(layout)
    }
}
