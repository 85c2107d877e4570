//! Placeholders for methods that tables or other libraries offer. Calling one on a bulk write is a compile error that suggests the right method.

use crate::refused::{Refused, refused_methods};
use crate::table::Bulk;

/// Never implemented, so a call to a method such as `insert` or `save` is a compile error. The message explains that a bulk write takes a list or an iterator
/// of entities.
#[diagnostic::on_unimplemented(
    message = "[T233] a bulk write has no method of this name: it writes a list or an iterator of entities",
    label = "write `insert_all(entities)`",
    note = "`insert_or_replace_all(entities)` and `insert_or_merge_all(entities)` write entities that may exist, `delete_all(keys)` deletes",
    note = "one entity is written by the table: `table.insert(&entity)`"
)]
pub trait WritesSingly: Refused {}

impl<T> Bulk<'_, T> {
    refused_methods! {
        WritesSingly: insert(_) save(_) create(_) update(_) upsert(_) delete(_) put(_) patch(_) insert_many(_) update_many(_) delete_many(_)
            save_changes() upsert_entity(_, _) insert_or_replace(_) insert_or_merge(_) replace(_, _) merge(_, _) add_all(_) push(_)
            write_all(_) save_all(_) upsert_all(_) update_all(_) remove(_) remove_all(_) replace_all(_) merge_all(_) execute() send() commit();
    }

    #[doc(hidden)]
    #[expect(clippy::should_implement_trait, clippy::must_use_candidate, reason = "a call does not compile")]
    pub fn add<R>(self, _: impl Sized) -> R
    where
        Self: WritesSingly,
    {
        self.refuse()
    }
}
