//! Entity group transactions: atomic writes to one partition (EGT rules).

use std::collections::HashSet;

use crate::error::{Error, ErrorCode, Result};
use crate::fnv::fnv1a64;
use crate::key::{PartitionKey, RowKey};
use crate::lease::WriteLease;
use crate::limits::fault::LimitFault;
use crate::limits::{Limits, TransactionMeasure};
use crate::operation::Operation;
use crate::row::entity_bytes;

/// The number of operations up to which duplicate row keys are found by comparing all keys. For so few keys, this is faster than hashing.
const FEW: usize = 16;

/// Writes to entities in one partition, applied atomically (EGT-9). The constructor sets the partition (EGT-1).
///
/// Each operation is checked when it is added, before anything is sent. A transaction has at most 100 operations (EGT-2), at most 4 MiB (EGT-3, ENG-17), and
/// one operation per entity (EGT-4). The limits for entities also apply.
///
/// ```
/// use table_core::limits::Limits;
/// use table_core::row::RowWriter;
/// use table_core::{Operation, OperationKind, PartitionKey, RowKey, Transaction};
///
/// let mut sales = Transaction::new(PartitionKey::new("Sales")?, Limits::PORTABLE)?;
/// let insert = |row_key| -> table_core::Result<Operation> {
///     Ok(Operation { row_key: RowKey::new(row_key)?, kind: OperationKind::Insert(RowWriter::new().finish()) })
/// };
/// sales.push(insert("000223")?)?;
/// assert_eq!(sales.push(insert("000223")?).unwrap_err().rule(), Some("EGT-4"));
/// assert_eq!(sales.operations().len(), 1);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transaction {
    partition_key: PartitionKey,
    operations: Vec<Operation>,
    /// The hashes of the row keys. Empty if the transaction has at most [`FEW`] operations.
    hashes: HashSet<u64>,
    bytes: usize,
    /// The total size of the property names in the last operation's row.
    names: usize,
    limits: Limits,
    identified: bool,
    lease: Option<WriteLease>,
}

impl Transaction {
    /// Creates an empty transaction on a partition, with the given limits.
    ///
    /// # Errors
    /// This function currently always succeeds. If the `PartitionKey` is too long, the first operation that would store it fails (KEY-8, KEY-9).
    pub fn new(partition_key: PartitionKey, limits: Limits) -> Result<Self> {
        let (operations, hashes) = (Vec::new(), HashSet::new());
        let (bytes, names, identified, lease) = (0, 0, false, None);
        Ok(Self { partition_key, operations, hashes, bytes, names, limits, identified, lease })
    }

    /// Replaces the transaction's limits and checks every operation against the new limits.
    ///
    /// # Errors
    /// Any error from [`push`](Self::push).
    pub fn with_limits(mut self, limits: Limits) -> Result<Self> {
        let operations = std::mem::take(&mut self.operations);
        Self { limits, ..self }.with_operations(operations)
    }

    /// Replaces the transaction's operations, keeping its partition, limits and lease.
    ///
    /// # Errors
    /// Any error from [`push`](Self::push).
    pub fn with_operations(self, operations: Vec<Operation>) -> Result<Self> {
        let Self { identified, lease, .. } = self;
        let empty = Self::new(self.partition_key, self.limits)?;
        let mut transaction = Self { identified, lease, ..empty };
        for operation in operations {
            transaction.push(operation)?;
        }
        Ok(transaction)
    }

    /// Sets a time limit for sending the transaction.
    ///
    /// ```
    /// use std::time::Duration;
    /// use table_core::limits::Limits;
    /// use table_core::store::WriteLease;
    /// use table_core::{Clock, PartitionKey, Transaction};
    ///
    /// let lease = WriteLease::new(&Clock::default(), Duration::ZERO);
    /// let sales = Transaction::new(PartitionKey::new("Sales")?, Limits::PORTABLE)?.with_lease(lease);
    /// assert!(sales.check_lease().is_err_and(|error| WriteLease::has_ended(&error)));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_lease(self, lease: WriteLease) -> Self {
        Self { lease: Some(lease), ..self }
    }

    /// Returns the time limit for sending the transaction, or `None` if unlimited.
    #[must_use]
    pub const fn lease(&self) -> Option<&WriteLease> {
        self.lease.as_ref()
    }

    /// Checks that the transaction may be sent now.
    ///
    /// # Errors
    /// `ServerBusy` if its lease [has expired](WriteLease::ended).
    pub fn check_lease(&self) -> Result<()> {
        match &self.lease {
            Some(lease) if lease.remaining().is_none() => Err(WriteLease::ended(None)),
            _ => Ok(()),
        }
    }

    /// Requests that an identifier of the transaction be stored with each entity. After a lost response, the backend can use the identifier to determine
    /// whether the transaction was applied (CON-11). A backend that cannot lose responses ignores the request.
    #[must_use]
    pub fn identified(self) -> Self {
        Self { identified: true, ..self }
    }

    /// Reverts [`identified`](Self::identified).
    #[must_use]
    pub fn unidentified(self) -> Self {
        Self { identified: false, ..self }
    }

    /// Returns `true` if [`identified`](Self::identified) was called.
    #[must_use]
    pub const fn is_identified(&self) -> bool {
        self.identified
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// - `InvalidInput` if the transaction would have more than 100 operations (EGT-2).
    /// - `RequestBodyTooLarge` if it would exceed 4 MiB (EGT-3).
    /// - `InvalidDuplicateRow` if it already writes the entity (EGT-4).
    /// - A validation error if the entity exceeds the limits.
    ///
    /// After an error, the transaction is unchanged.
    pub fn push(&mut self, operation: Operation) -> Result<()> {
        let index = self.operations.len();
        (self.bytes, self.names) = self.check(&operation).map_err(|error| {
            error.with_operation(index).with_key(self.partition_key.as_str(), operation.row_key.as_str())
        })?;
        self.operations.push(operation);
        if self.operations.len() > FEW {
            let hashed = if self.hashes.is_empty() { 0 } else { index };
            let added = self.operations.iter().skip(hashed);
            self.hashes.extend(added.map(|operation| hash(&operation.row_key)));
        }
        Ok(())
    }

    /// Returns `true` if the transaction already has an operation on this row.
    fn holds(&self, row_key: &RowKey) -> bool {
        let may_hold = self.hashes.is_empty() || self.hashes.contains(&hash(row_key));
        may_hold && self.operations.iter().any(|earlier| earlier.row_key == *row_key)
    }

    /// Validates an operation. Returns the size that the transaction would have with the operation, and the total size of the property names in the operation's
    /// row.
    fn check(&self, operation: &Operation) -> Result<(usize, usize)> {
        if self.operations.len() >= self.limits.operations {
            return Err(Error::of(LimitFault::Operations(self.limits.operations)));
        }
        if self.holds(&operation.row_key) {
            let message = "an entity may occur only once in a transaction";
            return Err(Error::new(ErrorCode::InvalidDuplicateRow, message).with_rule("EGT-4"));
        }
        // An entity whose key is too long cannot exist. An operation that requires an existing entity therefore fails in the store, as for any missing entity
        // (KEY-9).
        if operation.kind.may_create() {
            self.limits.check_key("PartitionKey", self.partition_key.as_str())?;
            self.limits.check_key("RowKey", operation.row_key.as_str())?;
        }
        let (mut bytes, mut names) =
            (entity_bytes(self.partition_key.as_str(), operation.row_key.as_str(), None), 0);
        if let Some(row) = operation.kind.row() {
            let before = self.operations.last().and_then(|before| before.kind.row());
            let before = before.map(|before| (before.view(), self.names));
            let values;
            (names, values) = self.limits.measure_row(before, row.view())?;
            bytes += names + values;
            self.limits.check_entity_bytes(bytes)?;
        }
        if matches!(self.limits.measure, TransactionMeasure::Body { .. }) {
            let (partition_key, row_key) = (self.partition_key.as_str(), operation.row_key.as_str());
            bytes = self.limits.operation_bytes(partition_key, row_key, &operation.kind);
        }
        let (sum, most) = (self.bytes.saturating_add(bytes), self.limits.transaction_bytes);
        if sum > most && self.limits.measure != TransactionMeasure::Unmeasured {
            // If the first operation exceeds the limit on its own, the entity would not fit into any other transaction either.
            let fault = if self.operations.is_empty() {
                LimitFault::Alone { bytes, most }
            } else {
                LimitFault::Transaction { sum, most }
            };
            return Err(Error::of(fault));
        }
        Ok((sum, names))
    }

    /// Returns the partition that the transaction writes to.
    #[must_use]
    pub const fn partition_key(&self) -> &PartitionKey {
        &self.partition_key
    }

    /// Returns the operations in insertion order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the partition and the operations.
    #[must_use]
    pub fn into_parts(self) -> (PartitionKey, Vec<Operation>) {
        (self.partition_key, self.operations)
    }

    /// Returns the size of the transaction. Its limits define how the size is measured. By default, it is the total size of the entities, calculated with the
    /// service's published formula (SIZE-2, ENG-17).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the limits of the transaction.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

fn hash(row_key: &RowKey) -> u64 {
    fnv1a64(row_key.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::etag::IfMatch;
    use crate::operation::OperationKind;

    #[test]
    fn egt_3_an_oversized_entity_is_distinguished_from_a_full_transaction() {
        let insert = |row_key: &str, length: usize| {
            let mut row = crate::row::RowWriter::new();
            row.property("Text", crate::value::ValueRef::String(&"x".repeat(length)));
            let kind = OperationKind::Insert(row.finish());
            Operation { row_key: RowKey::new(row_key).unwrap(), kind }
        };
        let limits = Limits { transaction_bytes: 10_000, ..Limits::PORTABLE };
        let mut transaction = Transaction::new(PartitionKey::default(), limits).unwrap();
        let error = transaction.push(insert("a", 6_000)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityTooLarge, "{error}");
        assert!(!error.to_string().contains("start another"), "{error}");
        transaction.push(insert("a", 3_000)).unwrap();
        let error = transaction.push(insert("b", 3_000)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RequestBodyTooLarge, "{error}");
    }

    proptest! {
        /// Checks sequences of rows with equal and different shapes (names and types), some of them invalid or too large.
        #[test]
        fn the_checks_of_a_row_do_not_depend_on_earlier_rows(
            models in prop::collection::vec(crate::row::tests::model(), 1..4),
            rows in prop::collection::vec((0..4_usize, 0..4_usize, any::<bool>()), 0..12),
        ) {
            // Strings of five or more code units exceed this limit.
            let limits = Limits { string_units: 4, ..Limits::PORTABLE };
            let mut transaction = Transaction::new(PartitionKey::default(), limits).unwrap();
            let mut bytes = 0;
            for (index, (model, cut, is_deleted)) in rows.into_iter().enumerate() {
                let row = crate::row::tests::row(&models[model % models.len()]);
                let row = crate::Row::from_bytes(row.as_bytes()[..row.as_bytes().len() - cut / 3].into());
                let row_key = RowKey::new(index.to_string()).unwrap();
                let kind = if is_deleted { OperationKind::Delete(IfMatch::Any) } else { OperationKind::Insert(row) };
                let operation = Operation { row_key, kind };
                let mut alone = Transaction::new(PartitionKey::default(), limits).unwrap();
                let wanted = alone.push(operation.clone()).map_err(|error| error.code());
                prop_assert_eq!(transaction.push(operation).map_err(|error| error.code()), wanted);
                bytes += alone.bytes();
                prop_assert_eq!(transaction.bytes(), bytes);
            }
        }

        #[test]
        fn egt_4_each_entity_is_accepted_once(row_keys in prop::collection::vec("[a-z]{1,2}", 0..90)) {
            let mut transaction = Transaction::new(PartitionKey::default(), Limits::PORTABLE).unwrap();
            let mut model = HashSet::new();
            for text in row_keys {
                let row_key = RowKey::new(text.as_str()).unwrap();
                let pushed = transaction.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) });
                let code = pushed.err().map(|error| error.code());
                prop_assert_eq!(code, (!model.insert(text)).then_some(ErrorCode::InvalidDuplicateRow));
                prop_assert_eq!(transaction.operations().len(), model.len());
            }
        }
    }
}
