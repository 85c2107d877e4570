//! The cost class of a query (DQ-2 to DQ-5, CLS-1).

use std::fmt;

/// What a query costs, best first (CLS-1). The class never changes an answer, only its cost and paging (CLS-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueryClass {
    /// Both keys given: one look-up (DQ-2).
    Point,
    /// One partition and a range of rows (DQ-3).
    Range,
    /// One whole partition (DQ-4).
    PartitionScan,
    /// A range of partitions, which may cross servers: those with the same first levels (HPK-38), for one.
    PartitionRange,
    /// This many partitions or ranges, each asked for itself.
    FanOut(usize),
    /// Every partition (DQ-5).
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
