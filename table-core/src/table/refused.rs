//! Names of methods that other libraries have and tables do not. A call to such a method does not compile, and the error message suggests the right method.

use crate::refused::Refused;

/// A handle with one method for both insert and replace. No handle implements this trait; methods that require it exist only to produce an error message.
#[diagnostic::on_unimplemented(
    message = "[T190] a table has no method of this name: each write says what happens if the entity exists",
    label = "write `insert`, `insert_or_replace` or `insert_or_merge`",
    note = "`insert(&entity)` fails if the entity exists; `insert_or_replace(&entity)` and `insert_or_merge(&entity)` do not",
    note = "to change a stored entity, `update({E}::key(…), |entity| …)`; to replace one version, `replace(&entity, &etag)`"
)]
pub trait Saves<E>: Refused {}

/// A handle that changes an entity with a method known from another library. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T209] a table has no method of this name: a change reads the entity, and is repeated if another writer changed it",
    label = "write `update({E}::key(…), |entity| …)`",
    note = "`merge(&entity, &etag)` keeps stored properties that `{E}` does not declare, and `replace(&entity, &etag)` removes them",
    note = "`patch({E}::key(…))` sets single properties without reading the entity"
)]
pub trait Changes<E>: Refused {}

/// A handle that finds entities by arbitrary criteria. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T191] a table has no method of this name: an entity is read by its key",
    label = "write `get({E}::key(…))`",
    note = "`get` reads one entity by its complete key, or by a unique index; `get_many` reads several",
    note = "`query({E}::partition(…))` reads entities by a part of their keys"
)]
pub trait Finds<E>: Refused {}

/// A handle that writes many entities with one method call. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T192] a table writes several entities in bulk, or in a transaction",
    label = "write `bulk().insert_all(entities)`",
    note = "`bulk().insert_all(entities)` writes any number of entities to any partitions, and is not atomic",
    note = "at most 100 operations on one partition are atomic in a transaction"
)]
pub trait WritesMany<E>: Refused {}

/// A handle that deletes an entity without a version. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T203] a table has no method of this name: a delete names the key and the version of the entity",
    label = "write `delete({E}::key(…), etag)`",
    note = "the version is an `ETag` of an earlier read or write, or `IfMatch::Any` for any version"
)]
pub trait Removes<E>: Refused {}

/// A handle that creates its table with a method known from another library. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T200] a table has no method of this name: `create_if_missing` creates the table and stores its schema",
    label = "write `create_if_missing()`",
    note = "`store.table::<{E}>().create_if_missing().await?` returns the handle"
)]
pub trait Creates<E>: Refused {}

/// A handle that queries a table without a selection of keys. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: a query names the keys to read",
    label = "write `query({E}::partition(…)).collect()`",
    note = "`query` reads a partition or a range of rows; `scan(\"the reason\").max_rows(n)` reads the whole table"
)]
pub trait ReadsAll<E>: Refused {}

/// A handle that begins a transaction without a partition. No handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T202] a table has no method of this name: a transaction is on one partition",
    label = "write `transaction({E}::partition(…))`",
    note = "it applies up to 100 operations atomically when it is committed: `commit().await`"
)]
pub trait Begins<E>: Refused {}

/// Declares methods that users may know from other libraries. A call to one of them on a handle does not compile, and the error message suggests the right
/// method.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_verbs {
    () => {
        $crate::__refused_verbs! {
            Saves: upsert(_) save(_) put(_) add(_) insert_into(_) add_entity(_) create_entity(_) insert_entity(_)
                upsert_entity(_) save_changes();
            Changes: update_entity(_, _) update_item(_) modify(_) attach(_);
            Finds: find(_) find_one(_) fetch(_) load(_) get_item(_) get_entity(_, _) get_entity_if_exists(_, _) find_async(_) batch_get(_);
            WritesMany: batch_put(_) batch_write(_) insert_all(_) insert_many(_) add_all(_) save_all(_);
            Removes: remove(_) delete_entity(_, _);
            Creates: create() create_table() create_if_not_exists();
            ReadsAll: all() list() find_all() fetch_all() get_all() to_list() match_(_) query_as(_) query_raw(_) first() first_or_default() count() filter(_) where_(_)
                query_async(_) query_entities(_) list_entities();
            Begins: begin() begin_transaction() submit_transaction(_);
        }
    };
    ($($bound:ident: $($name:ident($($value:tt),*))*;)*) => {$($(
        #[doc(hidden)]
        pub fn $name<R>(&self $(, $value: impl Sized)*) -> R
        where
            Self: $crate::__private::$bound<E>,
        {
            $crate::__private::Refused::refuse(self)
        }
    )*)*};
}

impl<E, S> crate::Table<E, S> {
    __refused_verbs! {}
}
