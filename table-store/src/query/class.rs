//! Cost classes of queries (DQ-2 to DQ-5, CLS-1), including queries with hierarchical partition keys (HPK-38, HPK-39).

use std::fmt;

/// The cost class of a query, from cheapest to most expensive (CLS-1). The class affects only the cost and the paging of a query, never its
/// result (CLS-4).
///
/// With hierarchical partition keys, the class depends on the levels that the query specifies. It does not depend on the number of partitions (HPK-39):
///
/// | given | classes | selection of an entity with the levels `tenant`, `user`, `session` |
/// |---|---|---|
/// | every level | up to `PartitionScan` | `Event::key(…)`, `Event::partition(…)`, `Event::rows(…)` |
/// | the first levels | `PartitionRange`, `FanOut` | `Event::within("contoso").user_is("ada")` |
/// | not the first level | `TableScan` | `Event::scan("why")` |
///
/// ```
/// use table_core::query::{KeyRange, QueryClass, TextRange};
///
/// assert_eq!(KeyRange::partition("Sales").class(), QueryClass::PartitionScan);
/// assert_eq!(KeyRange::rows("Sales", TextRange::prefix("empid_")).class(), QueryClass::Range);
/// assert!(QueryClass::Point < QueryClass::TableScan);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueryClass {
    /// A single lookup by both keys (DQ-2).
    Point,
    /// A range of rows in one partition (DQ-3).
    Range,
    /// All rows of one partition (DQ-4).
    PartitionScan,
    /// A range of partitions, such as all partitions whose first key levels are equal (HPK-38). The range may span several servers.
    PartitionRange,
    /// A known number of partitions or ranges. Each requires at least one request.
    FanOut(usize),
    /// The entire table (DQ-5).
    TableScan,
}

impl fmt::Display for QueryClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point => f.write_str("point query"),
            Self::Range => f.write_str("range query"),
            Self::PartitionScan => f.write_str("partition scan"),
            Self::PartitionRange => f.write_str("targeted cross-partition scan"),
            Self::FanOut(n) => write!(f, "fan-out over {n}"),
            Self::TableScan => f.write_str("table scan"),
        }
    }
}
