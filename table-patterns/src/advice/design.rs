//! The design of a container: its table, its levels, its partitions, and what will be asked of it.

use table_core::entity::Entity;
use table_core::hierarchy::{Bounds, PartitionMap, level_names};

/// A container of Cosmos DB for NoSQL: its table, its levels, its partitions at first, and how long the workload goes on.
///
/// ```
/// use table_patterns::Entity;
/// use table_patterns::advice::Design;
///
/// #[derive(Entity)]
/// #[entity(table = "Events")]
/// #[partition_key(tenant, user)]
/// #[row_key(number)]
/// struct Event { tenant: String, user: String, #[digits(6)] number: u32 }
///
/// let design = Design::of::<Event>().partitions(4).days(30.0).question("by user", &["user"]);
/// # let _ = design;
/// ```
#[derive(Clone, Debug)]
pub struct Design {
    pub(super) table: String,
    pub(super) levels: Vec<String>,
    pub(super) map: PartitionMap,
    pub(super) days: f64,
    pub(super) bounds: Bounds,
    pub(super) questions: Vec<(String, Vec<bool>)>,
}

impl Design {
    /// The table of an entity with the levels that it declares, on one partition, after one day.
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
            questions: Vec::new(),
        }
    }

    /// How many partitions there are before any is split, all of the same width.
    #[must_use]
    pub fn partitions(self, partitions: u32) -> Self {
        self.on(PartitionMap::even(partitions))
    }

    /// The partitions that there are before any is split, such as those of a live container.
    #[must_use]
    pub fn on(self, map: PartitionMap) -> Self {
        Self { map, ..self }
    }

    /// How long the workload goes on.
    #[must_use]
    pub fn days(self, days: f64) -> Self {
        Self { days, ..self }
    }

    /// Other bounds than those of the service.
    #[must_use]
    pub fn bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// A question that will be asked, by the levels that it gives. Orders of levels are compared by the partitions that all questions touch
    /// together; one that is given twice counts twice.
    #[must_use]
    pub fn question(mut self, name: impl Into<String>, levels: &[&str]) -> Self {
        let fixes = self.levels.iter().map(|level| levels.contains(&level.as_str())).collect();
        self.questions.push((name.into(), fixes));
        self
    }

    /// The levels of a whole key, from the text of its PartitionKey; `None` for the key of another design.
    pub(super) fn split(&self, partition_key: &str) -> Option<Vec<String>> {
        if self.levels.len() == 1 {
            return Some(vec![partition_key.to_owned()]);
        }
        let levels = partition_key.strip_suffix('!')?.split('!').map(str::to_owned).collect::<Vec<_>>();
        (levels.len() == self.levels.len()).then_some(levels)
    }
}
