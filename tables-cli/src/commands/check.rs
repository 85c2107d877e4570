//! `tables check` and `tables repair`: check and repair derived rows described by the stored schema.

use std::io::Write;

use table_core::TableName;
use table_core::query::TextRange;

use crate::check::plan::plans;
use crate::check::{
    CheckedIndex, CheckedRows, CheckedWide, CopyFinding, Fault, Repaired, check_copies, check_wide, intents,
    repair_copy,
};
use crate::commands::{Context, ORDER_HELP, count_of, end, table, tables};
use crate::failure::{Exit, Failure, Result};
use crate::omitted;
use crate::output;
use crate::rows::require;
use crate::schemas;
use crate::store::{Purpose, Store};
use table_inspect::keys;
use table_inspect::kind::Kinds;

/// The maximum number of findings shown for one index.
const SHOWN: usize = 5;

/// Options of `check`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables check --store data/company\n  tables check Company --store data/company\n\nA pattern that the stored schema does not describe is listed with the reason; the program checks it with `entities().check()`."
)]
pub(super) struct Check {
    /// The table [default: every table of the store]
    table: Option<String>,
}

/// Options of `repair`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example: tables repair Company --store data/company\n\nIndex rows are written and deleted under the versions of their entities. Patterns that the stored schema does not describe are refused with the reason."
)]
pub(super) struct Repair {
    /// The table
    table: String,
    /// The index to repair [default: all]
    #[arg(long, value_name = "INDEX")]
    index: Option<String>,
    /// Show the defects without repairing them
    #[arg(long)]
    dry_run: bool,
}

/// A line of the report: the result for one pattern.
struct Line {
    table: String,
    entity: String,
    pattern: String,
    state: String,
    detail: String,
}

impl Check {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        store.require_key_order(ORDER_HELP)?;
        let names = tables(&store.tables, self.table.as_deref()).await?;
        let mut lines = Vec::new();
        let (mut faults, mut omitted) = (0, 0);
        for name in &names {
            // Each check reads the table again, and each omitted row counts once.
            let mut omitted_here = 0;
            let mut schemas = Vec::new();
            for stored in schemas::of_rows(&store.tables, name).await?.0 {
                match stored.schema {
                    Ok(schema) => schemas.push((stored.table, schema)),
                    Err(error) if stored.table == name.folded() => {
                        let (table, entity) = (name.to_string(), stored.entity);
                        let (pattern, state) = ("schema".to_owned(), "not checked".to_owned());
                        lines.push(Line { table, entity, pattern, state, detail: error.to_string() });
                    }
                    Err(_) => {}
                }
            }
            let kinds = Kinds::new(name.as_str(), &schemas);
            for (_, schema) in schemas.iter().filter(|(of, _)| of == name.folded()) {
                for plan in plans(schema, &schemas) {
                    let (state, detail) = match plan.check {
                        Err(reason) => ("not checked".to_owned(), reason),
                        Ok(index) => {
                            let tables = &store.tables;
                            let checked =
                                CheckedIndex { store: tables, table: name, schema, index, kinds: &kinds };
                            let found = of_index(checked).await?;
                            faults += found.faults;
                            omitted_here = omitted_here.max(found.omitted);
                            (found.state, found.detail)
                        }
                    };
                    let (table, entity) = (name.to_string(), schema.entity.clone());
                    lines.push(Line { table, entity, pattern: plan.pattern, state, detail });
                }
            }
            for (found, left) in
                [wide(&store, name, &mut lines).await?, outbox(&store, name, &mut lines).await?]
            {
                faults += found;
                omitted_here = omitted_here.max(left);
            }
            omitted += omitted_here;
        }
        report(context, &lines, out)?;
        match faults {
            0 => Ok(end(if lines.is_empty() { Exit::Nothing } else { Exit::Done }, omitted)),
            faults => {
                omitted::warn(omitted);
                Err(Failure::Refused(format!(
                    "{}; `tables repair` and `tables poison` repair what the stored schema describes",
                    count_of(faults, "fault")
                )))
            }
        }
    }
}

/// The result of the check of one index.
struct IndexReport {
    faults: u64,
    omitted: u64,
    state: String,
    detail: String,
}

/// Checks one index.
async fn of_index(checked: CheckedIndex<'_>) -> Result<IndexReport> {
    let (mut faults, mut shown) = (0, Vec::new());
    let CheckedRows { entities, index_rows, omitted } = check_copies(checked, async |finding| {
        faults += 1;
        if shown.len() < SHOWN {
            shown.push(text_of(&finding));
        }
        Ok(())
    })
    .await?;
    let (counted, rows) = (format!("{entities} entities"), count_of(index_rows, "index row"));
    let (state, detail) = match faults {
        0 => ("ok".to_owned(), format!("{counted}, {rows}")),
        faults => (count_of(faults, "fault"), format!("{counted}, {rows}: {}", shown.join(", "))),
    };
    Ok(IndexReport { faults, omitted, state, detail })
}

fn text_of(finding: &CopyFinding) -> String {
    let (partition, row) = (finding.key.partition_key.as_str(), finding.key.row_key.as_str());
    let fault = match &finding.fault {
        Fault::Missing => "missing",
        Fault::Different => "different",
        Fault::Orphaned => "orphaned",
        Fault::Taken => "taken by another entity",
        Fault::Unclear(reason) => reason,
    };
    format!("('{partition}', '{row}') {fault}")
}

/// Reports on the wide entities of a table if it contains any. Returns the number of defective wide entities, and the number of rows that the
/// store omitted.
async fn wide(store: &Store, name: &TableName, lines: &mut Vec<Line>) -> Result<(u64, u64)> {
    let (mut faults, mut shown) = (0, Vec::new());
    let CheckedWide { entities, omitted } = check_wide(&store.tables, name, async |finding| {
        faults += 1;
        if shown.len() < SHOWN {
            let (partition, row) = (finding.key.partition_key.as_str(), finding.key.row_key.as_str());
            let fault = if finding.is_missing { "is missing" } else { "belongs to another write" };
            shown.push(format!("('{partition}', '{row}'): part {} {fault}", finding.part));
        }
        Ok(())
    })
    .await?;
    if entities > 0 {
        let counted = format!("{entities} wide entities");
        let (state, detail) = match faults {
            0 => ("ok".to_owned(), counted),
            faults => (count_of(faults, "fault"), format!("{counted}: {}", shown.join(", "))),
        };
        let (table, pattern) = (name.to_string(), "wide".to_owned());
        lines.push(Line { table, entity: String::new(), pattern, state, detail });
    }
    Ok((faults, omitted))
}

/// Reports the backlog of a table's outbox. Returns the number of poison intents, and the number of rows that the store omitted.
async fn outbox(store: &Store, name: &TableName, lines: &mut Vec<Line>) -> Result<(u64, u64)> {
    let backlog = intents(&store.tables, name, &TextRange::ALL, async |_| Ok(())).await?;
    if backlog.waiting + backlog.poison > 0 {
        let state =
            if backlog.poison > 0 { format!("{} poison", backlog.poison) } else { "waiting".to_owned() };
        let detail = format!("{} waiting, of which {} failed before", backlog.waiting, backlog.failed);
        let (table, pattern) = (name.to_string(), "outbox".to_owned());
        lines.push(Line { table, entity: String::new(), pattern, state, detail });
    }
    Ok((backlog.poison, backlog.omitted))
}

fn report(context: &Context, lines: &[Line], out: &mut dyn Write) -> Result<()> {
    let row = |line: &Line| {
        let Line { table, entity, pattern, state, detail } = line;
        [table, entity, pattern, state, detail].map(Clone::clone).to_vec()
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    output::rows(context.output, out, &["table", "entity", "pattern", "state", "detail"], &rows)
}

impl Repair {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(if self.dry_run { Purpose::Read } else { Purpose::Write }).await?;
        store.require_key_order(ORDER_HELP)?;
        let name = table(&self.table)?;
        require(&store.tables, &name).await?;
        let (mut lines, mut refused, mut repaired) = (Vec::new(), 0, 0);
        // The repair of each index reads the table again, and each omitted row counts once.
        let mut omitted = 0;
        // IMPORTANT: a repair deletes orphaned rows. A row whose type has an unreadable schema could be mistaken for an orphan, so an unreadable schema is an
        // error.
        let schemas = keys::schemas_of_rows(&store.tables, &name).await?;
        let kinds = Kinds::new(name.as_str(), &schemas);
        let own = || schemas.iter().filter(|(of, _)| of == name.folded()).map(|(_, schema)| schema);
        if let Some(index) = &self.index
            && !own().any(|schema| schema.indexes.iter().any(|known| known.name == *index))
        {
            let help = "`tables describe` shows the indexes";
            return Err(Failure::Refused(format!(
                "no stored schema of {name} declares an index `{index}`; {help}"
            )));
        }
        for schema in own() {
            for plan in plans(schema, &schemas) {
                let wanted = |index: &String| plan.pattern == format!("index {index}");
                if !self.index.as_ref().is_none_or(wanted) {
                    continue;
                }
                let (state, detail) = match plan.check {
                    Err(reason) => {
                        refused += 1;
                        ("refused".to_owned(), reason)
                    }
                    Ok(index) => {
                        let tables = &store.tables;
                        let checked =
                            CheckedIndex { store: tables, table: &name, schema, index, kinds: &kinds };
                        let (rows, done, left) = self.repair(checked).await?;
                        omitted = rows.omitted.max(omitted);
                        repaired += done;
                        refused += left.len() as u64;
                        let state = if self.dry_run { "would repair" } else { "repaired" };
                        (
                            format!("{state} {done}"),
                            left.into_iter().take(SHOWN).collect::<Vec<_>>().join(", "),
                        )
                    }
                };
                let (table, entity) = (name.to_string(), schema.entity.clone());
                lines.push(Line { table, entity, pattern: plan.pattern, state, detail });
            }
        }
        report(context, &lines, out)?;
        if refused > 0 {
            omitted::warn(omitted);
            let help = "the program with the declaration repairs them with `entities().check().repair()`";
            return Err(Failure::Refused(format!("{} not repaired; {help}", count_of(refused, "item"))));
        }
        Ok(end(if repaired == 0 { Exit::Nothing } else { Exit::Done }, omitted))
    }

    /// Repairs one index. Returns the numbers of compared and of repaired rows, and descriptions of the remaining defects.
    async fn repair(&self, checked: CheckedIndex<'_>) -> Result<(CheckedRows, u64, Vec<String>)> {
        let (mut done, mut left) = (0, Vec::new());
        let rows = check_copies(checked, async |finding| {
            let is_ours = matches!(finding.fault, Fault::Missing | Fault::Different | Fault::Orphaned);
            let repaired = match (self.dry_run, is_ours) {
                (false, _) => repair_copy(checked, &finding).await?,
                (true, true) => Repaired::Done,
                (true, false) => Repaired::Left,
            };
            match repaired {
                Repaired::Done => done += 1,
                Repaired::Unneeded => {}
                Repaired::Left => left.push(text_of(&finding)),
            }
            Ok(())
        })
        .await?;
        Ok((rows, done, left))
    }
}
