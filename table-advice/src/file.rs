//! Workloads that are defined in a file.
//!
//! A file contains fields with distributions, key layouts that use the fields, and access patterns.

mod described;
mod key;
mod replay;

use table_core::{Error, Result};

use crate::fault::WorkloadFault;
use crate::file::described::Described;
use crate::workload::Workload;

/// A workload in JSON with several key layouts. With it, you can compare designs before you write any of them as a type.
///
/// - `fields`: the sources of values. `{"uniform": n}`, `{"zipf": {"values": n, "exponent": x}}`, `{"constant": n}` and `"sequence"` are numbers.
///   `{"texts": [..]}` is one of the listed strings. `"time"` is the time of the operation.
/// - `layouts`: the components of both keys. A string is a literal. `{"field": f}` is a field, which `"digits": n` pads with zeros. `{"hour": f}`,
///   `{"day": f}`, `{"ticks": f}` and `{"inverted_ticks": f}` are formats of a time.
/// - `table`: the name of the table. If it is present, the report names its partitions `table/PartitionKey`. A [container](crate::Report::container) requires
///   it.
/// - `patterns`: each is a `write` or a `read`, with the size of an entity in bytes. A read lists its `given` fields and the number of `rows` in its result.
///   The class of a read follows from the layout (CLS-1). A point or range query examines the rows of its result. A partition scan examines
///   `entities_a_partition` rows of the layout. A query without a known partition examines all `entities`.
///
/// ```
/// use table_advice::WorkloadFile;
///
/// let file = WorkloadFile::parse(r#"{
///     "name": "log-ins", "seconds": 20, "start": "2014-04-23T15:00:00Z", "entities": 3000000,
///     "fields": {
///         "department": { "texts": ["Legal", "Sales"] },
///         "employee": { "zipf": { "values": 2000, "exponent": 0.8 } },
///         "at": "time"
///     },
///     "layouts": [
///         { "name": "by hour", "entities_a_partition": 1440000,
///           "partition_key": [{ "hour": "at" }], "row_key": [{ "ticks": "at" }, "_", { "field": "employee", "digits": 6 }] },
///         { "name": "by employee", "entities_a_partition": 1500,
///           "partition_key": [{ "field": "department" }, "_", { "field": "employee", "digits": 6 }], "row_key": [{ "ticks": "at" }] }
///     ],
///     "patterns": [
///         { "name": "log in", "per_second": 400, "write": { "bytes": 300 } },
///         { "name": "of one employee", "per_second": 5, "read": { "given": ["department", "employee"], "rows": 50, "bytes": 300 } }
///     ]
/// }"#)?;
/// let [by_hour, by_employee] = ["by hour", "by employee"].map(|layout| file.workload(layout).and_then(|found| found.run()));
/// let (by_hour, by_employee) = (by_hour?, by_employee?);
/// assert!(by_hour.require_max_partition_share(0.2).is_err() && by_employee.require_max_partition_share(0.2).is_ok()); // one hot partition (PAT-ANTI-1)
/// assert_eq!((by_hour.requests("of one employee")?, by_employee.requests("of one employee")?), (3_000, 2));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkloadFile(Described);

impl WorkloadFile {
    /// Parses the content of a workload file.
    ///
    /// # Errors
    /// `InvalidWorkload` if the content is not JSON with the expected structure, or if it refers to an undefined field.
    pub fn parse(text: &str) -> Result<Self> {
        let described: Described =
            serde_json::from_str(text).map_err(|error| Error::of(WorkloadFault::Workload(error)))?;
        described.check()?;
        Ok(Self(described))
    }

    /// Returns the names of the layouts.
    pub fn layouts(&self) -> impl Iterator<Item = &str> {
        self.0.layouts.iter().map(|layout| layout.name.as_str())
    }

    /// Returns the workload for one of the layouts.
    ///
    /// # Errors
    /// `InvalidWorkload` if no layout has this name, or if a distribution or the start time is invalid.
    pub fn workload(&self, layout: &str) -> Result<Workload> {
        let found = self.0.layouts.iter().find(|found| found.name == layout).ok_or_else(|| {
            let known: Vec<_> = self.layouts().map(|name| format!("`{name}`")).collect();
            Error::of(WorkloadFault::NoLayout { layout: layout.to_owned(), known: known.join(", ") })
        })?;
        replay::workload(&self.0, found)
    }
}
