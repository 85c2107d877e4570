//! Queues: from a path to the operation it names (QUE-3).

mod allowed;
mod messages;

use table_core::{QueueName, QueueStore};

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// Answers a request for queues.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let verb = exchange.verb()?;
    let path = exchange.path.trim_end_matches('/');
    let mut parts = path.splitn(3, '/');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        return Err(Refusal::unsupported("Queues are not listed: the engine does not name them."));
    }
    let queue = QueueName::new(name)?;
    match (parts.next(), parts.next()) {
        (None, _) => {
            allowed::queue(access, verb)?;
            of_queue(account, &queue, verb, exchange).await
        }
        (Some("messages"), id) => {
            allowed::messages(access, verb, id.is_some(), exchange.query_is("peekonly", "true"))?;
            messages::answer(account, &queue, id, verb, exchange).await
        }
        _ => Err(Refusal::nowhere()),
    }
}

async fn of_queue(
    account: &Account,
    queue: &QueueName,
    verb: &str,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let engine = &account.engine;
    match (verb, exchange.query("comp").as_deref()) {
        ("PUT", None) => {
            let has_metadata = exchange.headers.keys().any(|name| name.as_str().starts_with("x-ms-meta-"));
            if has_metadata {
                return Err(Refusal::unsupported("Metadata of queues are not kept."));
            }
            let created = engine.create_queue(queue).await?;
            Ok(Answer::new(if created { 201 } else { 204 }))
        }
        ("DELETE", None) => {
            engine.delete_queue(queue).await?;
            Ok(Answer::new(204))
        }
        ("GET" | "HEAD", Some("metadata")) => {
            let count = engine.approximate_count(queue).await?;
            Ok(Answer::new(200).header("x-ms-approximate-messages-count", count.to_string()))
        }
        (_, Some(_)) => Err(Refusal::unsupported("Metadata and policies of queues are not kept.")),
        _ => Err(Refusal::method()),
    }
}
