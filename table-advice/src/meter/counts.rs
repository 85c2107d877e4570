//! Counts by table and by partition.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{AddAssign, Deref};

use table_core::query::QueryClass;

/// Counts summed over several requests.
///
/// ```
/// use table_advice::meter::Counts;
///
/// /// Returns the number of read requests.
/// fn reads(counts: &Counts) -> u64 {
///     counts.points + counts.ranges + counts.partition_scans + counts.partition_ranges + counts.table_scans
/// }
/// assert_eq!(reads(&Counts { points: 2, ranges: 1, ..Counts::default() }), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of calls to the store. Each page is one call and corresponds to one round trip to a service.
    pub requests: u64,
    /// The number of lookups of a single entity (DQ-2).
    pub points: u64,
    /// The number of reads of a range of rows in one partition (DQ-3).
    pub ranges: u64,
    /// The number of reads of an entire partition (DQ-4).
    pub partition_scans: u64,
    /// The number of reads of a range of partitions (CLS-1).
    pub partition_ranges: u64,
    /// The number of reads of an entire table (DQ-5).
    pub table_scans: u64,
    /// The number of pages after the first page of a query. Each of these pages is also counted under the class of the query.
    pub further_pages: u64,
    /// The number of queries that are sent to several partitions in key order. Each of their requests is also counted under its class.
    pub fan_outs: u64,
    /// The number of writes. An operation outside a transaction is counted as a transaction with one operation.
    pub transactions: u64,
    /// The number of operations in all transactions.
    pub operations: u64,
    /// The number of requests that created, deleted or listed tables.
    pub table_requests: u64,
    /// The number of entities that the store examined, including entities that a filter rejected. If the store does not report this number, it is the number of
    /// returned entities.
    pub rows_read: u64,
    /// The number of entities returned by the store.
    pub rows_returned: u64,
    /// The number of bytes in the written entities, calculated with the service's published formula (SIZE-2).
    pub bytes_written: u64,
    /// The number of bytes in the returned entities, calculated with the service's published formula (SIZE-2).
    pub bytes_returned: u64,
}

impl Counts {
    /// Returns the counts for one request of this class. `further` is `true` if the request reads a page after the first one.
    pub(super) fn one(class: QueryClass, further: bool) -> Self {
        let mut counts = Self { requests: 1, further_pages: u64::from(further), ..Self::default() };
        match class {
            QueryClass::Point => counts.points = 1,
            QueryClass::Range => counts.ranges = 1,
            QueryClass::PartitionScan => counts.partition_scans = 1,
            QueryClass::PartitionRange | QueryClass::FanOut(_) => counts.partition_ranges = 1,
            QueryClass::TableScan => counts.table_scans = 1,
        }
        counts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.points += other.points;
        self.ranges += other.ranges;
        self.partition_scans += other.partition_scans;
        self.partition_ranges += other.partition_ranges;
        self.table_scans += other.table_scans;
        self.further_pages += other.further_pages;
        self.fan_outs += other.fan_outs;
        self.transactions += other.transactions;
        self.operations += other.operations;
        self.table_requests += other.table_requests;
        self.rows_read += other.rows_read;
        self.rows_returned += other.rows_returned;
        self.bytes_written += other.bytes_written;
        self.bytes_returned += other.bytes_returned;
    }
}

/// Writes all counts other than zero on one line.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "requests {}", self.requests)?;
        for (name, count) in [
            ("points", self.points),
            ("ranges", self.ranges),
            ("partition scans", self.partition_scans),
            ("partition ranges", self.partition_ranges),
            ("table scans", self.table_scans),
            ("further pages", self.further_pages),
            ("fan-outs", self.fan_outs),
            ("transactions", self.transactions),
            ("operations", self.operations),
            ("of tables", self.table_requests),
            ("rows read", self.rows_read),
            ("rows returned", self.rows_returned),
            ("bytes written", self.bytes_written),
            ("bytes returned", self.bytes_returned),
        ] {
            if count > 0 {
                write!(f, ", {name} {count}")?;
            }
        }
        Ok(())
    }
}

/// The counts of a [`Meter`](crate::meter::Meter) since the last [`take`](crate::meter::Meter::take). A reading dereferences to the [`Counts`] of its total.
///
/// ```
/// use table_advice::meter::Reading;
///
/// /// Returns the average number of requests per result.
/// fn requests_an_answer(reading: &Reading, answers: u64) -> u64 {
///     reading.requests.checked_div(answers).unwrap_or_default()
/// }
/// assert_eq!(requests_an_answer(&Reading::default(), 10), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub(super) total: Counts,
    /// The first spelling of each table's name, by the name in lower case. Names that differ only in case mean the same table.
    pub(super) names: BTreeMap<String, String>,
    pub(super) tables: BTreeMap<String, Counts>,
    /// The counts of requests to single partitions, keyed by table and `PartitionKey`.
    pub(super) partitions: BTreeMap<(String, String), Counts>,
}

impl Reading {
    /// Returns the counts of one table. All counts are 0 if the table received no requests.
    #[must_use]
    pub fn of_table(&self, table: &str) -> Counts {
        self.name(table).and_then(|name| self.tables.get(name)).copied().unwrap_or_default()
    }

    /// Returns the counts of the requests to this partition alone. Requests to several partitions are not included.
    #[must_use]
    pub fn of_partition(&self, table: &str, partition_key: &str) -> Counts {
        let place = self.name(table).map(|name| (name.to_owned(), partition_key.to_owned()));
        place.and_then(|place| self.partitions.get(&place)).copied().unwrap_or_default()
    }

    fn name(&self, table: &str) -> Option<&str> {
        self.names.get(&table.to_ascii_lowercase()).map(String::as_str)
    }

    /// Returns the tables that received requests and their counts, in name order.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &Counts)> {
        self.tables.iter().map(|(table, counts)| (table.as_str(), counts))
    }

    /// Returns the partitions that received requests and their counts, sorted by table and PartitionKey.
    pub fn partitions(&self) -> impl Iterator<Item = ((&str, &str), &Counts)> {
        self.partitions.iter().map(|((table, key), counts)| ((table.as_str(), key.as_str()), counts))
    }

    pub(super) fn add(&mut self, table: Option<&str>, partition_key: Option<&str>, counts: Counts) {
        self.total += counts;
        let Some(table) = table else { return };
        let table = self.names.entry(table.to_ascii_lowercase()).or_insert_with(|| table.to_owned()).as_str();
        *self.tables.entry(table.to_owned()).or_default() += counts;
        if let Some(key) = partition_key {
            *self.partitions.entry((table.to_owned(), key.to_owned())).or_default() += counts;
        }
    }
}

impl Deref for Reading {
    type Target = Counts;

    fn deref(&self) -> &Counts {
        &self.total
    }
}

/// Writes the total, and then one line per table.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total)?;
        self.tables.iter().try_for_each(|(table, counts)| write!(f, "\n  {table}: {counts}"))
    }
}
