//! Errors for workloads that cannot run, and for costs that exceed a budget.

use chrono::{DateTime, Utc};
use table_core::Fault;

/// An error from parsing or running a workload.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidWorkload)]
pub(super) enum WorkloadFault {
    #[error("a distribution must have 1 to {most} values, but this one has {values}")]
    Values { values: u64, most: u64 },
    #[error("a zipf exponent must be a number of at least 0, but it is {0}")]
    Exponent(f64),
    #[error("field `{field}`: {fault}")]
    Field { field: String, fault: Box<WorkloadFault> },
    #[error("the workload cannot be read")]
    Workload(#[source] serde_json::Error),
    #[error("the prices cannot be read")]
    Prices(#[source] serde_json::Error),
    #[error("a price must be a number of at least 0, but it is {0}")]
    Price(f64),
    #[error("the workload has no layout `{layout}`; its layouts are {known}")]
    NoLayout { layout: String, known: String },
    #[error("the workload has no pattern `{pattern}`; its patterns are {known}")]
    NoPattern { pattern: String, known: String },
    #[error(
        "the query `{query}` fixes `{level}`, which is not a level of the design; its levels are {known}"
    )]
    NoLevel { query: String, level: String, known: String },
    #[error("the {name} of a design must be a number of at least 0, but it is {number}")]
    DesignNumber { name: &'static str, number: f64 },
    #[error(
        "the workload has no load for the table `{table}`; its tables are {known}; name the table by `Design::table`, or by the field `table` of a workload file"
    )]
    NoTable { table: String, known: String },
    #[error("{place} `{name}` names the field `{field}`; describe it under `fields`")]
    UnknownField { place: &'static str, name: String, field: String },
    #[error("pattern `{0}` must have either a `read` or a `write`")]
    Kind(String),
    #[error("`start` must be a time like 2014-04-23T15:00:00Z, but it is `{text}`")]
    Start { text: String, source: chrono::ParseError },
    #[error("unknown field `{0}`")]
    NoField(String),
    #[error("field `{field}`: a number has at most {most} digits, but {digits} were requested")]
    Digits { field: String, digits: usize, most: usize },
    #[error("field `{field}`: {number} has more than {digits} digits")]
    Number { field: String, number: u64, digits: usize },
    #[error("field `{field}`: the time {time} cannot be written as ticks")]
    Ticks { field: String, time: DateTime<Utc> },
    #[error(
        "field `{0}` does not support this form; a time is written by `hour`, `day`, `ticks` or `inverted_ticks`, a number by `field` with \
         `digits`, a text by `field` alone"
    )]
    Form(String),
    #[error("the recording is empty; record at least one request")]
    NothingRecorded,
    #[error("a run has at most {most} seconds, but {seconds} were requested")]
    Seconds { seconds: u32, most: u32 },
    #[error("pattern `{pattern}`: a rate must be a number of at least 0, but it is {rate}")]
    Rate { pattern: String, rate: f64 },
    #[error("two patterns are named `{0}`; give each a different name")]
    SameName(String),
    #[error("the workload has no operations; give it a pattern, a rate above 0 and a duration above 0")]
    NoOperations,
    #[error("the workload has {operations:.0} operations, at most {most} are run; reduce its seconds")]
    Operations { operations: f64, most: u64 },
    #[error("the operations name too many partitions to count; reduce the seconds of the workload")]
    Partitions,
}

impl WorkloadFault {
    /// Adds the name of the field that caused the fault.
    pub(super) fn of_field(self, field: &str) -> Self {
        Self::Field { field: field.to_owned(), fault: Box::new(self) }
    }
}

/// A cost that exceeds its budget.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum BudgetFault {
    #[error(
        "partition `{partition_key}` takes {share:.1} % of the requests at one moment, at most {most:.1} % are allowed; start the \
         PartitionKey with a value that differs between concurrent requests, such as a user or a device, and move time and \
         sequences to the RowKey, or spread it with `bucket(…, n)`"
    )]
    #[fault(OverBudget, "PAT-ANTI-1")]
    Share { partition_key: String, share: f64, most: f64 },
    #[error("pattern `{pattern}` is a {kind} of {requests} requests, at most {most} are allowed; {remedy}")]
    #[fault(OverBudget, "CLS-1")]
    Requests { pattern: String, kind: String, requests: u64, most: u64, remedy: &'static str },
    #[error(
        "partition `{partition_key}` gets {load} entities and pages in one second, {target} is its target; spread them over more \
         partitions, keep fewer copies in it, or write less often"
    )]
    #[fault(OverBudget, "SCL-1")]
    Partition { partition_key: String, load: u64, target: f64 },
    #[error(
        "the account gets {requests} requests in one second, {target} is its target; put several writes of a partition into one \
         transaction, read ranges instead of points, or use a second account"
    )]
    #[fault(OverBudget, "SCL-1")]
    Account { requests: u64, target: u64 },
    #[error(
        "partition key `{key}` uses {share:.0} % of its limit, at most {most:.0} % are allowed, and no split divides it; \
         add a level, such as the entity's own id (HPK-26)"
    )]
    #[fault(OverBudget, "HPK-17")]
    PointKey { key: String, share: f64, most: f64 },
    #[error(
        "physical partition {id} uses {share:.0} % of its limit, at most {most:.0} % are allowed; start with a level of \
         more values, or add a level that divides the largest"
    )]
    #[fault(OverBudget, "HPK-16")]
    PhysicalPartition { id: u32, share: f64, most: f64 },
}
