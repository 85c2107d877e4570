//! Method names of tables and other libraries that bulk writes do not have. A call to such a method does not compile, and the error names the right
//! method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::{Bulk, BulkTarget};

/// A bulk write of one entity. No bulk write implements it: the methods that require it only produce an error message.
#[diagnostic::on_unimplemented(
    message = "[T233] a bulk write has no method of this name: it writes a list or an iterator of entities",
    label = "write `insert_all(entities)`",
    note = "`insert_or_replace_all(entities)` and `insert_or_merge_all(entities)` write entities that may exist, `delete_all(keys)` deletes",
    note = "one entity is written by the table: `table.insert(&entity)`"
)]
pub trait WritesSingly: Refused {}

impl<T: BulkTarget> Bulk<'_, T> {
    refused_methods! {
        WritesSingly: insert(_) save(_) create(_) update(_) upsert(_) delete(_) put(_) patch(_) insert_many(_) update_many(_) delete_many(_)
            save_changes() upsert_entity(_, _);
    }
}

impl<T: BulkTarget> Bulk<'_, T>
where
    Self: WritesSingly,
{
    refused_by_name! {
        insert_or_replace insert_or_merge replace merge add add_all push write write_all put_all save_all upsert_all update_all remove remove_all
        replace_all merge_all execute send commit
    }
}
