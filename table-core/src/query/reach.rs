//! Number of partitions that a class of query reads, in terms of hierarchical partition keys (HPK-38, HPK-39).

use std::fmt;

use crate::query::QueryClass;

/// Which partitions a query goes to. What is given decides it, not how many partitions there are (HPK-39).
///
/// | given | reach | by a derived entity of the levels `tenant`, `user`, `session` |
/// |---|---|---|
/// | every level | single-partition | `Event::key(…)`, `Event::partition(…)`, `Event::rows(…)` |
/// | the first levels | targeted cross-partition | `Event::within("contoso").user_is("ada")` |
/// | not the first level | fan-out | `Event::scan("why")` |
///
/// ```
/// use table_core::query::{QueryClass, Reach};
///
/// assert_eq!(QueryClass::Range.reach(), Reach::SinglePartition);
/// assert_eq!(QueryClass::PartitionRange.reach().to_string(), "targeted cross-partition");
/// assert_eq!(QueryClass::TableScan.reach(), Reach::FanOut);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// One partition.
    SinglePartition,
    /// A range of partitions, or several that are named.
    TargetedCrossPartition,
    /// Every partition.
    FanOut,
}

impl QueryClass {
    /// Which partitions a query of this class goes to.
    #[must_use]
    pub const fn reach(self) -> Reach {
        match self {
            Self::Point | Self::Range | Self::PartitionScan => Reach::SinglePartition,
            Self::PartitionRange | Self::FanOut(_) => Reach::TargetedCrossPartition,
            Self::TableScan => Reach::FanOut,
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SinglePartition => "single-partition",
            Self::TargetedCrossPartition => "targeted cross-partition",
            Self::FanOut => "fan-out",
        })
    }
}
