//! The commands, one module each.

mod complete;
mod copy;
mod count;
mod delete;
mod describe;
mod explain;
mod export;
mod folder;
mod get;
mod import;
mod infer;
mod list;
mod put;
mod query;
mod serve;
mod sync;

use std::io::Write;

use clap::{Parser, Subcommand};
use table_core::TableName;

use crate::failure::{Exit, Failure, Result};
use crate::output::Format;
use crate::store::StoreOptions;

/// Look at, change, move and keep any table: of Azure Table Storage, an emulator, a table-server, or a folder.
///
/// Exit codes: 0 done or found, 1 nothing found, 2 wrong usage, 3 refused, 4 the store failed.
#[derive(Debug, Parser)]
#[command(name = "tables", version, propagate_version = true, max_term_width = 120)]
pub struct Tables {
    #[command(flatten)]
    store: StoreOptions,
    /// The form of the output
    #[arg(long, short, global = true, value_enum, default_value_t)]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the tables of the store
    Ls(list::List),
    /// Show the stored schema of a table, its indexes, and sample rows
    Describe(describe::Describe),
    /// Show one entity
    Get(get::Get),
    /// Show entities by parts of their keys, by keys, or by a condition
    Query(query::Query),
    /// Count entities, in sum or by partition, and compute their checksum
    Count(count::Count),
    /// Show the cost of a query without running it
    Explain(explain::Explain),
    /// Write the Rust declaration that explains the rows of a table
    Infer(infer::Infer),
    /// Write one entity
    Put(put::Put),
    /// Delete entities by key, range, partition or condition
    Delete(delete::Delete),
    /// Write the entities of a table to a file
    Export(export::Export),
    /// Write the entities of a file to a table
    Import(import::Import),
    /// Copy tables from one store to another
    Copy(copy::Copy),
    /// Make a table equal to another: add, change and delete what differs
    Sync(sync::Sync),
    /// Copy a folder, consistently and incrementally, while programs write to it
    Backup(folder::Backup),
    /// Restore a folder from a backup
    Restore(folder::Restore),
    /// Read every checksum of a folder
    Verify,
    /// Merge the files of a folder, so that deleted rows give back their room
    Compact,
    /// Show what an engine holds and has done
    Stats,
    /// Serve a folder to programs in any language, over the protocol of Azure Table Storage
    Serve(serve::Serve),
    /// Write completions for a shell
    Completions(complete::Completions),
    /// Write the manual page
    Man,
}

/// Runs a command, and writes its output to `out`.
///
/// # Errors
/// The [`Failure`] that ended the command, with its exit code.
pub async fn run(tables: Tables, out: &mut (dyn Write + Send)) -> Result<Exit> {
    let Tables { store, output, command } = tables;
    let context = Context { store, output };
    match command {
        Command::Ls(command) => command.run(&context, out).await,
        Command::Describe(command) => command.run(&context, out).await,
        Command::Get(command) => command.run(&context, out).await,
        Command::Query(command) => command.run(&context, out).await,
        Command::Count(command) => command.run(&context, out).await,
        Command::Explain(command) => command.run(&context, out).await,
        Command::Infer(command) => command.run(&context, out).await,
        Command::Put(command) => command.run(&context, out).await,
        Command::Delete(command) => command.run(&context, out).await,
        Command::Export(command) => command.run(&context, out).await,
        Command::Import(command) => command.run(&context, out).await,
        Command::Copy(command) => command.run(&context, out).await,
        Command::Sync(command) => command.run(&context, out).await,
        Command::Backup(command) => command.run(&context, out).await,
        Command::Restore(command) => command.run(out),
        Command::Verify => folder::verify(&context, out),
        Command::Compact => folder::compact(&context, out).await,
        Command::Stats => folder::stats(&context, out),
        Command::Serve(command) => command.run(&context, out).await,
        Command::Completions(command) => command.run(out),
        Command::Man => complete::man(out),
    }
}

/// The options that every command has.
struct Context {
    store: StoreOptions,
    output: Format,
}

/// Returns the name of a table.
fn table(name: &str) -> Result<TableName> {
    Ok(TableName::new(name)?)
}

/// Writes a line of a report.
fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{line}").map_err(Failure::file("-"))
}

/// Returns a number with its noun: `1 row`, `2 rows`.
fn count_of(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
