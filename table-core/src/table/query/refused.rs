//! Methods that queries of other libraries have but these do not. Each one reports the method to use instead at compile time.

use crate::table::EntityQuery;

/// A query with an order other than key order. No query implements it: the methods that require it exist only for their error message.
#[diagnostic::on_unimplemented(
    message = "[T099] a query reads entities in the order of their keys, from the start or from a continuation",
    label = "a table neither sorts nor skips",
    note = "another order is another key: declare an index whose `row_key` starts with the field, or with `desc(field)`",
    note = "read the next page with the continuation of the one before: `page_from(&continuation)`; `limit(n)` ends a query"
)]
pub trait AnyOrder {}

macro_rules! refused {
    ($($name:ident)*) => {
        impl<E, S, T, F> EntityQuery<E, S, T, F> {$(
            #[doc(hidden)]
            pub fn $name<V>(self, _value: V) -> Self
            where
                Self: AnyOrder,
            {
                self
            }
        )*}
    };
}

refused! { order_by order_by_desc sort_by skip offset }
