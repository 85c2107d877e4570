//! Statistics of a table and its partitions, computed by reading the table.

use std::ops::ControlFlow;

use table_store::Result;
use table_store::name::TableName;

use crate::engine::Engine;
use crate::key::{KeyReader, Span};

/// Statistics of one table. Sizes in bytes include keys and encoded rows, but not the overhead of blocks and file indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableStatistics {
    /// The number of rows in the table.
    pub rows: u64,
    /// The size of the rows in bytes.
    pub bytes: u64,
    /// The number of partitions that contain rows.
    pub partitions: u64,
    /// The number of rows in the partition with the most rows.
    pub max_partition_rows: u64,
    /// The number of bytes in the partition with the most bytes.
    pub max_partition_bytes: u64,
}

/// The size of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionStatistics<'a> {
    /// The `PartitionKey` of the partition.
    pub partition_key: &'a str,
    /// The number of rows in the partition.
    pub rows: u64,
    /// The size of the rows in bytes.
    pub bytes: u64,
}

impl Engine {
    /// Counts the rows and bytes that a table contains at the time of the call.
    ///
    /// Writers can continue during the call. The call reads the whole table from the disk before it returns. It bypasses the cache, and needs memory for one or
    /// two blocks of the table.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    /// use table_core::{TableEntity, TableStoreExt};
    ///
    /// let engine = Engine::in_memory();
    /// # pollster::block_on(async {
    /// let employees = engine.untyped("Employee")?.create_if_missing().await?;
    /// employees.insert(&TableEntity::new("Sales", "1")?.with("Age", 34)).await?;
    /// employees.insert(&TableEntity::new("Support", "2")?.with("Age", 27)).await?;
    /// let statistics = engine.table_statistics(employees.name()?)?;
    /// assert_eq!((statistics.rows, statistics.partitions, statistics.max_partition_rows), (2, 2, 1));
    /// let mut keys = Vec::new();
    /// engine.partition_statistics(employees.name()?, |partition| keys.push(partition.partition_key.to_owned()))?;
    /// assert_eq!(keys, ["Sales", "Support"]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    /// - `Corrupted` or `Io` if the engine's data files cannot be read.
    /// - `EngineClosed` if the engine is closed.
    pub fn table_statistics(&self, table: &TableName) -> Result<TableStatistics> {
        self.partition_statistics(table, |_| ())
    }

    /// Computes [`table_statistics`](Self::table_statistics), and passes the statistics of each partition to `each`, in key order.
    ///
    /// # Errors
    /// Any error from [`table_statistics`](Self::table_statistics).
    pub fn partition_statistics(
        &self,
        table: &TableName,
        each: impl FnMut(PartitionStatistics<'_>),
    ) -> Result<TableStatistics> {
        let state = self.inner.state_to_keep()?;
        let id = self.table_id(&state, table)?;
        let mut tally =
            Tally { reader: KeyReader::default(), partition: None, total: TableStatistics::default(), each };
        let mut joined = Vec::new();
        let counted = state.sweep(&Span::table(id), |key, row| {
            if let Some(row) = row {
                tally.add(key.join(&mut joined), row.bytes())?;
            }
            Ok(ControlFlow::Continue(()))
        });
        let read = self.inner.shared.after_read(counted);
        self.remember(read.map_err(|error| error.with_table(table.as_str()))?);
        tally.end_partition();
        Ok(tally.total)
    }
}

/// Counts rows that are visited in key order.
struct Tally<F> {
    reader: KeyReader,
    /// The current partition: its key, its number of rows, and their size in bytes.
    partition: Option<(String, u64, u64)>,
    total: TableStatistics,
    each: F,
}

impl<F: FnMut(PartitionStatistics<'_>)> Tally<F> {
    fn add(&mut self, key: &[u8], row_bytes: usize) -> Result<()> {
        let bytes = (key.len() + row_bytes) as u64;
        let (partition_key, _) = self.reader.split(key)?;
        if let Some(partition) = self.partition.as_mut().filter(|partition| partition.0 == partition_key) {
            partition.1 += 1;
            partition.2 += bytes;
            return Ok(());
        }
        let partition = (partition_key.to_owned(), 1, bytes);
        self.end_partition();
        self.partition = Some(partition);
        Ok(())
    }

    fn end_partition(&mut self) {
        let Some((partition_key, rows, bytes)) = self.partition.take() else { return };
        self.total.rows += rows;
        self.total.bytes += bytes;
        self.total.partitions += 1;
        self.total.max_partition_rows = self.total.max_partition_rows.max(rows);
        self.total.max_partition_bytes = self.total.max_partition_bytes.max(bytes);
        (self.each)(PartitionStatistics { partition_key: &partition_key, rows, bytes });
    }
}
