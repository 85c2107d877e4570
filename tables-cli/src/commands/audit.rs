//! `tables audit`: reports design defects found in the rows of a table.

use std::io::Write;

use serde_json::json;
use table_core::{FromEntity, TableEntity, TableName};

use crate::audit::{Audit, Finding};
use crate::commands::{Context, ORDER_HELP, count_of, end, say, say_json, tables};
use crate::failure::{Exit, Failure, Result};
use crate::output::{self, Format};
use crate::progress;
use crate::rows::{Pages, Selection};
use crate::store::{Purpose, Store};
use crate::terminal::Printable;
use table_inspect::keys;

/// Options of `audit`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables audit --store data/company\n  tables audit Company --store data/company -o json\n\nEvery row is read once. Each finding names its rule; docs/rules explains it."
)]
pub(super) struct AuditTables {
    /// The table [default: every table of the store]
    table: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// Compare the formats of at most ROWS rows, which are held in memory
    #[arg(long, default_value_t = 20_000, value_name = "ROWS")]
    sample: usize,
}

impl AuditTables {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        if self.table.is_none() && !self.selection.is_all() {
            return Err(Failure::Usage("rows are selected in one table; name the table".to_owned()));
        }
        let store = context.store.open(Purpose::Read).await?;
        store.require_key_order(ORDER_HELP)?;
        let names = tables(&store.tables, self.table.as_deref()).await?;
        let (mut found, mut rows, mut omitted) = (Vec::new(), 0, 0);
        for name in &names {
            let (audit, left) = self.audit(&store, name).await?;
            rows += audit.rows();
            omitted += left;
            let findings = audit.finish();
            if context.output == Format::Table {
                for finding in &findings {
                    let title = if names.len() > 1 { format!("{name}: ") } else { String::new() };
                    write!(out, "{}", Printable(format_args!("{title}{finding}")))
                        .map_err(Failure::file("-"))?;
                }
            }
            found.extend(findings.into_iter().map(|finding| (name, finding)));
        }
        match context.output {
            Format::Table if found.is_empty() => {
                say(out, &format!("no findings in {}", count_of(rows, "row")))?;
            }
            Format::Table => {}
            Format::Json => {
                for (name, finding) in &found {
                    say_json(out, &object(name, finding))?;
                }
            }
            Format::Csv => {
                let rows: Vec<_> = found.iter().map(|(name, finding)| cells(name, finding)).collect();
                let names = ["table", "rule", "fact", "rows", "samples", "fix"];
                output::rows(Format::Csv, out, &names, &rows)?;
            }
        }
        Ok(end(if found.is_empty() { Exit::Nothing } else { Exit::Done }, omitted))
    }

    /// Reads a table. Returns the audit, and the number of rows that the store omitted.
    async fn audit(&self, store: &Store, name: &TableName) -> Result<(Audit, u64)> {
        let selected = self.selection.rows(&store.tables, name).await?;
        let mut audit =
            Audit::new(name.as_str(), keys::schemas_of_rows(&store.tables, name).await?, self.sample);
        let (mut pages, bar) = (Pages::new(&store.tables, name, selected), progress::rows("audited"));
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                audit.push(TableEntity::from_entity(entity)?);
            }
            bar.set_position(audit.rows());
        }
        bar.finish_and_clear();
        Ok((audit, pages.omitted()))
    }
}

fn object(table: &TableName, finding: &Finding) -> serde_json::Value {
    let samples: Vec<_> = finding.samples.iter().map(|(partition, row)| json!([partition, row])).collect();
    json!({
        "table": table.as_str(), "rule": finding.rule, "fact": finding.fact, "rows": finding.rows,
        "samples": samples, "fix": finding.fix,
    })
}

fn cells(table: &TableName, finding: &Finding) -> Vec<String> {
    let (rule, fact, fix) = (finding.rule.to_owned(), finding.fact.clone(), finding.fix.clone());
    vec![table.as_str().to_owned(), rule, fact, finding.rows.to_string(), finding.sample_text(), fix]
}
