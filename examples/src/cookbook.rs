//! Runs the cookbook: opens a store, imports the data, and runs and prints each recipe.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use crate::cleanup;
use crate::grid::thousands;
use crate::inputs::Inputs;
use crate::large::PackageIndex;
use crate::layout;
use crate::recipe::Recipe;
use crate::store::{self, Store};
use crate::{large, recipes};

/// Options for a cookbook run: the recipes and the store.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder of the store, or `None` for an in-memory store.
    pub folder: Option<PathBuf>,
    /// The connection string of an account that replaces the embedded store. The run deletes everything that it has created in the account.
    pub azure: Option<String>,
    /// The names of the recipes to run. If the list is empty, all recipes run.
    pub only: Vec<String>,
    /// The number of package builds in the second, larger input. `None` skips this input.
    pub large: Option<u64>,
}

/// Runs the cookbook and prints its output to `out`.
///
/// # Errors
/// Any error from the store or the output, or an error if [`Options::only`] contains an unknown recipe name.
///
/// # Panics
/// Panics if a result differs from the result computed from the input.
pub async fn run(options: &Options, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    check_names(options)?;
    let Some(connection_string) = &options.azure else {
        let store = match &options.folder {
            Some(folder) => store::open(folder)?,
            None => store::in_memory(),
        };
        return run_on(&store, options, out).await;
    };
    run_in_account(connection_string, options, out).await
}

#[cfg(feature = "azure")]
async fn run_in_account(
    connection_string: &str,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    run_and_delete(&store::azure(connection_string).await?, options, out).await
}

#[cfg(not(feature = "azure"))]
#[expect(clippy::unused_async, reason = "the signature of the feature `azure`")]
async fn run_in_account(_: &str, _: &Options, _: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    Err("this build has no client for accounts: add `--features azure` to the command, before `--`".into())
}

/// Runs the cookbook on an empty store. Then deletes all tables, queues and blobs, even after an error or a panic.
///
/// # Errors
/// Any error from the store or the output.
///
/// # Panics
/// Panics if a result differs from the result computed from the input.
pub async fn run_and_delete(
    store: &Store,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let (outcome, deleted) = cleanup::after(store, run_on(store, options, out)).await;
    match deleted {
        Ok(tables) => writeln!(out, "\n{tables} tables deleted")?,
        Err(error) => {
            writeln!(out, "\nTables, queues or blobs of this run could not be deleted: {error}")?;
            return outcome.and(Err(error.into()));
        }
    }
    outcome
}

async fn run_on(store: &Store, options: &Options, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "Store: {store}")?;
    if options.azure.is_some() {
        let note = "It does not report examined rows: the rows read are the rows returned.";
        writeln!(out, "Everything created there is deleted at the end. {note}")?;
    }
    writeln!(out, "\nImport")?;
    let inputs = Inputs::load()?;
    inputs.import(store, out).await?;
    for recipe in chosen(recipes::ALL, options) {
        show(recipe, store, &inputs, out).await?;
    }
    if let Some(builds) = options.large.filter(|builds| *builds > 0) {
        run_large(&PackageIndex::of_machine(builds), store, options, out).await?;
    }
    Ok(())
}

/// Imports package builds, and then runs the recipes that read them.
///
/// # Errors
/// Any error from the store or the output.
///
/// # Panics
/// Panics if a result differs from the result computed from the index.
pub async fn run_large(
    index: &PackageIndex,
    store: &Store,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    writeln!(out, "\nThe same recipes on builds of the packages of {}\n\nImport", index.source())?;
    large::import::import_index(index, store, out).await?;
    for recipe in chosen(large::recipes::ALL, options) {
        show(recipe, store, index, out).await?;
    }
    Ok(())
}

fn chosen<'a, I>(recipes: &'a [Recipe<I>], options: &'a Options) -> impl Iterator<Item = &'a Recipe<I>> {
    let only = &options.only;
    recipes.iter().filter(move |recipe| only.is_empty() || only.iter().any(|name| name == recipe.name))
}

/// Returns the name and the question of each recipe.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    let small = recipes::ALL.iter().map(|recipe| (recipe.name, recipe.question));
    small.chain(large::recipes::ALL.iter().map(|recipe| (recipe.name, recipe.question)))
}

fn check_names(options: &Options) -> Result<(), Box<dyn Error>> {
    match options.only.iter().find(|only| !list().any(|(name, _)| name == only.as_str())) {
        Some(unknown) => Err(format!("no recipe is named `{unknown}`: `--list` names them all").into()),
        None => Ok(()),
    }
}

async fn show<I>(
    recipe: &Recipe<I>,
    store: &Store,
    input: &I,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    writeln!(out, "\n── {} {}", recipe.name, "─".repeat(100usize.saturating_sub(recipe.name.len())))?;
    writeln!(
        out,
        "{}\n\nLayout of `{}` in table `{}`",
        recipe.question, recipe.schema.entity, recipe.schema.table
    )?;
    writeln!(out, "{}", layout::of(recipe.schema))?;
    let (before, began) = (store.cost(), Instant::now());
    let report = (recipe.run)(store, input).await?;
    let (cost, took) = (store.cost() - before, began.elapsed());
    // The layout is printed after the run. It shows rows that only some recipes write.
    let golden = layout::golden(store.unmetered(), recipe.schema).await?;
    if !golden.is_empty() {
        writeln!(out, "{golden}")?;
    }
    if !report.plan.is_empty() {
        writeln!(out, "\nPlan\n{}", indented(&report.plan))?;
    }
    writeln!(out, "\nAnswer\n{}", report.answer)?;
    for note in &report.notes {
        writeln!(out, "  {note}")?;
    }
    writeln!(out, "\nCost: {cost}; {} µs with all checks", thousands(u64::try_from(took.as_micros())?))?;
    for measured in &report.measured {
        writeln!(out, "  {measured}")?;
    }
    Ok(())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
