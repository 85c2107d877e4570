//! The design of a container: table, levels, throughput, physical partitions, and queries.

use table_core::entity::Entity;
use table_core::{Error, Result};
use table_hierarchy::{Bounds, PartitionMap, level_names};

use crate::fault::WorkloadFault;

/// The design of a Cosmos DB for NoSQL container, and the duration of its workload.
///
/// ```
/// use table_core::Entity;
/// use table_advice::Design;
///
/// #[derive(Entity)]
/// #[entity(table = "Events")]
/// #[partition_key(tenant, user)]
/// #[row_key(number)]
/// struct Event { tenant: String, user: String, #[digits(6)] number: u32 }
///
/// let design = Design::of::<Event>().partitions(4).throughput(4_000.0).days(30.0).question("by user", &["user"]);
/// # let _ = design;
/// ```
#[derive(Clone, Debug)]
pub struct Design {
    pub(super) table: String,
    pub(super) levels: Vec<String>,
    pub(super) map: PartitionMap,
    pub(super) days: f64,
    pub(super) bounds: Bounds,
    pub(super) throughput: Option<f64>,
    pub(super) deadline: Option<(f64, f64)>,
    pub(super) questions: Vec<(String, Vec<bool>)>,
    /// The first query that fixes an unknown level: the name of the query and the name of that level.
    pub(super) unknown: Option<(String, String)>,
}

impl Design {
    /// Creates a design for the table and the levels of an entity type. It has one physical partition, and the workload lasts one day.
    #[must_use]
    pub fn of<E: Entity>() -> Self {
        let levels = level_names(E::SCHEMA);
        let levels = if levels.is_empty() { vec!["PartitionKey"] } else { levels };
        Self {
            table: E::SCHEMA.table.to_owned(),
            levels: levels.into_iter().map(str::to_owned).collect(),
            map: PartitionMap::even(1),
            days: 1.0,
            bounds: Bounds::SERVICE,
            throughput: None,
            deadline: None,
            questions: Vec::new(),
            unknown: None,
        }
    }

    /// Sets the table whose load the container receives. The default is the declared table of the entity type.
    ///
    /// Set it if the workload uses a different table, such as one opened with [`table_named`](table_core::TableStoreExt::table_named) or the table of a period.
    #[must_use]
    pub fn table(self, name: impl Into<String>) -> Self {
        Self { table: name.into(), ..self }
    }

    /// Sets the number of physical partitions before any split. All partitions cover key ranges of equal width.
    #[must_use]
    pub fn partitions(self, partitions: u32) -> Self {
        self.on(PartitionMap::even(partitions))
    }

    /// Sets the physical partitions before any split, for example those of a live container.
    #[must_use]
    pub fn on(self, map: PartitionMap) -> Self {
        Self { map, ..self }
    }

    /// Sets the duration of the workload in days.
    #[must_use]
    pub fn days(self, days: f64) -> Self {
        Self { days, ..self }
    }

    /// Replaces the documented limits with the given limits.
    #[must_use]
    pub fn bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// Sets the container's throughput, in request units per second. The service divides it evenly among the physical partitions.
    ///
    /// If no throughput is set, each partition is assumed to have the maximum throughput. [`Report::container`](crate::Report::container) rejects a throughput
    /// that needs more than 1,000 partitions.
    #[must_use]
    pub fn throughput(self, ru: f64) -> Self {
        Self { throughput: Some(ru), ..self }
    }

    /// Sets the deadline for an ingest: `ru` request units within `seconds` seconds (HPK-11).
    #[must_use]
    pub fn ingest(self, ru: f64, seconds: f64) -> Self {
        Self { deadline: Some((ru, seconds)), ..self }
    }

    /// Adds a query that fixes these levels. A query that is added twice counts twice.
    ///
    /// The report compares the orders of the levels by the total number of partitions that the queries touch.
    ///
    /// [`Report::container`](crate::Report::container) rejects a query that fixes an unknown level.
    #[must_use]
    pub fn question(mut self, name: impl Into<String>, levels: &[&str]) -> Self {
        let name = name.into();
        if let Some(unknown) = levels.iter().find(|level| !self.levels.iter().any(|known| known == *level)) {
            self.unknown.get_or_insert_with(|| (name.clone(), (*unknown).to_owned()));
        }
        let fixes = self.levels.iter().map(|level| levels.contains(&level.as_str())).collect();
        self.questions.push((name, fixes));
        self
    }

    /// Checks the design's numeric settings.
    ///
    /// # Errors
    /// `InvalidWorkload` if a number is negative, infinite or not a number.
    pub(super) fn check(&self) -> Result<()> {
        let (ru, seconds) = self.deadline.unwrap_or_default();
        let throughput = self.throughput.unwrap_or_default();
        let numbers = [
            ("days", self.days),
            ("throughput", throughput),
            ("ingest", ru),
            ("seconds of the ingest", seconds),
        ];
        if let Some((name, number)) =
            numbers.into_iter().find(|(_, number)| !(number.is_finite() && *number >= 0.0))
        {
            return Err(Error::of(WorkloadFault::DesignNumber { name, number }));
        }
        Ok(())
    }

    /// Returns the levels of a PartitionKey, or `None` if the key does not match this design.
    pub(super) fn split(&self, partition_key: &str) -> Option<Vec<String>> {
        if self.levels.len() == 1 {
            return Some(vec![partition_key.to_owned()]);
        }
        let levels = partition_key.strip_suffix('!')?.split('!').map(str::to_owned).collect::<Vec<_>>();
        (levels.len() == self.levels.len()).then_some(levels)
    }
}
