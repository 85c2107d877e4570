//! `tables poison`: lists, requeues or discards poison intents. A poison intent is recorded work that failed repeatedly.

use std::io::Write;

use crate::check::{Intent, discard, intents, requeue};
use crate::commands::delete::confirm;
use crate::commands::{Context, count_of, end, say, table};
use crate::failure::{Exit, Result};
use crate::output;
use crate::rows::KeySelection;
use crate::store::Purpose;

/// The maximum number of intents listed, requeued or discarded by one command.
const LISTED: usize = 1_000;

/// Options of `poison`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables poison Orders --store data/company\n  tables poison Orders --requeue --store data/company\n  tables poison Orders --partition Sales --discard --yes --store data/company\n\nA requeued intent is found by the next sweep of the workers. The work of a discarded intent is never done."
)]
pub(super) struct Poison {
    /// The table
    table: String,
    #[command(flatten)]
    keys: KeySelection,
    /// Requeue the intents, with their attempts reset
    #[arg(long, conflicts_with = "discard")]
    requeue: bool,
    /// Delete the intents
    #[arg(long)]
    discard: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Poison {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let changes = self.requeue || self.discard;
        let store = context.store.open(if changes { Purpose::Write } else { Purpose::Read }).await?;
        let name = table(&self.table)?;
        let range = self.keys.key_range();
        let mut chosen: Vec<Intent> = Vec::new();
        let backlog = intents(&store.tables, &name, &range.partition_key, async |intent| {
            let is_chosen = intent.is_poison && range.row_key.contains(intent.row.key().row_key.as_str());
            if is_chosen && chosen.len() < LISTED {
                chosen.push(intent);
            }
            Ok(())
        })
        .await?;
        if chosen.is_empty() {
            return Ok(end(Exit::Nothing, backlog.omitted));
        }
        let counted = count_of(chosen.len() as u64, "intent");
        if !changes {
            let row = |intent: &Intent| {
                let key = intent.row.key();
                let (attempts, error) = (intent.attempts().to_string(), intent.error().to_owned());
                vec![key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned(), attempts, error]
            };
            let rows: Vec<_> = chosen.iter().map(row).collect();
            output::rows(context.output, out, &["partition", "row", "attempts", "error"], &rows)?;
            return Ok(end(Exit::Done, backlog.omitted));
        }
        if self.discard {
            confirm(self.yes, &format!("discard {counted} of {name} in {}?", store.shown))?;
        }
        for intent in &chosen {
            if self.requeue {
                requeue(&store.tables, &name, intent).await?;
            } else {
                discard(&store.tables, &name, intent).await?;
            }
        }
        say(out, &format!("{} {counted}", if self.requeue { "requeued" } else { "discarded" }))?;
        Ok(end(Exit::Done, backlog.omitted))
    }
}
