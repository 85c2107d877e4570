//! The kinds of entity writes in a unit, as reported in error messages.

use std::fmt;

use table_core::Error;

use crate::unit::UnitOfWork;

/// The kind of write applied to one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) entity: &'static str,
    /// The name of the write, or `None` for a condition.
    pub(super) verb: Option<&'static str>,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verb {
            Some(verb) => write!(f, "{verb} of `{}`", self.entity),
            None => write!(f, "condition on `{}`", self.entity),
        }
    }
}

impl<S, O> UnitOfWork<S, O> {
    /// Adds a description, such as "insert of `Ticket`", to an error about an entity.
    pub(super) fn named(&self, error: Error) -> Error {
        let at = error.operation().or((self.acts.len() == 1).then_some(0));
        let row = |at: usize| self.draft.planned().entities().get(at).map(|operation| &operation.row_key);
        let is_entity = |at: &usize| match (error.key(), row(*at)) {
            (Some((_, row_key)), Some(row)) => row_key == row.as_str(),
            _ => false,
        };
        match at.filter(is_entity).and_then(|at| self.acts.get(at)) {
            Some(act) => error.with_context(&act.to_string()),
            None => error,
        }
    }
}
