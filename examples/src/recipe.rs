//! A recipe: one question, asked of a store, with its plan, its answer and what it cost.

use std::fmt;

use futures_util::future::LocalBoxFuture;
use table_core::error::Result;
use table_core::schema::EntitySchema;

use crate::grid::Grid;
use crate::store::Store;

/// One question of the cookbook. `I` is what was imported: the recipe computes the right answer from it and asserts it.
pub struct Recipe<I: ?Sized> {
    /// The name, as `--only` takes it.
    pub name: &'static str,
    /// The question, in words.
    pub question: &'static str,
    /// The design of the entity that answers it.
    pub schema: &'static EntitySchema,
    /// Asks the store and checks the answer against the input.
    pub run: for<'a> fn(&'a Store, &'a I) -> LocalBoxFuture<'a, Result<Report>>,
}

impl<I: ?Sized> fmt::Debug for Recipe<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recipe").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a recipe has to show.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the store was going to answer, said before it was asked; empty for a write.
    pub plan: String,
    /// The answer.
    pub answer: Grid,
    /// What is worth knowing about it, a line each.
    pub notes: Vec<String>,
    /// What the clock says, and so differs from run to run, a line each.
    pub measured: Vec<String>,
}

impl Report {
    /// A plan and the answer.
    #[must_use]
    pub fn new(plan: impl fmt::Display, answer: Grid) -> Self {
        Self { plan: plan.to_string(), answer, notes: Vec::new(), measured: Vec::new() }
    }

    /// The same with one more note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with one more thing that was measured by a clock.
    #[must_use]
    pub fn measured(mut self, what: impl Into<String>) -> Self {
        self.measured.push(what.into());
        self
    }
}
