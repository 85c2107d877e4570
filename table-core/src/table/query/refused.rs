//! Methods that queries of other libraries have but these do not. Each one reports the method to use instead at compile time.

use std::borrow::Cow;

use crate::bag::TableEntity;
use crate::query::Select;
use crate::refused::{Refused, refused_methods};
use crate::table::EntityQuery;

/// A query with an order other than key order. No query implements it: the methods that require it exist only for their error message.
#[diagnostic::on_unimplemented(
    message = "[T099] a query reads entities in the order of their keys, from the start or from a continuation",
    label = "a table neither sorts nor skips",
    note = "another order is another key: declare an index whose `row_key` starts with the field, or with `desc(field)`",
    note = "read the next page with the continuation of the one before: `page_from(&continuation)`; `limit(n)` ends a query"
)]
pub trait AnyOrder<E>: Refused {}

/// A query whose limit is set by a method of another library. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T193] a query has no method of this name: `limit` bounds the result, `page_size` one request",
    label = "write `limit(n)`",
    note = "`limit(n)` reads at most `n` entities; `page_size(n)` sets the number of entities of one page, and reads all pages",
    note = "`first()` reads the first entity"
)]
pub trait Takes<E>: Refused {}

/// A query that joins or aggregates. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T194] a table reads entities; it does not join, group or add them up",
    label = "a table has no aggregates, except `count()`",
    note = "read the entities and combine them in the program, or keep sums current with a view: `table_patterns::view`",
    note = "entities of several types in one partition are read by one query: `#[derive(EntitySet)]`, `#[derive(EntityGroup)]`"
)]
pub trait Aggregates<E>: Refused {}

/// An entity without declared properties: [`TableEntity`].
#[diagnostic::on_unimplemented(
    message = "[T195] a query of `{Self}` reads some of the properties as a type, not by their names",
    label = "write `project::<Name>()`",
    note = "declare the type with `#[derive(Projection)]`, `#[projection(of = {Self})]` and the fields to read"
)]
pub trait SelectsByName<N> {
    /// Returns the selection of the named properties.
    fn select(names: N) -> Select;
}

#[diagnostic::do_not_recommend]
impl<N: IntoIterator<Item: Into<Cow<'static, str>>>> SelectsByName<N> for TableEntity {
    fn select(names: N) -> Select {
        Select::names(names)
    }
}

/// A query whose results are read by a method of another library. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T198] a query has no method of this name: `collect` reads all entities, `first` one",
    label = "write `collect()`, `first()`, `page()` or `stream()`",
    note = "`collect().await` returns a `Vec`, `first().await` an `Option`, `page().await` one page with its continuation",
    note = "`stream()` reads the pages one after another; `count().await` returns the number of entities, and reads all of them"
)]
pub trait ReadsBy<E>: Refused {}

/// A query whose conditions are added by a method of another library. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T205] a query has no method of this name: a selection names keys, and `filter` takes conditions on properties",
    label = "write `filter(…)` with a condition on columns of `{E}`",
    note = "a range of keys is a selection: `table.query({E}::rows(…))`, narrowed by the parts of the RowKey",
    note = "texts that start with a prefix: `starts_with` of the column; values are arguments of the comparisons, not bound later"
)]
pub trait FiltersBy<E>: Refused {}

/// A query that writes. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T213] a query reads entities; each is written by its key",
    label = "read the entities, and write each of them",
    note = "`table.update({E}::key(…), |entity| …)` changes one entity, `table.bulk().delete_all(…)` deletes any number",
    note = "at most 100 operations on one partition are atomic: `table.transaction({E}::partition(…))`"
)]
pub trait Writes<E>: Refused {}

impl<E, S, T, F> EntityQuery<E, S, T, F> {
    refused_methods! {
        AnyOrder<E>: order_by(_) order_by_asc(_) order_by_desc(_) order(_) then_by(_) sort_by(_) skip(_) offset(_);
        Takes<E>: top(_) take(_) first_n(_) max_per_page(_) per_page(_) paginate(_);
        Aggregates<E>: group_by(_) sum(_) sum_async(_) avg(_) average(_) min(_) max(_) distinct(_) join(_) inner_join(_) left_join(_) include(_) with(_);
        FiltersBy<E>: where_(_) filter_by(_) bind(_) begins(_) begins_with(_) between(_, _);
        Writes<E>: update(_) delete() set(_) execute_update(_) execute_delete() remove_range();
        ReadsBy<E>: all() to_list() to_vec() execute() exec(_) go() fetch() fetch_all() fetch_one() fetch_optional() load() one() single()
            first_or_default() as_no_tracking() len() exists() any() map(_) get_result() get_results() by_page();
    }
}
