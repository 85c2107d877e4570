//! The table scan node of a DataFusion physical plan.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties, ReplaceChildrenOptions,
    SendableRecordBatchStream,
};
use futures_util::stream;

use crate::stream::{Position, Scanned};

/// The name of the metric that counts the rows omitted by the store.
pub(crate) const OMITTED: &str = "omitted";

/// A scan of a table: one query, read page by page.
#[derive(Debug)]
pub(crate) struct StoreScan {
    scanned: Arc<Scanned>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl StoreScan {
    pub(crate) fn new(scanned: Scanned, properties: EquivalenceProperties) -> Self {
        let one = Partitioning::UnknownPartitioning(1);
        let properties =
            PlanProperties::new(properties, one, EmissionType::Incremental, Boundedness::Bounded);
        Self {
            scanned: Arc::new(scanned),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl DisplayAs for StoreScan {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.scanned.query.plan(&self.scanned.table).to_string();
        let mut lines = plan.lines().map(str::trim);
        if form == DisplayFormatType::TreeRender {
            return lines.try_for_each(|line| writeln!(f, "{line}"));
        }
        write!(f, "StoreScan: {}", lines.next().unwrap_or_default())?;
        for line in lines {
            let (name, text) = line.split_once(':').unwrap_or((line, ""));
            write!(f, ", {name}: {}", text.trim_start())?;
        }
        match self.scanned.limit {
            Some(limit) => write!(f, ", limit: {limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for StoreScan {
    fn name(&self) -> &'static str {
        "StoreScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _call: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let counter = |name: &'static str| MetricBuilder::new(&self.metrics).counter(name, partition);
        let position = Position::new(self.scanned.clone(), (counter("requests"), counter(OMITTED)));
        let batches = stream::try_unfold(position, Position::next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.scanned.schema.clone(), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
