//! Placeholders for methods that other libraries offer on queries. Calling one is a compile error that suggests the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::EntityQuery;

/// Never implemented, so a call to a method such as `order_by` or `skip` is a compile error. The message explains that a query returns entities in key order.
#[diagnostic::on_unimplemented(
    message = "[T099] a query reads entities in the order of their keys, from the start or from a continuation",
    label = "a table neither sorts nor skips",
    note = "sort the collected entities: `found.sort_by_key(|entity| entity.field)`, or `std::cmp::Reverse(entity.field)` for a descending order",
    note = "another order is another key: declare an index, `#[index(ByField, row_key(\"field_\", desc(field), …))]`, and read `{E}::by_field_rows(…)`",
    note = "read the next page with the continuation of the one before: `page_from(&continuation)`; `limit(n)` ends a query"
)]
pub trait AnyOrder<E>: Refused {}

#[doc(hidden)]
impl<E, S, T, F> Refused for EntityQuery<E, S, T, F> {
    fn refuse<R>(&self) -> R {
        std::process::abort() // no call compiles
    }
}

/// Never implemented, so a call to a method such as `take` or `top` is a compile error that suggests `limit` or `page_size`.
#[diagnostic::on_unimplemented(
    message = "[T193] a query has no method of this name: `limit` bounds the result, `page_size` one request",
    label = "write `limit(n)`",
    note = "`limit(n)` reads at most `n` entities; `page_size(n)` sets the number of entities of one page, and reads all pages",
    note = "`first()` reads the first entity"
)]
pub trait Takes<E>: Refused {}

/// Never implemented, so a call to a method such as `join` or `sum` is a compile error. The message explains that a query does not join or aggregate entities.
#[diagnostic::on_unimplemented(
    message = "[T194] a table reads entities; it does not join, group or add them up",
    label = "a table has no aggregates, except `count()`",
    note = "read the entities and combine them in the program, or keep sums current with a view: `table_patterns::view`",
    note = "entities of several types in one partition are read by one query: `#[derive(EntitySet)]`, `#[derive(EntityGroup)]`"
)]
pub trait Aggregates<E>: Refused {}

/// Never implemented, so a call to a method such as `join` or `include` is a compile error. The message explains that a query does not follow references.
#[diagnostic::on_unimplemented(
    message = "[T194] a table reads entities; it does not join, group or add them up",
    label = "read the other entities by a query or by their keys: `others.get_many(found.iter().map(|entity| Other::key(…)))`",
    note = "entities of several types in one partition are read by one query: `#[derive(EntitySet)]` and `read_as::<Set>()`, or `#[derive(EntityGroup)]` and \
            `read_group`, for an owner and its parts",
    note = "copies of another entity's properties are kept current: `#[entity(copies_from(…))]`"
)]
pub trait Joins<E>: Refused {}

/// Never implemented, so a call to `or_filter` or `or` is a compile error that suggests combining the conditions.
#[diagnostic::on_unimplemented(
    message = "[T205] a query has no method of this name: several `filter` calls are combined by `and`, and alternatives are one condition",
    label = "write both conditions in one `filter`: `filter({E}::….eq(…).or({E}::….eq(…)))`",
    note = "`filter(a.or(b))` or `filter(a | b)` in place of `filter(a).or_filter(b)`; `Condition::any(list)` combines a list"
)]
pub trait Alternates<E>: Refused {}

/// Never implemented, so a call to a method such as `apply_if` is a compile error that suggests one condition for a value that may be absent.
#[diagnostic::on_unimplemented(
    message = "[T205] a query has no method of this name: an `Option` of a condition is one condition, which matches all entities if it is `None`",
    label = "write `filter(Condition::all(option))`, with an `Option` such as `age.map(|age| {E}::….eq(age))`",
    note = "`use table_patterns::Condition;`, or `table_core::Condition`",
    note = "an `if` also extends a query: `let query = if all {{ query }} else {{ query.filter({E}::….eq(…)) }};`"
)]
pub trait FiltersIf<E>: Refused {}

/// Never implemented, so a call to a method such as `any` or `exists` is a compile error that suggests reading the first entity.
#[diagnostic::on_unimplemented(
    message = "[T198] a query has no method of this name: whether it finds an entity is known after it has read the first one",
    label = "write `first().await?.is_some()`",
    note = "`table.exists({E}::key(…)).await?` tests one key, and `count().await?` counts the entities by reading all of them"
)]
pub trait TestsBy<E>: Refused {}

/// Never implemented, so a call to a method such as `reverse` or `scan_index_forward` is a compile error that suggests a descending key.
#[diagnostic::on_unimplemented(
    message = "[T099] a query reads entities in the ascending order of their keys",
    label = "collect the entities, then reverse them: `let mut found = ….collect().await?; found.reverse();`",
    note = "to read the last ones first, write the part of the key in descending order: `#[row_key(desc(field))]` above `{E}`, for a number or an instant",
    note = "an index adds this order to the stored one: `#[index(ByField, row_key(\"field_\", desc(field), …))]`, read by `{E}::by_field_rows(…)`"
)]
pub trait Descends<E>: Refused {}

/// Not implemented for queries of typed entities, so a call to a method such as `select` or `columns` is a compile error that suggests a projection.
///
/// Queries of [`TableEntity`](crate::TableEntity) have their own method `select`, which selects properties by name.
#[diagnostic::on_unimplemented(
    message = "[T195] a query of `{E}` reads some of the properties as a type, not by their names",
    label = "write `project::<Name>()`",
    note = "declare the type with `#[derive(Projection)]`, `#[projection(of = {E})]` and the fields to read"
)]
pub trait SelectsByName<E>: Refused {}

/// Never implemented, so a call to a method such as `fetch_all` or `to_list` is a compile error that suggests `collect` or `first`.
#[diagnostic::on_unimplemented(
    message = "[T198] a query has no method of this name: `collect` reads all entities, `first` one",
    label = "write `collect()`, `first()`, `page()` or `stream()`",
    note = "`collect().await` returns a `Vec`, `first().await` an `Option`, `page().await` one page with its continuation",
    note = "`stream()` reads the pages one after another; `count().await` returns the number of entities, and reads all of them"
)]
pub trait ReadsBy<E>: Refused {}

/// Never implemented, so a call to a method such as `where_` or `having` is a compile error that suggests a selection of keys or `filter`.
#[diagnostic::on_unimplemented(
    message = "[T205] a query has no method of this name: a selection names keys, and `filter` takes conditions on properties",
    label = "write `filter({E}::….eq(…))`",
    note = "a range of keys is a selection: `table.query({E}::rows(…))`, narrowed by the parts of the RowKey",
    note = "texts that start with a prefix: `starts_with` of the column; values are arguments of the comparisons, not bound later"
)]
pub trait FiltersBy<E>: Refused {}

/// Never implemented, so a call to a method such as `update` or `delete` is a compile error. The message explains that entities are written by their keys.
#[diagnostic::on_unimplemented(
    message = "[T213] a query reads entities; each is written by its key",
    label = "read the entities, and write each of them",
    note = "`table.update({E}::key(…), |entity| …)` changes one entity, `table.bulk().delete_all(…)` deletes any number",
    note = "at most 100 operations on one partition are atomic: `table.transaction({E}::partition(…))`"
)]
pub trait Writes<E>: Refused {}

/// Never implemented, so a call to a method such as `use_index` is a compile error that suggests passing the index as the selection.
#[diagnostic::on_unimplemented(
    message = "[T258] a query has no method of this name: an index is a selection, a function of `{E}`",
    label = "write `query({E}::by_…(…))`, with the name of the index, in place of this call",
    note = "`#[index(ByEmail, …)]` generates `{E}::by_email(…)`, with the fields of its keys; `{E}::by_email_rows(…)` selects a range"
)]
pub trait UsesIndex<E>: Refused {}

/// Never implemented, so a call to a method such as `consistent_read` is a compile error. The message explains that a query has no consistency level.
#[diagnostic::on_unimplemented(
    message = "[T259] a query has no consistency level: a read sees every write that was completed before it",
    label = "remove this call",
    note = "the consistency of Cosmos DB is an option of the store: `Options::latest_committed_reads(true)`"
)]
pub trait ReadsLatest<E>: Refused {}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: UsesIndex<E>,
{
    refused_by_name! { index index_name use_index with_index via_index by_index on_index hint force_index using_index secondary_index }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: ReadsLatest<E>,
{
    refused_by_name! { consistent_read consistent consistency strongly_consistent read_concern read_preference with_consistency consistency_level session_token }
}

impl<E, S, T, F> EntityQuery<E, S, T, F> {
    refused_methods! {
        AnyOrder<E>: skip(_) step_by(_) nth(_) order_by(_) order_by_asc(_) order_by_desc(_) order_by_descending(_) sort_by(_) offset(_);
        Descends<E>: rev() last();
        Takes<E>: take(_);
        Aggregates<E>: sum(_) min(_) max(_) min_by_key(_) max_by_key(_) min_by(_) max_by(_) fold(_, _) reduce(_) partition(_) zip(_) chain(_);
        FiltersBy<E>: filter_by(_);
        TestsBy<E>: any();
        Writes<E>: update(_) delete();
        ReadsBy<E>: go() send() all(_) map(_) len() next() try_next() find(_) filter_map(_) flat_map(_) enumerate() position(_)
            cloned() peekable() inspect(_) try_for_each(_) skip_while(_) take_while(_) unwrap();
    }

    #[doc(hidden)]
    #[expect(clippy::iter_not_returning_iterator, reason = "a call does not compile")]
    pub fn iter<R>(self) -> R
    where
        Self: ReadsBy<E>,
    {
        self.refuse()
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: SelectsByName<E>,
{
    refused_by_name! {
        select projection_expression columns fields attributes_to_get projection select_columns select_only only pluck properties
        select_all select_as column column_as exclude omit project_to into_model into_json into_tuple into_partial_model as_model as_projection
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: AnyOrder<E>,
{
    refused_by_name! {
        order then_by sort cursor after before with_continuation
        exclusive_start_key start_after start_at start_from start_key after_key from_key page_token continuation continue_from resume_from
        ascending asc sorted natural_order seek order_by_key sort_order then_order_by start_token next_token resume
        sort_by_key sort_by_cached_key sort_unstable sort_unstable_by sort_unstable_by_key sort_asc sorted_by sorted_by_key end_before end_at cursor_by previous
        last_page
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Descends<E>,
{
    refused_by_name! {
        scan_index_forward descending desc reverse reversed newest_first sort_desc then_by_descending backward backwards latest last_or_default from_end
        then_by_desc newest reverse_order order_desc tail last_n
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: TestsBy<E>,
{
    refused_by_name! { any_async exists is_empty has_any some none not_any }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Alternates<E>,
{
    refused_by_name! { or or_where or_filter or_else or_matching filter_or }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Joins<E>,
{
    refused_by_name! {
        join inner_join left_join include with find_also_related find_with_related then_include prefetch preload populate lookup load_with select_related
        include_all with_related right_join cross_join join_on left_outer_join graph_lookup expand
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Takes<E>,
{
    refused_by_name! {
        top first_n max_per_page with_limit set_limit page_limit per_page paginate max_results max_items batch_size limit_to limit_by top_n fetch_first
        head fetch_size chunk_size batch batches batched chunk
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Aggregates<E>,
{
    refused_by_name! {
        group_by sum_async avg average distinct aggregate distinct_by group max_async min_async sum_by unique
        group_by_key chunk_by partition_by distinct_on dedup union union_all intersect
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: FiltersBy<E>,
{
    refused_by_name! {
        where_ and_where primary and_filter bind begins begins_with between having
        key_condition_expression key_condition filter_expression expression_attribute_values expression_attribute_names expression query_filter matching matches
        param params with_params where_in where_not where_like where_between filter_not filter_all filter_async cond gte lte starts_with contains
        like ilike in_ is_in is_null is_not_null
        where_clause where_eq where_key condition and sort_key_condition partition_key row_key prefix filter_eq odata
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: Writes<E>,
{
    refused_by_name! {
        set execute_update execute_update_async execute_delete execute_delete_async remove_range remove update_all delete_all
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: FiltersIf<E>,
{
    refused_by_name! { apply apply_if filter_if filter_opt filter_some maybe when where_if where_some conditionally }
}

impl<E, S, T, F> EntityQuery<E, S, T, F>
where
    Self: ReadsBy<E>,
{
    refused_by_name! {
        to_list to_list_async to_array to_array_async to_vec execute exec fetch fetch_all fetch_one fetch_optional fetch_many load load_all one
        single single_async first_async first_or_default first_or_default_async get as_no_tracking count_async get_result
        get_results into_vec by_page into_stream rows entities to_page
        send_all pages into_paginator paginator items items_stream to_stream try_collect try_collect_vec cursor_stream scalar scalars results result docs
        collect_all collect_vec into_results run all_async open advance has_next fetch_page pages_iter as_pages as_tracking count_documents
        allow_filtering max_time timeout_ms for_update explain_plan total total_count query_all into_cursor rows_affected
        find_one get_all get_one load_one single_or_none one_or_none one_or_fail first_or_none first_or at now await_all iter_mut stream_all page_stream
        paginate_by into_items next_page as_stream stream_with collect_map collect_async for_each_async each to_map to_set to_hashmap into_hash_map expect
        is_some is_none count_all size debug_query explain to_sql
    }
}
