//! The commands of the program, with one module per command.

mod audit;
mod backup;
mod check;
mod complete;
mod copy;
mod count;
mod delete;
mod describe;
mod doctor;
mod explain;
mod explore;
mod export;
mod folder;
mod get;
mod heat;
mod import;
mod infer;
mod list;
mod patch;
mod poison;
mod properties;
mod put;
mod query;
mod restore;
mod serve;
mod sql;
mod sync;
mod tail;

use std::io::Write;
use std::pin::Pin;

use clap::{Parser, Subcommand};
use table_core::{DynTableStore, EntityKey, TableName};

pub(crate) use crate::count::count_of;
use crate::failure::{Exit, Failure, Result};
use crate::omitted::{end, omitted_part};
use crate::output::Format;
use crate::program::Lasting;
use crate::rows::all_tables;
use crate::store::StoreOptions;
use crate::terminal::{Printable, json_text};

/// The help message for a command that needs rows in key order, on a store that returns them in a different order.
const ORDER_HELP: &str = "copy the tables to a folder with `tables copy`, and use the folder";

/// Query, change, copy and back up tables of Azure Table Storage, an emulator, a table-server or a folder.
///
/// Exit codes: 0 done or found, 1 nothing found, 2 wrong usage, 3 refused, 4 the store failed, 5 the store omitted rows.
#[derive(Debug, Parser)]
#[command(name = "tables", version, propagate_version = true, max_term_width = 120)]
pub struct Tables {
    #[command(flatten)]
    store: StoreOptions,
    /// The format of the output
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
    /// Show entities selected by key, by parts of the key, or by a condition
    Query(query::Query),
    /// Show the newest rows of a partition, and follow rows as they are added
    Tail(tail::TailTable),
    /// Count entities, in total or by partition, and compute their checksum
    Count(count::Count),
    /// Show the partitions of a table by rows or bytes, as text or as a picture
    Heat(heat::ShowHeat),
    /// Show the cost of a query without running it
    Explain(explain::Explain),
    /// Report design defects found in the rows of a table, each with its rule, sample rows and a fix
    Audit(audit::AuditTables),
    /// Check indexes and outboxes, as far as the stored schema describes them
    Check(check::Check),
    /// Repair indexes, as far as the stored schema describes them
    Repair(check::Repair),
    /// List, requeue or discard poison intents
    Poison(poison::Poison),
    /// Infer a Rust declaration from the rows of a table
    Infer(infer::Infer),
    /// Write one entity
    Put(put::Put),
    /// Change or remove some properties of an existing entity
    Patch(patch::Patch),
    /// Delete entities by key, range, partition or condition
    Delete(delete::Delete),
    /// Write the entities of a table to a file
    Export(export::Export),
    /// Write the entities of a file to a table
    Import(import::Import),
    /// Copy tables from one store to another
    Copy(copy::Copy),
    /// Make a table equal to another by inserting, changing and deleting rows
    Sync(sync::Sync),
    /// Back up all tables of a store as a new generation: first all rows, later only the changes, including deletions
    Backup(backup::Backup),
    /// Restore a generation, a table, a partition or a key of a backup to any store
    Restore(restore::Restore),
    /// Verify every checksum of a folder
    #[command(after_help = "Example: tables verify --store data/company")]
    Verify,
    /// Merge the files of a folder, which reclaims the space of deleted rows
    #[command(after_help = "Example: tables compact --store data/company")]
    Compact,
    /// Show the size and the counters of an engine
    #[command(after_help = "Example: tables stats --store data/company")]
    Stats,
    /// Report why a store cannot be used: name, connection, clock, credential, lock
    Doctor(doctor::Doctor),
    /// Serve a folder to programs in any language, over the protocol of Azure Table Storage
    Serve(serve::Serve),
    /// Explore tables in a browser: schemas, keys by their parts, queries with their plans, pending work
    Explore(explore::Explore),
    /// Query tables with SQL, using the program `tables-sql`
    Sql(sql::Sql),
    /// Write completions for a shell
    Completions(complete::Completions),
    /// Write the manual page, or one page for each command
    Man(complete::Manual),
}

impl Command {
    /// Returns `true` if the command only produces output. Such a command ends when its output is closed.
    const fn only_shows(&self) -> bool {
        matches!(
            self,
            Self::Ls(_)
                | Self::Describe(_)
                | Self::Get(_)
                | Self::Query(_)
                | Self::Tail(_)
                | Self::Count(_)
                | Self::Heat(_)
                | Self::Explain(_)
                | Self::Infer(_)
                | Self::Export(_)
                | Self::Stats
                | Self::Completions(_)
                | Self::Man(_)
        )
    }
}

/// Runs a command, and writes its output to `out`. The future is boxed; otherwise every program and test that polls it would compile all commands.
///
/// # Errors
/// The [`Failure`] that ended the command. It determines the exit code.
#[inline(never)]
pub fn run<'a>(
    tables: Tables,
    out: &'a mut (dyn Write + Send),
) -> Pin<Box<dyn Future<Output = Result<Exit>> + 'a>> {
    Box::pin(run_command(tables, out))
}

async fn run_command(tables: Tables, out: &mut (dyn Write + Send)) -> Result<Exit> {
    let Tables { store, output, command } = tables;
    let context = Context { store, output };
    let mut lasting;
    let out: &mut (dyn Write + Send) = if command.only_shows() {
        out
    } else {
        lasting = Lasting(out);
        &mut lasting
    };
    match command {
        Command::Ls(command) => command.run(&context, out).await,
        Command::Describe(command) => command.run(&context, out).await,
        Command::Get(command) => command.run(&context, out).await,
        Command::Query(command) => command.run(&context, out).await,
        Command::Tail(command) => command.run(&context, out).await,
        Command::Doctor(command) => command.run(&context, out).await,
        Command::Count(command) => command.run(&context, out).await,
        Command::Explain(command) => command.run(&context, out).await,
        Command::Audit(command) => command.run(&context, out).await,
        Command::Check(command) => command.run(&context, out).await,
        Command::Repair(command) => command.run(&context, out).await,
        Command::Poison(command) => command.run(&context, out).await,
        Command::Infer(command) => command.run(&context, out).await,
        Command::Put(command) => command.run(&context, out).await,
        Command::Patch(command) => command.run(&context, out).await,
        Command::Heat(command) => command.run(&context, out).await,
        Command::Delete(command) => command.run(&context, out).await,
        Command::Export(command) => command.run(&context, out).await,
        Command::Import(command) => command.run(&context, out).await,
        Command::Copy(command) => command.run(&context, out).await,
        Command::Sync(command) => command.run(&context, out).await,
        Command::Backup(command) => command.run(&context, out).await,
        Command::Restore(command) => command.run(&context, out).await,
        Command::Verify => folder::verify(&context, out).await,
        Command::Compact => folder::compact(&context, out).await,
        Command::Stats => folder::stats(&context, out).await,
        Command::Serve(command) => command.run(&context, out).await,
        Command::Explore(command) => command.run(&context, out).await,
        Command::Sql(command) => command.run(&context),
        Command::Completions(command) => command.run(out),
        Command::Man(command) => command.run(out),
    }
}

/// The options shared by all commands.
struct Context {
    store: StoreOptions,
    output: Format,
}

/// Parses the name of a table.
///
/// # Errors
/// `Usage` if the name is invalid.
fn table(name: &str) -> Result<TableName> {
    TableName::new(name).map_err(|error| Failure::Usage(error.to_string()))
}

/// Parses the key of an entity.
///
/// # Errors
/// `Usage` if the key is invalid.
fn key(partition_key: &str, row_key: &str) -> Result<EntityKey> {
    EntityKey::new(partition_key, row_key).map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the tables a command applies to: the given table, or all tables except internal ones.
async fn tables(store: &DynTableStore, name: Option<&str>) -> Result<Vec<TableName>> {
    if let Some(name) = name {
        return Ok(vec![table(name)?]);
    }
    let all = all_tables(store).await?;
    Ok(all.into_iter().filter(|name| !list::is_own(name.as_str())).collect())
}

/// Writes one line of a report.
fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{}", Printable(line)).map_err(Failure::file("-"))
}

/// Writes a value as one line of JSON, in which control characters are escaped.
fn say_json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<()> {
    let json = json_text(value).map_err(Failure::file("-"))?;
    writeln!(out, "{json}").map_err(Failure::file("-"))
}
