//! Methods that queries of other libraries have but these do not. Each one reports the method to use instead at compile time.

use std::future::{Ready, ready};

use crate::bag::TableEntity;
use crate::error::Result;
use crate::table::EntityQuery;

/// A query with an order other than key order. No query implements it: the methods that require it exist only for their error message.
#[diagnostic::on_unimplemented(
    message = "[T099] a query reads entities in the order of their keys, from the start or from a continuation",
    label = "a table neither sorts nor skips",
    note = "another order is another key: declare an index whose `row_key` starts with the field, or with `desc(field)`",
    note = "read the next page with the continuation of the one before: `page_from(&continuation)`; `limit(n)` ends a query"
)]
pub trait AnyOrder {}

/// A query with a maximum of another name. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T193] a query has no method of this name: `limit` bounds the result, `page_size` one request",
    label = "write `limit(n)`",
    note = "`limit(n)` reads at most `n` entities; `page_size(n)` sets the number of entities of one page, and reads all pages",
    note = "`first()` reads the first entity"
)]
pub trait Takes {}

/// A query that joins or aggregates. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T194] a table reads entities; it does not group or add them up",
    label = "a table has no aggregates, except `count()`",
    note = "read the entities and combine them in the program, or keep sums current with a view: `table_patterns::view`"
)]
pub trait Aggregates {}

/// An entity without declared properties: [`TableEntity`].
#[diagnostic::on_unimplemented(
    message = "[T195] a query of `{Self}` reads some of the properties as a type, not by their names",
    label = "write `project::<Name>()`",
    note = "declare the type with `#[derive(Projection)]`, `#[projection(of = Employee)]` and the fields to read"
)]
pub trait SelectsByName {}

#[diagnostic::do_not_recommend]
impl SelectsByName for TableEntity {}

/// A query whose results are read by a method of another name. No query implements it.
#[diagnostic::on_unimplemented(
    message = "[T198] a query has no method of this name: `collect` reads all entities, `first` one",
    label = "write `collect()`, `first()`, `page()` or `stream()`",
    note = "`collect().await` returns a `Vec`, `first().await` an `Option`, `page().await` one page with its continuation",
    note = "`stream()` reads the pages one after another; `count().await` returns the number of entities, and reads all of them"
)]
pub trait ReadsBy {}

macro_rules! refused {
    ($($bound:ident: $($name:ident($($value:tt)?))*;)*) => {
        impl<E, S, T, F> EntityQuery<E, S, T, F> {$($(
            #[doc(hidden)]
            pub fn $name(self $(, $value: impl Sized)?) -> Ready<Result<()>>
            where
                Self: $bound,
            {
                ready(Ok(()))
            }
        )*)*}
    };
}

refused! {
    AnyOrder: order_by(_) order_by_desc(_) sort_by(_) skip(_) offset(_);
    Takes: top(_) take(_) first_n(_);
    Aggregates: group_by(_) sum(_) avg(_) distinct(_);
    ReadsBy: all() to_list() to_vec() execute() exec() fetch() fetch_all() fetch_one() fetch_optional() load() one() single()
        first_or_default() len() exists() any() map(_);
}
