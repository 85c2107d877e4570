//! Placeholders for methods that queries or other libraries offer. Calling one on a scan is a compile error that suggests the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::scan::{BoundedScan, TableScan};

/// Never implemented, so a call to a method such as `skip` or `page` is a compile error. The message explains that a scan reads the entire table.
#[diagnostic::on_unimplemented(
    message = "[T234] a scan has no method of this name: it reads the whole table, in the order of the keys",
    label = "write `filter(…)`, `collect()`, `stream()` or `for_each(…)`",
    note = "`max_rows(n)` is the number of rows at which the scan fails, not the number that it returns",
    note = "a query has `limit`, `first` and `page`: `table.query({E}::partition(…))`"
)]
pub trait ReadsPart<E>: Refused {}

impl<E, S, T> BoundedScan<E, S, T> {
    refused_methods! {
        ReadsPart<E>: skip(_) take(_) count() map(_) next() sum(_) min(_) max(_) last();
    }
}

impl<E, S, T> BoundedScan<E, S, T>
where
    Self: ReadsPart<E>,
{
    refused_by_name! {
        limit first page page_from page_size order_by top one offset select fetch_all to_list execute where_ collect_versioned read_as
    }
}

/// Never implemented, so a call to a method that is available only after `max_rows` is a compile error with the same message as that of `Bounded`.
#[diagnostic::on_unimplemented(
    message = "[T093] this table scan has no limit",
    label = "call `max_rows` first",
    note = "state how many rows it may read before it fails: `scan(\"monthly audit\").max_rows(2_000_000)`"
)]
pub trait HasLimit: Refused {}

impl<E, S> TableScan<E, S> {
    refused_methods! {
        HasLimit: filter(_) count() map(_) take(_) skip(_) next();
    }
}

impl<E, S> TableScan<E, S>
where
    Self: HasLimit,
{
    refused_by_name! { project stream plan limit first page page_size order_by top fetch_all to_list execute where_ }
}
