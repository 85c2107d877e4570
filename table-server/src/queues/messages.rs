//! Operations on messages: put, receive, peek, update, delete, clear (QUE-3 to QUE-13).

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::Utc;
use table_core::QueueName;
use table_core::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueStore, TimeToLive};
use table_wire::{auth, queue};

use crate::account::Account;
use crate::answer::Answer;
use crate::exchange::{Exchange, bad_parameter};
use crate::refusal::Refusal;

pub(super) async fn answer(
    account: &Account,
    name: &QueueName,
    id: Option<&str>,
    verb: &str,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let engine = &account.engine;
    account.traffic.entities("", name.as_str(), 1)?;
    let hidden = exchange.number("visibilitytimeout")?.map(Duration::from_secs);
    match (verb, id) {
        ("POST", None) => {
            let mut message = PutMessage::new(text(exchange)?.ok_or_else(not_a_message)?);
            if let Some(hidden) = hidden {
                message = message.hidden(hidden);
            }
            message = match exchange.number::<i64>("messagettl")? {
                None => message,
                Some(-1) => message.time_to_live(TimeToLive::Never),
                Some(seconds) => {
                    let seconds = u64::try_from(seconds).map_err(|_| bad_parameter("messagettl"))?;
                    message.time_to_live(TimeToLive::For(Duration::from_secs(seconds)))
                }
            };
            let lease = engine.put(name, message).await?;
            Ok(Answer::xml(201, queue::write_put(&lease)))
        }
        ("GET", None) => {
            let count = exchange.number("numofmessages")?.unwrap_or(1);
            if exchange.query_is("peekonly", "true") {
                let messages = engine.peek(name, count).await?;
                account.traffic.messages(name.as_str(), messages.len());
                return Ok(Answer::xml(200, queue::write_peeked(&messages)));
            }
            let hidden = hidden.unwrap_or(Duration::from_secs(30));
            let leases = engine.receive(name, count, hidden).await?;
            account.traffic.messages(name.as_str(), leases.len());
            Ok(Answer::xml(200, queue::write_received(&leases)))
        }
        ("DELETE", None) => {
            engine.clear(name).await?;
            Ok(Answer::new(204))
        }
        ("PUT", Some(id)) => {
            let hidden = hidden.ok_or_else(|| missing("visibilitytimeout"))?;
            // An update uses only the message's identifier and receipt.
            let message = Message::new(MessageId::new(id), String::new(), Utc::now(), None, 0);
            let lease = Lease::new(message, receipt(exchange)?, Utc::now());
            let lease = engine.update(name, &lease, hidden, text(exchange)?).await?;
            Ok(Answer::new(204)
                .header("x-ms-popreceipt", lease.receipt.as_str().to_owned())
                .header("x-ms-time-next-visible", auth::print_http_date(lease.visible)))
        }
        ("DELETE", Some(id)) => {
            engine.delete(name, &MessageId::new(id), &receipt(exchange)?).await?;
            Ok(Answer::new(204))
        }
        _ => Err(Refusal::method(exchange.service)),
    }
}

/// Returns a request's pop receipt. As in the service, it must be base64, so a receipt with an unescaped `+` is rejected as malformed, not as the receipt of a
/// different receiver.
fn receipt(exchange: &Exchange) -> Result<PopReceipt, Refusal> {
    let text = exchange.query("popreceipt").ok_or_else(|| missing("popreceipt"))?;
    if STANDARD.decode(text.as_bytes()).is_err() {
        return Err(Refusal::new(
            400,
            "InvalidQueryParameterValue",
            "`popreceipt`: Invalid pop receipt format",
        ));
    }
    Ok(PopReceipt::new(text))
}

/// Returns the message text in a request body, or `None` if the body is empty (QUE-4).
fn text(exchange: &Exchange) -> Result<Option<String>, Refusal> {
    let body = exchange.text()?;
    if body.is_empty() {
        return Ok(None);
    }
    queue::read_text(body).map(Some).ok_or_else(not_a_message)
}

fn not_a_message() -> Refusal {
    Refusal::xml(
        "the body must be <QueueMessage><MessageText>…</MessageText></QueueMessage>; encode text with markup or control characters, for \
         example in base64",
    )
}

fn missing(name: &str) -> Refusal {
    Refusal::new(400, "MissingRequiredQueryParameter", format!("the query parameter `{name}` is missing"))
}
