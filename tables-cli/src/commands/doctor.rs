//! `tables doctor`: diagnoses why a store cannot be used.

use std::io::Write;

use crate::commands::{Context, say};
use crate::doctor;
use crate::failure::{Exit, Failure, Result};
use crate::output::{self, Format};

/// Options of `doctor`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables doctor --store data/company\n  tables doctor Company --store @production\n\nFor an account it checks the endpoint, the signature, DNS, the connection, the clock, the credential, and the table; for a folder also its lock."
)]
pub(super) struct Doctor {
    /// A table to read
    table: Option<String>,
}

impl Doctor {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let steps = doctor::examine(&context.store.location()?, self.table.as_deref()).await;
        if context.output == Format::Table {
            steps.iter().try_for_each(|step| say(out, &step.to_string()))?;
        } else {
            let row = |step: &doctor::Step| {
                let outcome = if step.is_passed() { "ok" } else { "failed" };
                let help = step.help.clone().unwrap_or_default();
                vec![step.name.to_owned(), outcome.to_owned(), step.fact.clone(), help]
            };
            let rows: Vec<_> = steps.iter().map(row).collect();
            output::rows(context.output, out, &["step", "outcome", "fact", "help"], &rows)?;
        }
        match steps.iter().find(|step| !step.is_passed()) {
            None => Ok(Exit::Done),
            Some(step) => Err(Failure::Refused(format!("the store cannot be used: {} failed", step.name))),
        }
    }
}
