//! Entity group transactions: several writes of one partition, all or none (EGT rules).

use std::collections::HashSet;

use crate::error::{Error, ErrorCode, Result};
use crate::fnv::fnv1a64;
use crate::key::{PartitionKey, RowKey};
use crate::limits::Limits;
use crate::limits::fault::LimitFault;
use crate::operation::Operation;
use crate::row::entity_bytes;

/// Operations up to which a look at each is quicker than hashes of their row keys.
const FEW: usize = 16;

/// Writes of entities of one partition, applied all or none (EGT-9). One partition by construction (EGT-1).
///
/// Checked while it is built, so that a violation is reported before anything is sent: at most 100 operations (EGT-2), 4 MiB
/// (EGT-3, ENG-17), each entity once (EGT-4), every entity within its limits.
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
    /// Hashes of the row keys; empty as long as there are at most [`FEW`].
    hashes: HashSet<u64>,
    bytes: usize,
    /// What the names of the last row count for among them.
    names: usize,
    limits: Limits,
    identified: bool,
}

impl Transaction {
    /// An empty transaction on a partition, to be held to these limits.
    ///
    /// # Errors
    /// None so far: a key that is too long is refused by the first operation that would store it (KEY-8, KEY-9).
    pub fn new(partition_key: PartitionKey, limits: Limits) -> Result<Self> {
        let (operations, hashes) = (Vec::new(), HashSet::new());
        Ok(Self { partition_key, operations, hashes, bytes: 0, names: 0, limits, identified: false })
    }

    /// The same, with the wish that a backend which can lose answers stores an identifier with each entity, so that it can tell
    /// afterwards whether the transaction was applied (CON-11). Others ignore it.
    #[must_use]
    pub fn identified(self) -> Self {
        Self { identified: true, ..self }
    }

    /// Whether it was built with that [wish](Self::identified).
    #[must_use]
    pub const fn is_identified(&self) -> bool {
        self.identified
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// `InvalidInput` for one operation too many (EGT-2), `RequestBodyTooLarge` above 4 MiB (EGT-3), `InvalidDuplicateRow`
    /// for an entity that is in it already (EGT-4), and every limit of a single entity. The transaction stays as it was.
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

    /// Whether it writes this row already.
    fn holds(&self, row_key: &RowKey) -> bool {
        let may_hold = self.hashes.is_empty() || self.hashes.contains(&hash(row_key));
        may_hold && self.operations.iter().any(|earlier| earlier.row_key == *row_key)
    }

    /// The bytes of the transaction with this operation in it, and of the names of its row.
    fn check(&self, operation: &Operation) -> Result<(usize, usize)> {
        if self.operations.len() >= self.limits.operations {
            return Err(Error::of(LimitFault::Operations(self.limits.operations)));
        }
        if self.holds(&operation.row_key) {
            let message = "an entity may occur only once in a transaction";
            return Err(Error::new(ErrorCode::InvalidDuplicateRow, message).with_rule("EGT-4"));
        }
        // What is addressed by such a key is not there, and is answered so (KEY-9).
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
        let (sum, most) = (self.bytes.saturating_add(bytes), self.limits.transaction_bytes);
        if sum > most {
            return Err(Error::of(LimitFault::Transaction { sum, most }));
        }
        Ok((sum, names))
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

fn hash(row_key: &RowKey) -> u64 {
    fnv1a64(row_key.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::etag::IfMatch;
    use crate::operation::OperationKind;

    proptest! {
        /// Rows of one shape follow each other, and others, of which some are broken or too large.
        #[test]
        fn what_a_row_is_checked_for_does_not_depend_on_those_before_it(
            models in prop::collection::vec(crate::row::tests::model(), 1..4),
            rows in prop::collection::vec((0..4_usize, 0..4_usize, any::<bool>()), 0..12),
        ) {
            // Texts of five code units are too long here.
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
        fn egt_4_each_entity_once_as_a_set_says(row_keys in prop::collection::vec("[a-z]{1,2}", 0..90)) {
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
