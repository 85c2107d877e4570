//! The faults of workloads: those that cannot be run, and those whose costs are over their budget.

use chrono::{DateTime, Utc};
use table_core::error::{ErrorCode, Fault};

/// A workload that cannot be read or run.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkloadFault {
    #[error("a distribution has from 1 to {most} values, and not {values}")]
    Values { values: u64, most: u64 },
    #[error("a zipf exponent is a number from 0 on, and not {0}")]
    Exponent(f64),
    #[error("field `{field}`: {fault}")]
    Field { field: String, fault: Box<WorkloadFault> },
    #[error("the workload cannot be read")]
    Workload(#[source] serde_json::Error),
    #[error("the prices cannot be read")]
    Prices(#[source] serde_json::Error),
    #[error("a price is a number from 0 on, and not {0}")]
    Price(f64),
    #[error("the workload has no layout `{layout}`: it has {known}")]
    NoLayout { layout: String, known: String },
    #[error("the workload has no pattern `{pattern}`: it has {known}")]
    NoPattern { pattern: String, known: String },
    #[error("{place} `{name}` names the field `{field}`: describe it under `fields`")]
    UnknownField { place: &'static str, name: String, field: String },
    #[error("pattern `{0}` has to be either a `read` or a `write`")]
    Kind(String),
    #[error("`start` is a time like 2014-04-23T15:00:00Z, and not `{text}`")]
    Start { text: String, source: chrono::ParseError },
    #[error("no field is named `{0}`")]
    NoField(String),
    #[error("field `{field}`: a number has at most {most} digits, and not {digits}")]
    Digits { field: String, digits: usize, most: usize },
    #[error("field `{field}`: {number} has more than {digits} digits")]
    Number { field: String, number: u64, digits: usize },
    #[error("field `{field}`: no count of ticks has the time {time}")]
    Ticks { field: String, time: DateTime<Utc> },
    #[error(
        "field `{0}` has no such form: a time is written by `hour`, `day`, `ticks` or `inverted_ticks`, a number by `field` with \
         `digits`, a text by `field` alone"
    )]
    Form(String),
    #[error("nothing was recorded: there is nothing to replay")]
    NothingRecorded,
    #[error("a run has at most {most} seconds, and not {seconds}")]
    Seconds { seconds: u32, most: u32 },
    #[error("pattern `{pattern}`: a rate is a number from 0 on, and not {rate}")]
    Rate { pattern: String, rate: f64 },
    #[error("two patterns are named `{0}`: give each a name of its own")]
    SameName(String),
    #[error("the workload has no operations: give it a pattern, a rate above 0 and seconds to run")]
    NoOperations,
    #[error(
        "the workload has {operations:.0} operations, at most {most} are run: let it run for fewer seconds"
    )]
    Operations { operations: f64, most: u64 },
    #[error("the operations name too many partitions to be counted: let the workload run for fewer seconds")]
    Partitions,
}

impl WorkloadFault {
    /// The same fault of a field.
    pub(super) fn of_field(self, field: &str) -> Self {
        Self::Field { field: field.to_owned(), fault: Box::new(self) }
    }
}

impl Fault for WorkloadFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (ErrorCode::InvalidWorkload, None)
    }
}

/// Costs over their budget.
#[derive(Debug, thiserror::Error)]
pub(super) enum BudgetFault {
    #[error(
        "partition `{partition_key}` takes {share:.1} % of the requests at one moment, at most {most:.1} % are allowed: begin the \
         PartitionKey with what differs between requests of the same moment, such as a user or a device, and move time and \
         sequences to the RowKey, or spread it with `bucket(…, n)`"
    )]
    Share { partition_key: String, share: f64, most: f64 },
    #[error("pattern `{pattern}` is a {kind} of {requests} requests, at most {most} are allowed: {remedy}")]
    Requests { pattern: String, kind: String, requests: u64, most: u64, remedy: &'static str },
    #[error(
        "partition `{partition_key}` gets {load} entities and pages in one second, {target} is its target: spread them over more \
         partitions, keep fewer copies in it, or write less often"
    )]
    Partition { partition_key: String, load: u64, target: f64 },
    #[error(
        "the account gets {requests} requests in one second, {target} is its target: put several writes of a partition into one \
         transaction, read ranges instead of points, or use a second account"
    )]
    Account { requests: u64, target: u64 },
    #[error(
        "the whole key `{key}` uses {share:.0} % of what one may hold or take, at most {most:.0} % are allowed, and no split divides it: \
         add a level, such as the entity's own id (HPK-26)"
    )]
    PointKey { key: String, share: f64, most: f64 },
    #[error(
        "physical partition {id} uses {share:.0} % of what one may hold or take, at most {most:.0} % are allowed: begin with a level of \
         more values, or add a level that divides the largest"
    )]
    PhysicalPartition { id: u32, share: f64, most: f64 },
}

impl Fault for BudgetFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::Share { .. } => "PAT-ANTI-1",
            Self::Requests { .. } => "CLS-1",
            Self::Partition { .. } | Self::Account { .. } => "SCL-1",
            Self::PointKey { .. } => "HPK-17",
            Self::PhysicalPartition { .. } => "HPK-16",
        };
        (ErrorCode::OverBudget, Some(rule))
    }
}
