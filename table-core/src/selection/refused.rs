//! Placeholders for methods that other libraries offer on selections. Calling one is a compile error that suggests the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::selection::Selection;

/// Never implemented, so a call to a method such as `filter` or `collect` is a compile error that suggests passing the selection to `query` first.
#[diagnostic::on_unimplemented(
    message = "[T204] a selection names keys; a query of it filters by properties and reads entities",
    label = "write `table.query(selection)` first",
    note = "`table.query({E}::partition(…)).filter(…).collect().await`; a range of a key part is the argument of its method: `{E}::rows(…)`"
)]
pub trait Queries<E>: Refused {}

/// Never implemented, so a call to `to_string` or `as_str` is a compile error that suggests `key`, which returns the encoded key of one entity.
#[diagnostic::on_unimplemented(
    message = "[T246] a selection is not a text: it is the key of an entity, or a part of the keys of several",
    label = "write `key()?` for the encoded key of one entity",
    note = "`let key = {E}::key(…).key()?;` is an `EntityKey`, with the texts `key.partition_key.as_str()` and `key.row_key.as_str()`",
    note = "a selection is passed to a table as it is: `table.get({E}::key(…))`, `table.query({E}::partition(…))`"
)]
pub trait IsText<E>: Refused {}

impl<E, C, F> Selection<E, C, F> {
    refused_methods! {
        Queries<E>: go() send() filter(_) collect() count() gt(_) lt(_);
        IsText<E>: to_string() as_str();
    }
}

impl<E, C, F> Selection<E, C, F>
where
    Self: Queries<E>,
{
    refused_by_name! { limit first page stream gte lte begins between where_ order_by fetch_all exec execute desc asc rev reverse descending newest_first sort_by skip take
    begins_with starts_with gt_eq lt_eq in_range order project select cursor fetch load run_query
    top to_list all each next sort get remove one run first_or_default count_all update_all delete_all narrow offset }
}
