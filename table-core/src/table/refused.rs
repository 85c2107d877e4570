//! Placeholders for methods that other libraries offer on tables. Calling one is a compile error that suggests the right method.

use crate::refused::Refused;

#[doc(hidden)]
impl<E, S> Refused for crate::Table<E, S> {
    fn refuse<R>(&self) -> R {
        std::process::abort() // no call compiles
    }
}

/// Never implemented, so a call to a method such as `save` or `upsert` is a compile error that suggests `insert`, `insert_or_replace` or `insert_or_merge`.
#[diagnostic::on_unimplemented(
    message = "[T190] a table has no method of this name: each write says what happens if the entity exists",
    label = "write `insert`, `insert_or_replace` or `insert_or_merge`",
    note = "`insert(&entity)` fails if the entity exists; `insert_or_replace(&entity)` and `insert_or_merge(&entity)` do not",
    note = "to change a stored entity, `update({E}::key(…), |entity| …)`; to replace one version, `replace(&entity, &etag)`"
)]
pub trait Saves<E>: Refused {}

/// Never implemented, so a call to a method such as `get_or_insert_with` is a compile error that suggests a read and an insert.
#[diagnostic::on_unimplemented(
    message = "[T190] a table has no method of this name: a read and an insert are two requests",
    label = "write `get({E}::key(…))`, and `insert(&entity)` if it returns `None`",
    note = "`insert` fails if another writer inserted the entity first: if `error.is_already_exists()`, read it again",
    note = "`insert_or_replace(&entity)` writes the entity without a read, and replaces a stored one"
)]
pub trait GetsOrInserts<E>: Refused {}

/// Never implemented, so a call to a method such as `modify` or `update_one` is a compile error that suggests `update`.
#[diagnostic::on_unimplemented(
    message = "[T209] a table has no method of this name: a change reads the entity, and is repeated if another writer changed it",
    label = "write `update({E}::key(…), |entity| …)`",
    note = "`merge(&entity, &etag)` keeps stored properties that `{E}` does not declare, and `replace(&entity, &etag)` removes them",
    note = "`patch({E}::key(…))` sets single properties without reading the entity"
)]
pub trait Changes<E>: Refused {}

/// Never implemented, so a call to a method such as `find` or `get_by_id` is a compile error that suggests `get`.
#[diagnostic::on_unimplemented(
    message = "[T191] a table has no method of this name: an entity is read by its key",
    label = "write `get({E}::key(…))`",
    note = "`get` reads one entity by its complete key, or by a unique index; `get_many` reads several",
    note = "`query({E}::partition(…))` reads entities by a part of their keys"
)]
pub trait Finds<E>: Refused {}

/// Never implemented, so a call to a method such as `insert_many` or `save_all` is a compile error that suggests a bulk write or a transaction.
#[diagnostic::on_unimplemented(
    message = "[T192] a table writes several entities in bulk, or in a transaction",
    label = "write `bulk().insert_all(entities)`",
    note = "`bulk().insert_all(entities)` writes any number of entities to any partitions, and is not atomic",
    note = "at most 100 operations on one partition are atomic in a transaction"
)]
pub trait WritesMany<E>: Refused {}

/// Never implemented, so a call to a method such as `remove` or `delete_by_id` is a compile error that suggests `delete`, which requires a version.
#[diagnostic::on_unimplemented(
    message = "[T203] a table has no method of this name: a delete names the key and the version of the entity",
    label = "write `delete({E}::key(…), etag)`",
    note = "the version is an `ETag` of an earlier read or write, or `IfMatch::Any` for any version"
)]
pub trait Removes<E>: Refused {}

/// Never implemented, so a call to a method such as `delete_many` or `clear` is a compile error that suggests a bulk delete or `delete_table`.
#[diagnostic::on_unimplemented(
    message = "[T203] a table has no method of this name: entities are deleted by their keys",
    label = "write `bulk().delete_all(keys)`, with `[{E}::key(…)]` or an iterator of keys; or `delete_table()`",
    note = "`delete_table()` deletes the table with all its rows; `delete({E}::key(…), etag)` deletes one entity",
    note = "a query finds the entities of a partition: `query({E}::partition(…)).collect()`"
)]
pub trait RemovesMany<E>: Refused {}

/// Never implemented, so a call to a method such as `contains` or `has_key` is a compile error that suggests `exists`.
#[diagnostic::on_unimplemented(
    message = "[T191] a table has no method of this name: `exists` answers whether an entity has a key",
    label = "write `exists({E}::key(…))`",
    note = "`get({E}::key(…))` reads the entity, and is `None` if there is none"
)]
pub trait Contains<E>: Refused {}

/// Never implemented, so a call to a method such as `create_table` or `ensure_created` is a compile error that suggests `create_if_missing`.
#[diagnostic::on_unimplemented(
    message = "[T200] a table has no method of this name: `create_if_missing` creates the table and stores its schema",
    label = "write `create_if_missing()`",
    note = "`store.table::<{E}>().create_if_missing().await?` returns the handle"
)]
pub trait Creates<E>: Refused {}

/// Never implemented, so a call to a method such as `list` or `find_all` is a compile error that suggests a query that selects keys.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: a query names the keys to read",
    label = "write `query({E}::partition(…)).collect()`",
    note = "`query` reads a partition or a range of rows; `scan(\"the reason\").max_rows(n)` reads the whole table"
)]
pub trait ReadsAll<E>: Refused {}

/// Never implemented, so a call to a method such as `filter` or `find_many` is a compile error that suggests a query that selects keys and filters them.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: a query names the keys to read, and filters them",
    label = "write `query({E}::partition(…)).filter({E}::….eq(…)).collect()`",
    note = "`query` reads a partition or a range of rows; `scan(\"the reason\").max_rows(n).filter(…)` reads the whole table"
)]
pub trait Filters<E>: Refused {}

/// Never implemented, so a call to a method such as `count` or `len` is a compile error that suggests a query that counts its entities.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: a query counts the entities that it reads",
    label = "write `query({E}::partition(…)).count()`",
    note = "`filter({E}::….eq(…))` before `count()` restricts them; a view keeps a count current: `table_patterns::view`"
)]
pub trait Counts<E>: Refused {}

/// Never implemented, so a call to `select` is a compile error that suggests a query with a projection.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: a query names the keys to read, and reads some properties as a type",
    label = "write `query({E}::partition(…)).project::<…>().collect()`, with a type that derives `Projection`",
    note = "declare the type with `#[derive(Projection)]`, `#[projection(of = {E})]` and the fields to read"
)]
pub trait Selects<E>: Refused {}

/// Never implemented, so a call to a method such as `begin` or `create_batch` is a compile error that suggests `transaction` with a partition.
#[diagnostic::on_unimplemented(
    message = "[T202] a table has no method of this name: a transaction is on one partition",
    label = "write `transaction({E}::partition(…))`",
    note = "it applies up to 100 operations atomically when it is committed: `commit().await`"
)]
pub trait Begins<E>: Refused {}

/// Never implemented for a handle of `table_patterns`, so a call to a method such as `begin` or `create_batch` is a compile error that suggests `unit` with a
/// partition.
#[diagnostic::on_unimplemented(
    message = "[T202] a table has no method of this name: a unit is a transaction on one partition",
    label = "write `unit({E}::partition(…))?`",
    note = "its writes are applied atomically when it is committed: `commit().await`; dropping it discards them",
    note = "`transaction({E}::partition(…), async |unit| …)` runs a function that reads and writes, and repeats it after a conflict"
)]
pub trait BeginsUnit<E>: Refused {}

/// Never implemented, so a call to a method such as `drop_table` is a compile error that suggests `delete_table`.
#[diagnostic::on_unimplemented(
    message = "[T203] a table has no method of this name: `delete_table` deletes the table with all its rows",
    label = "write `delete_table()`",
    note = "`bulk().delete_all(keys)` deletes entities, `delete({E}::key(…), etag)` one"
)]
pub trait Drops<E>: Refused {}

/// Never implemented, so a call to a method such as `query_index` or `find_by_index` is a compile error that suggests a selection from the index.
#[diagnostic::on_unimplemented(
    message = "[T191] a table has no method of this name: an index is a selection, a function of `{E}`",
    label = "write `query({E}::by_…(…)).collect()`, or `get({E}::by_…(…))` for a unique index",
    note = "`#[index(ByEmail, …)]` generates `{E}::by_email(…)`, with the fields of its keys"
)]
pub trait ReadsIndex<E>: Refused {}

/// Never implemented, so a call to a method such as `watch` or `subscribe` is a compile error that suggests a feed.
#[diagnostic::on_unimplemented(
    message = "[T264] a table has no method of this name: it does not notify; the changes of `{E}` are read from the feed of each partition",
    label = "write `feed()`, a handle that reads the changes; `store.entities::<{E}>()` has it, and `#[entity(feed)]` above `{E}` records them",
    note = "poll in a loop, with a cursor for each partition: `let (feed, table) = (entities.feed(), entities.table().name()?); \
            for partition in feed.partitions(table).await? {{ feed.read(table, &partition, &Default::default(), 100).await?; }}`",
    note = "a `View` of `{E}` keeps rows that follow the changes: `ViewTable::catch_up(100)` in a loop applies them"
)]
pub trait Follows<E>: Refused {}

/// Never implemented, so a call to a method such as `aggregate` or `distinct` is a compile error. The message explains that a table does not aggregate entities.
#[diagnostic::on_unimplemented(
    message = "[T194] a table reads entities; it does not join, group or add them up",
    label = "write `query({E}::partition(…)).collect()`, and combine the entities in the program",
    note = "a view keeps sums and groups current: `table_patterns::view`; `query({E}::partition(…)).count()` counts entities",
    note = "entities of several types in one partition are read by one query: `#[derive(EntitySet)]`, `#[derive(EntityGroup)]`"
)]
pub trait Combines<E>: Refused {}

/// Declares methods familiar from other libraries. A call to one of them on a handle does not compile, and the error message suggests the right method.
///
/// The argument is the bound for methods that begin a transaction, such as `Begins`.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_verbs {
    ($begins:ident) => {
        $crate::__refused_verbs! {
            Saves: upsert(_) save(_) put(_) add(_) insert_into(_) add_entity(_) create_entity(_) insert_entity(_) upsert_entity(_) save_changes()
                insert_one(_) insert_or_update(_) insert_or_ignore(_) insert_if_absent(_) insert_if_not_exists(_) insert_async(_) add_async(_)
                add_entity_async(_) upsert_async(_) upsert_entity_async(_, _) upsert_one(_) save_async(_) save_entity(_) save_changes_async() put_item(_)
                create_item(_) create_or_update(_) add_or_update(_);
            Changes: update_many(_) update_entity(_, _) update_entity_async(_, _, _) update_item(_, _) update_one(_, _) update_async(_) update_by_id(_, _)
                update_where(_, _) modify(_) attach(_) find_one_and_update(_, _) replace_one(_, _) replace_entity(_) merge_entity(_);
            Finds: find(_) find_one(_) fetch(_) load(_) get_item(_) get_entity(_, _) get_entity_if_exists(_, _) find_async(_) batch_get(_) find_by_id(_)
                get_by_id(_) get_one(_) get_first(_) get_by(_) get_by_key(_) get_async(_, _) get_entity_async(_, _) get_entity_if_exists_async(_, _)
                get_item_async(_) try_get(_) find_first(_) find_unique(_) find_by(_) find_by_key(_) find_one_by(_) fetch_one(_) fetch_optional(_) read(_)
                read_item(_, _) read_entity(_) select_one(_) single(_) single_or_default(_) lookup(_);
            Contains: contains(_) contains_key(_) has(_) has_key(_) exists_by_id(_) exists_async(_) any_async(_);
            WritesMany: batch_put(_) batch_write(_) insert_all(_) insert_many(_) add_all(_) save_all(_) insert_batch(_) insert_bulk(_) bulk_insert(_)
                bulk_write(_) batch_insert(_) batch_write_item(_) upsert_all(_) upsert_many(_) save_many(_) put_all(_) create_many(_) add_range(_)
                add_range_async(_) add_entities(_) write_all(_) update_range(_) update_all(_);
            Removes: remove(_) delete_entity(_, _) delete_by_id(_) destroy(_) delete_entity_async(_, _) delete_one(_) delete_by_key(_) delete_async(_)
                delete_item(_) delete_if_exists(_) remove_one(_) find_one_and_delete(_);
            RemovesMany: delete_many(_) delete_all() delete_where(_) remove_all() remove_range(_) clear() truncate();
            Drops: drop() drop_table() delete_table_async() drop_if_exists();
            ReadsIndex: query_index(_, _) index(_) by_index(_, _) use_index(_) with_index(_) find_by_index(_, _) query_by_index(_, _);
            Creates: connect() init() migrate() create() create_table() create_if_not_exists() create_async() create_if_not_exists_async() create_table_if_not_exists() ensure_created()
                ensure_created_async() ensure_exists();
            ReadsAll: all() list() find_all() fetch_all() get_all() to_list() query_as(_) query_raw(_) first() first_or_default() query_async(_)
                query_entities(_) list_entities() select_all() scan_all() read_all() get_entities() list_all() query_all() execute_query(_) stream()
                to_list_async() get_all_async() first_or_default_async(_) as_queryable() take(_) skip(_) for_each(_);
            Filters: filter(_) filter_by(_) where_(_) query_filter(_) where_by(_) match_(_) find_many(_);
            Counts: count() count_async() len();
            Follows: watch() subscribe(_) changes() change_stream() listen() on_change(_) change_feed() get_change_feed() stream_changes() observe()
                poll() tail() live() on_snapshot(_) get_records();
            Selects: select(_);
            Combines: sum(_) min(_) max(_);
            $begins: begin() begin_transaction() submit_transaction(_) begin_async() begin_transaction_async() start_transaction() submit_transaction_async(_)
                create_batch() new_batch() batch() begin_write() begin_read() start_session() transact(_) transact_write(_) transact_write_items(_);
        }
    };
    ($($bound:ident: $($name:ident($($value:tt),*))*;)*) => {
        $crate::__refused_methods! { $($crate::__private::$bound<E>: $($name($($value),*))*;)* }
    };
}

/// Declares methods that other libraries offer with different numbers of arguments. The argument is the part of an `impl` before its bounds.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_verbs_of_any_arity {
    (@ [$($parameter:ident),*] $handle:ty, $bound:ident, $($name:ident)*) => {
        impl<$($parameter),*> $handle
        where
            Self: $crate::__private::$bound<E>,
        {
            $crate::__refused_by_name! { $($name)* }
        }
    };
    ($parameters:tt $handle:ty) => {
        $crate::__refused_verbs_of_any_arity! {
            $parameters $handle:
            Saves: create_one insert_unique insert_with insert_ignore insert_values insert_returning put_if_absent put_if_not_exists on_conflict;
            GetsOrInserts: entry find_or_create find_or_insert find_or_insert_with find_or_new first_or_create first_or_new get_or_create get_or_default
                get_or_else get_or_insert get_or_insert_default get_or_insert_with;
            Changes: cas change check_and_put compare_and_set compare_and_swap decrement find_and_modify find_and_update find_by_id_and_update
                find_one_and_replace inc increment merge_one patch_one replace_with set_field set_property touch update_if update_or_create
                update_or_insert update_with;
            Finds: batch_get_item batch_get_items find_by_ids find_by_keys find_by_pk find_first_or_throw find_one_by_id find_or_fail
                find_unique_or_throw get_batch get_by_keys get_items get_multiple multi_get read_many read_one retrieve transact_get;
            Removes: delete_by_pk find_by_id_and_delete find_by_id_and_remove find_one_and_remove remove_by_id;
            RemovesMany: batch_delete bulk_delete delete_batch delete_if delete_partition delete_range remove_if remove_many retain;
            Drops: delete_table_if_exists;
            WritesMany: batch_execute bulk_create bulk_update bulk_upsert create_all insert_batch_async patch_all save_batch transact_write_item
                update_batch upsert_batch write_batch;
            ReadsIndex: create_index create_indexes ensure_index find_by_secondary_index scan_index;
            ReadsAll: cursor each earliest execute execute_raw find_cursor find_last get_range latest limit list_items newest next_page offset oldest order_by
                order_by_desc page pages paginate query_by_key query_by_partition query_items query_pages query_partition range range_query read_items
                scan_table sort sort_by sort_by_key top;
            Filters: and_where filter_if filter_where where_eq;
            Selects: pluck project select_many;
            Combines: aggregate aggregate_async average avg distinct distinct_by find_also_related find_related find_with_related group_by include inner_join
                join left_join populate prefetch preload;
            Counts: count_all count_by count_documents count_items count_where estimated_document_count is_empty;
        }
    };
    ($parameters:tt $handle:ty: $($bound:ident: $($name:ident)*;)*) => {$(
        $crate::__refused_verbs_of_any_arity! { @ $parameters $handle, $bound, $($name)* }
    )*};
}

impl<E, S> crate::Table<E, S> {
    __refused_verbs! { Begins }
}

__refused_verbs_of_any_arity! { [E, S] crate::Table<E, S> }
