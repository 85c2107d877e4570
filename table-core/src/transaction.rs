//! Entity group transactions: several writes of one partition, all or none (EGT rules).

use crate::error::{Error, ErrorCode, Result};
use crate::key::PartitionKey;
use crate::limits::Limits;
use crate::operation::Operation;
use crate::row::entity_bytes;

/// Writes of entities of one partition, applied all or none (EGT-9). One partition by construction (EGT-1).
///
/// Checked while it is built, so that what holds is told before anything is sent: at most 100 operations (EGT-2), 4 MiB
/// (EGT-3, ENG-17), each entity once (EGT-4), every entity within its limits.
#[derive(Clone, Debug)]
pub struct Transaction {
    partition_key: PartitionKey,
    operations: Vec<Operation>,
    bytes: usize,
    limits: Limits,
}

impl Transaction {
    /// An empty transaction on a partition, to be held to these limits.
    ///
    /// # Errors
    /// `PropertyValueTooLarge` if the key is longer than the limits allow (KEY-8).
    pub fn new(partition_key: PartitionKey, limits: Limits) -> Result<Self> {
        limits.check_key("PartitionKey", partition_key.as_str())?;
        Ok(Self { partition_key, operations: Vec::new(), bytes: 0, limits })
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// `InvalidInput` for one operation too many (EGT-2), `RequestBodyTooLarge` above 4 MiB (EGT-3), `InvalidDuplicateRow`
    /// for an entity that is in it already (EGT-4), and every limit of a single entity. The transaction stays as it was.
    pub fn push(&mut self, operation: Operation) -> Result<()> {
        let index = self.operations.len();
        self.check(&operation).map_err(|error| {
            error.with_operation(index).with_key(self.partition_key.as_str(), operation.row_key.as_str())
        })?;
        self.bytes += self.bytes_of(&operation);
        self.operations.push(operation);
        Ok(())
    }

    fn bytes_of(&self, operation: &Operation) -> usize {
        entity_bytes(self.partition_key.as_str(), operation.row_key.as_str(), operation.kind.row())
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        let refuse = |code, rule, message: String| Err(Error::new(code, message).with_rule(rule));
        if self.operations.len() >= self.limits.operations {
            let most = self.limits.operations;
            let message =
                format!("a transaction holds at most {most} operations: commit this one and begin another");
            return refuse(ErrorCode::InvalidInput, "EGT-2", message);
        }
        if self.operations.iter().any(|earlier| earlier.row_key == operation.row_key) {
            let message = "an entity may occur only once in a transaction".to_owned();
            return refuse(ErrorCode::InvalidDuplicateRow, "EGT-4", message);
        }
        self.limits.check_key("RowKey", operation.row_key.as_str())?;
        if let Some(row) = operation.kind.row() {
            self.limits.check_row(row.view())?;
        }
        let bytes = self.bytes_of(operation);
        if operation.kind.row().is_some() {
            self.limits.check_entity_bytes(bytes)?;
        }
        let (sum, most) = (self.bytes.saturating_add(bytes), self.limits.transaction_bytes);
        if sum > most {
            let message =
                format!("the transaction would hold {sum} bytes of entities; at most {most} are allowed");
            return refuse(ErrorCode::RequestBodyTooLarge, "EGT-3", message);
        }
        Ok(())
    }

    /// The partition.
    #[must_use]
    pub const fn partition_key(&self) -> &PartitionKey {
        &self.partition_key
    }

    /// The operations, in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The partition and the operations, taken out.
    #[must_use]
    pub fn into_parts(self) -> (PartitionKey, Vec<Operation>) {
        (self.partition_key, self.operations)
    }

    /// The sum of the entities' sizes by the published formula (SIZE-2, ENG-17).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The limits it was held to.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}
