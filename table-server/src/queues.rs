//! Handles requests to the Queue service: determines the operation from the path (QUE-3).

mod allowed;
mod messages;
mod whole;

use table_core::QueueName;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// Handles a request to the Queue service.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let verb = exchange.verb()?;
    // A slash at the end is ignored only after the name of a queue: after `messages/`, it is followed by an empty identifier, not by all messages.
    let mut parts = exchange.path.splitn(3, '/');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        if !(verb == "GET" && exchange.query_is("comp", "list")) {
            return Err(Refusal::nowhere());
        }
        allowed::list(account, access)?;
        return whole::list(account, exchange);
    }
    let queue = QueueName::new(name)?;
    match (parts.next(), parts.next()) {
        (None | Some(""), None) => {
            let settings = exchange.query("comp");
            if settings.as_deref() == Some("acl") {
                access.owner(exchange.service)?;
            }
            allowed::queue(account, access, verb, settings.is_some())?;
            whole::answer(account, &queue, verb, exchange).await
        }
        (Some("messages"), id) => {
            let is_peek = exchange.query_is("peekonly", "true");
            allowed::messages(account, access, verb, id.is_some(), is_peek)?;
            messages::answer(account, &queue, id, verb, exchange).await
        }
        _ => Err(Refusal::nowhere()),
    }
}

#[cfg(test)]
mod tests;
