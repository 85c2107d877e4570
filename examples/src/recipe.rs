//! A recipe of the cookbook: a question about stored data, with its plan, its result and its cost.

use std::fmt;

use futures_util::future::LocalBoxFuture;
use table_core::Result;
use table_core::schema::EntitySchema;

use crate::grid::Grid;
use crate::store::Store;

/// A recipe of the cookbook. `I` is the type of the imported data, from which the expected result is computed.
pub struct Recipe<I: ?Sized> {
    /// The name of the recipe, as specified with `--only`.
    pub name: &'static str,
    /// The question answered by the recipe.
    pub question: &'static str,
    /// The schema of the entity read by the recipe.
    pub schema: &'static EntitySchema,
    /// Queries the store, checks the result against the input, and returns a report.
    pub run: for<'a> fn(&'a Store, &'a I) -> LocalBoxFuture<'a, Result<Report>>,
}

impl<I: ?Sized> fmt::Debug for Recipe<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recipe").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The output of a recipe.
#[derive(Clone, Debug)]
pub struct Report {
    /// The query plan, determined before the query runs. It is empty if the recipe is a write.
    pub plan: String,
    /// The result of the query, as a table.
    pub answer: Grid,
    /// Notes on the result, one per line.
    pub notes: Vec<String>,
    /// Measured times, one per line. They differ between runs.
    pub measured: Vec<String>,
}

impl Report {
    /// Creates a report from a plan and a result.
    #[must_use]
    pub fn new(plan: impl fmt::Display, answer: Grid) -> Self {
        Self { plan: plan.to_string(), answer, notes: Vec::new(), measured: Vec::new() }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a measured time.
    #[must_use]
    pub fn measured(mut self, what: impl Into<String>) -> Self {
        self.measured.push(what.into());
        self
    }
}
