//! Methods that selections of other libraries have but these do not. Each one reports the method to use instead at compile time.

use crate::refused::{Refused, refused_methods};
use crate::selection::Selection;

/// A selection by properties. No selection implements it: the methods that require it exist for their message.
#[diagnostic::on_unimplemented(
    message = "[T204] a selection names keys; a query of it filters by properties and reads entities",
    label = "write `table.query(selection)` first",
    note = "`table.query({E}::partition(…)).filter(…).collect().await`; a range of a key part is the argument of its method: `{E}::rows(…)`"
)]
pub trait Queries<E>: Refused {}

impl<E, C, F> Selection<E, C, F> {
    refused_methods! {
        Queries<E>: filter(_) limit(_) collect() first() page() stream() count() gt(_) gte(_) lt(_) lte(_) begins(_) between(_, _) go();
    }
}
