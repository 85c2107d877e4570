//! The poison queue of an outbox: its visible entries, and the form for requeuing marked entries.

use http::Response;
use maud::{Markup, html};
use table_core::queue::DynQueueStore;
use table_core::{DynTableStore, QueueName, QueueStore, ticks};
use table_patterns::outbox::Outbox;
use table_patterns::work::PoisonEntry;

use crate::failure::{Failure, Result};
use crate::form_text::returned;
use crate::link;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;

/// The maximum number of poison queue entries shown.
const ENTRIES: usize = 32;

/// Returns an outbox with the given queue, for access to its poison queue.
fn outbox(context: &Context<'_>, queue: &str) -> Result<Outbox<DynTableStore, DynQueueStore>> {
    let missing = || Failure::Refused("the explorer has no queues of this store".to_owned());
    let queues = context.state.source.queues.clone().ok_or_else(missing)?;
    Ok(Outbox::new(context.reader.shared(), queues, QueueName::new(queue)?))
}

/// The visible entries of a poison queue, and the approximate number of all entries.
pub(super) struct Poison {
    entries: Vec<PoisonEntry>,
    count: u64,
}

/// Peeks at the entries of a queue's poison queue.
pub(super) async fn entries(context: &Context<'_>, queue: &str) -> Result<Poison> {
    context.reader.count(2);
    let outbox = outbox(context, queue)?;
    let entries = outbox.poison(ENTRIES).await?;
    let count = outbox.queues().approximate_count(&outbox.queue().poison()?).await?;
    Ok(Poison { entries, count })
}

/// Returns the entries with checkboxes, and the number of entries not shown.
pub(super) fn render(context: &Context<'_>, queue: &str, Poison { entries, count }: &Poison) -> Markup {
    let others = count.saturating_sub(entries.len() as u64);
    html! {
        @if entries.is_empty() && others == 0 { p.empty { "The queue has no poison." } }
        @if others > 0 {
            p.note {
                (show::count_of(others, "further entry")) @if others == 1 { " is" } @else { " are" } " not shown."
                @if entries.len() < ENTRIES { " An entry is hidden for a minute after a process has looked at it, which requeuing other entries does." }
            }
        }
        @if !entries.is_empty() {
            div.wrap tabindex="0" role="region" aria-label="Poison" {
                table.grid {
                    thead { tr { th scope="col" { "Set aside" } th scope="col" { "Reason" } th.num scope="col" { "Attempts" } th scope="col" { "Work" } @if context.state.is_writable { th.mark scope="col" { span.hidden { "Mark" } } } } }
                    tbody { @for entry in entries { tr {
                        td { @if let Some(at) = ticks::to_datetime(entry.at) { (show::instant(at)) } }
                        td.long { (show::stored(entry.error.as_deref().unwrap_or("unknown"))) }
                        td.num { (entry.attempts) }
                        td.mono.long { (show::stored(&entry.work)) }
                        @if context.state.is_writable { td.mark { input type="checkbox" name="work" value=(entry.work) form="requeued" aria-label="Mark the entry"; } }
                    } } }
                }
            }
            @if context.state.is_writable {
                form #requeued method="post" action="/work/requeue" {
                    input type="hidden" name="csrf" value=(context.state.session.form_token());
                    input type="hidden" name="queue" value=(queue);
                    button.btn type="submit" { "Requeue marked entries" }
                }
            }
        }
    }
}

/// Requeues the marked poison queue entries.
pub(crate) async fn requeue(context: &Context<'_>) -> Result<Response<Body>> {
    if !context.state.is_writable {
        let text = "changes are off; start the explorer with `--write` to requeue work";
        return Err(Failure::Refused(text.to_owned()));
    }
    let field = |name| context.request.field(name).unwrap_or_default();
    let queue = field("queue");
    let marked: Vec<String> = context.request.fields("work").into_iter().map(returned).collect();
    if marked.is_empty() {
        return Err(Failure::Input(
            "no entry is marked; mark the entries to requeue with their boxes".to_owned(),
        ));
    }
    let is_marked = |entry: &PoisonEntry| marked.contains(&returned(&entry.work));
    if outbox(context, queue)?.requeue_poison_if(is_marked).await? == 0 {
        let text = "the queue has no such entry, or a process has looked at it within the last minute; load the page of the queue again";
        return Err(Failure::Refused(text.to_owned()));
    }
    Ok(response::see_other(&link::to("/work", &[("queue", queue)])))
}
