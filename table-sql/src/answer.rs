//! Executes a statement, and counts the rows that the store omitted from its scans.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_plan::{self, ExecutionPlan};
use datafusion::prelude::DataFrame;

use crate::scan::OMITTED;

/// The result of a statement.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The columns of the result.
    pub schema: SchemaRef,
    /// The rows of the result.
    pub batches: Vec<RecordBatch>,
    /// The number of stored rows that the scans of the statement omitted, because the store cannot represent them as entities. If it is not 0, the result may
    /// lack rows, and its aggregates may be wrong. A row that two scans omitted counts twice.
    pub omitted: u64,
}

/// Executes a statement. The entire result is kept in memory.
///
/// ```
/// use table_core::{DynTableStore, Engine, TableStoreExt};
/// use table_sql::{SqlOptions, collect, session};
///
/// # let runtime = tokio::runtime::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let store = DynTableStore::new(Engine::in_memory());
/// store.untyped("Company")?.create_if_missing().await?;
/// let session = session(&store, &SqlOptions::default()).await?;
/// let answer = collect(session.sql("SELECT count(*) FROM Company").await?).await?;
/// assert_eq!(answer.omitted, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// `External`, containing the error from the store, if a request fails. Any error from DataFusion.
pub async fn collect(statement: DataFrame) -> Result<Answer> {
    let context = Arc::new(statement.task_ctx());
    let plan = statement.create_physical_plan().await?;
    let batches = physical_plan::collect(Arc::clone(&plan), context).await?;
    Ok(Answer { schema: plan.schema(), batches, omitted: omitted(&plan) })
}

/// Returns the number of rows omitted by the scans of an executed plan.
fn omitted(plan: &Arc<dyn ExecutionPlan>) -> u64 {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(OMITTED));
    let own = own.map_or(0, |count| count.as_usize() as u64);
    own + plan.children().into_iter().map(omitted).sum::<u64>()
}
