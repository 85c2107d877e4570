//! The page for queues. It lists names and approximate message counts, and peeks at the next messages of one queue without hiding them from receivers.

use maud::{Markup, html};
use table_core::queue::{DynQueueStore, Message, QueueStore};
use table_core::{ErrorCode, QueueName};

use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::link;
use crate::pages::Context;
use crate::show;

/// The maximum number of queues listed.
const QUEUES: usize = 100;
/// The maximum number of messages shown, which is also the service's maximum for one request.
const MESSAGES: usize = 32;

/// Returns the names of the store's queues, or `None` if the store is a storage account, whose queues cannot be listed.
pub(crate) fn names(context: &Context<'_>, most: usize) -> Result<Option<Vec<QueueName>>> {
    let engine = context.state.source.engine.as_ref();
    Ok(engine.map(|engine| engine.list_queues("", most)).transpose()?)
}

fn store<'a>(context: &'a Context<'_>) -> Result<&'a DynQueueStore> {
    let missing = || Failure::NotFound("the explorer has no queues of this store".to_owned());
    context.state.source.queues.as_ref().ok_or_else(missing)
}

pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let (queues, names) = (store(context)?, names(context, QUEUES)?);
    let chosen = context.request.query("name").map(QueueName::new).transpose()?;
    context.reader.count(u64::from(names.is_some()));
    let mut counts = Vec::new();
    for name in names.iter().flatten() {
        context.reader.count(1);
        match queues.approximate_count(name).await {
            // The queue was deleted after it was listed.
            Err(error) if error.code() == ErrorCode::QueueNotFound => {}
            count => counts.push((name, count?)),
        }
    }
    let messages = match &chosen {
        Some(name) => {
            context.reader.count(2);
            Some((name, queues.peek(name, MESSAGES).await?, queues.approximate_count(name).await?))
        }
        None => None,
    };
    let main = html! {
        h1 { "Queues" }
        p.sub { "Messages are peeked: none is received, hidden or counted as an attempt." }
        @if names.is_none() { (search(chosen.as_ref())) }
        @else if counts.is_empty() { p.empty { "The store has no queues." } }
        @else { (list(&counts, chosen.as_ref())) }
        @if names.as_ref().is_some_and(|names| names.len() == QUEUES) { p.note { "Only the first " (QUEUES) " queues are listed." } }
        @if let Some((name, messages, count)) = &messages { (peeked(name, messages, *count)) }
    };
    let frame = Frame { title: "Queues".to_owned(), here: "/queues", main, ..Frame::default() };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn search(chosen: Option<&QueueName>) -> Markup {
    html! {
        form.row action="/queues" aria-label="Queue" {
            span.fld { label for="name" { "queue" } input #name name="name" value=(chosen.map(QueueName::as_str).unwrap_or_default()) autocomplete="off" spellcheck="false"; }
            button.btn type="submit" { "Peek" }
        }
    }
}

fn list(counts: &[(&QueueName, u64)], chosen: Option<&QueueName>) -> Markup {
    html! {
        div.wrap tabindex="0" role="region" aria-label="Queues" {
            table.grid {
                thead { tr { th scope="col" { "Queue" } th.num scope="col" { "Messages" small { "approximate" } } th scope="col" { "Work" } } }
                tbody { @for (name, count) in counts {
                    @let is_poison = name.as_str().ends_with("-poison");
                    tr class=[(chosen == Some(*name)).then_some("sel")] {
                        td { a.key href=(link::to("/queues", &[("name", name.as_str())])) aria-current=[(chosen == Some(*name)).then_some("true")] { b { (name) } } }
                        td.num { (show::thousands(*count)) }
                        td { @if is_poison { span.badge.warn[*count > 0] { "set aside" } } @else if counts.iter().any(|(other, _)| is_poison_of(other, name)) { a href=(link::to("/work", &[("queue", name.as_str())])) { "of an outbox" } } }
                    }
                } }
            }
        }
    }
}

fn is_poison_of(poison: &QueueName, queue: &QueueName) -> bool {
    queue.poison().is_ok_and(|expected| expected == *poison)
}

fn peeked(name: &QueueName, messages: &[Message], count: u64) -> Markup {
    html! {
        section aria-label="Messages" {
            h2 { "Next messages of " (name) }
            @if messages.is_empty() && count > 0 { p.empty { (show::count_of(count, "message")) " of the queue " @if count == 1 { "is" } @else { "are" } " hidden: received by a worker, or not due yet." } }
            @else if messages.is_empty() { p.empty { "The queue has no messages." } }
            @else {
                div.wrap tabindex="0" role="region" aria-label="Messages" {
                    table.grid {
                        thead { tr { th scope="col" { "Added" } th scope="col" { "Expires" } th.num scope="col" { "Received" small { "times" } } th scope="col" { "Text" } } }
                        tbody { @for message in messages { tr {
                            td { (show::instant(message.inserted)) }
                            td { @match message.expires { Some(at) => (show::instant(at)), None => span.faint { "never" } } }
                            td.num { (message.dequeue_count) }
                            td.mono.long { (show::stored(&message.text)) }
                        } } }
                    }
                }
                p.foot { span { (show::count_of(messages.len() as u64, "message")) " shown of about " (show::thousands(count)) } }
            }
        }
    }
}
