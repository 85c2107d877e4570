//! Diagnoses why a store cannot be used. The diagnosis ends at the first step that fails.

mod account;
mod folder;
mod signature;

use std::fmt;

use crate::store::Location;

/// The result of one diagnostic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the step.
    pub name: &'static str,
    /// The result of the step, as a statement of fact.
    pub fact: String,
    /// Advice on how to solve the problem, or `None` if the step succeeded.
    pub help: Option<String>,
}

impl Step {
    fn passed(name: &'static str, fact: impl Into<String>) -> Self {
        Self { name, fact: fact.into(), help: None }
    }

    fn failed(name: &'static str, fact: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name, fact: fact.into(), help: Some(help.into()) }
    }

    /// Returns `true` if the step succeeded.
    #[must_use]
    pub const fn is_passed(&self) -> bool {
        self.help.is_none()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outcome, fact) = (if self.is_passed() { "ok  " } else { "FAIL" }, &self.fact);
        write!(f, "{outcome}  {:9}  {fact}", self.name)?;
        match &self.help {
            Some(help) => write!(f, "\n      help: {help}"),
            None => Ok(()),
        }
    }
}

/// Examines a store, up to the first failure. If the name of a table is given, also examines the table.
pub async fn examine(location: &Location, table: Option<&str>) -> Vec<Step> {
    match location {
        Location::Memory => vec![Step::passed("memory", "a store in memory is always empty and usable")],
        Location::Folder(path) => folder::examine(path, table).await,
        Location::ConnectionString(_) | Location::Signed { .. } | Location::Cosmos(_) => {
            account::examine(location, table).await
        }
    }
}
