//! Measures the size of a batch, and compares it with the limits of a transaction.

use table_core::limits::{Limits, TransactionMeasure};
use table_core::operation::Operation;
use table_core::{Error, Result};

use crate::entities::batch::{Batch, ContributedWrite};
use crate::entities::fault::EntityFault;

impl Batch {
    /// Checks that the batch stays within the operation and byte limits of a transaction.
    ///
    /// # Errors
    /// `InvalidInput` if the batch has too many operations (EGT-2); `RequestBodyTooLarge` if it has too many bytes (EGT-3).
    pub(super) fn check(&mut self, limits: &Limits) -> Result<()> {
        // The first count overestimates the number of rows for the change records. The exact count takes linear time, so it is made only near the limit.
        let most = self.entities.len() + self.rows.len() + self.intents.len() + self.records.len() + 1;
        let operations = if most <= limits.operations { most } else { self.operations() };
        let bytes = self.measured_bytes(limits);
        let fault = if operations > limits.operations {
            EntityFault::Operations { operations, parts: self.parts(), most: limits.operations }
        } else if bytes > limits.transaction_bytes {
            EntityFault::Bytes { bytes, parts: self.parts(), most: limits.transaction_bytes }
        } else {
            return Ok(());
        };
        Err(Error::of(fault))
    }

    /// Returns the size of the rows in bytes, in the measure that `limits` specifies.
    fn measured_bytes(&mut self, limits: &Limits) -> usize {
        if limits.measure == TransactionMeasure::Entities {
            return self.bytes;
        }
        let partition_key = self.partition_key.as_str();
        self.body_bytes.truncate(self.entities.len());
        for Operation { row_key, kind } in self.entities.iter().skip(self.body_bytes.len()) {
            self.body_bytes.push(limits.operation_bytes(partition_key, row_key.as_str(), kind));
        }
        let rows = self.rows.iter().map(|(row_key, row)| match &row.write {
            ContributedWrite::Fixed(kind) => limits.operation_bytes(partition_key, row_key.as_str(), kind),
            ContributedWrite::Derived(_) => 0,
        });
        self.body_bytes.iter().sum::<usize>() + rows.sum::<usize>()
    }

    /// Returns the number of operations per contributor, as text for error messages.
    fn parts(&self) -> String {
        let part = |(name, count): (&str, usize)| match name {
            "entities" | "intents" | "the feed" => format!("{count} of {name}"),
            name => format!("{count} of `{name}`"),
        };
        self.contributions().into_iter().map(part).collect::<Vec<_>>().join(", ")
    }
}
