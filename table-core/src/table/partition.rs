//! Argument types that identify the partition of a transaction (EGT-1).

use table_store::{Error, Result};

use crate::entity::ToEntity;
use crate::key::PartitionKey;
use crate::reported::reported_once;
use crate::selection::{Partition, Selection};
use crate::table::fault::TableFault;

reported_once! {
    ReportedPartition<E>: InPartition, Checked;
}

/// A value that identifies the partition of a transaction. It is a selection of one partition, a key, or an entity in the partition.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::PartitionKey;
/// use table_core::table::InPartition;
///
/// let by_selection = InPartition::<Employee>::partition_key(Employee::partition("Sales"))?;
/// let ada = Employee { department: "Sales".into(), id: 223, age: 34 };
/// let by_entity = InPartition::<Employee>::partition_key(&ada)?;
/// assert_eq!(by_selection, by_entity);
/// assert_eq!(by_entity, PartitionKey::new("Sales")?);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T085] `{Self}` is not a complete partition key of `{E}`",
    label = "write `{E}::partition(…)`, with each part of the PartitionKey",
    note = "a transaction is in exactly one partition (EGT-1)",
    note = "to write to several partitions, without atomicity, use `bulk()`"
)]
pub trait InPartition<E> {
    #[doc(hidden)]
    type Checked;

    /// Returns the `PartitionKey` of the partition.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    fn partition_key(self) -> Result<PartitionKey>;
}

#[diagnostic::do_not_recommend]
impl<E> InPartition<E> for Selection<E, Partition> {
    type Checked = ();

    fn partition_key(self) -> Result<PartitionKey> {
        match &*self.ranges()? {
            [range] if range.partition_key.single().is_some() => {
                PartitionKey::new(range.partition_key.single().unwrap_or_default())
            }
            _ => Err(Error::of(TableFault::NotOnePartition)),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E> InPartition<E> for PartitionKey {
    type Checked = ();

    fn partition_key(self) -> Result<PartitionKey> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: ToEntity> InPartition<E> for &E {
    type Checked = ();

    fn partition_key(self) -> Result<PartitionKey> {
        Ok(self.entity_key()?.partition_key)
    }
}
