//! Handles requests to the Queue service: determines the operation from the path (QUE-3).

mod allowed;
mod messages;
pub(crate) mod path;
mod whole;

use table_core::QueueName;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use path::Target;

/// Handles a request to the Queue service.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let verb = exchange.verb()?;
    let (name, id) = match path::read(&exchange.path) {
        Target::Names if verb == "GET" && exchange.query_is("comp", "list") => {
            allowed::list(account, access)?;
            return whole::list(account, exchange);
        }
        Target::Names => return Err(Refusal::nowhere()),
        Target::Queue(name) => {
            let queue = QueueName::new(name)?;
            let settings = exchange.query("comp");
            if settings.as_deref() == Some("acl") {
                access.owner(exchange.service)?;
            }
            allowed::queue(account, access, verb, settings.is_some())?;
            return whole::answer(account, &queue, verb, exchange).await;
        }
        Target::Messages(name) => (name, None),
        Target::Message(name, id) => (name, Some(id)),
        Target::Below(name) => {
            QueueName::new(name)?;
            return Err(Refusal::nowhere());
        }
    };
    let (queue, is_peek) = (QueueName::new(name)?, exchange.query_is("peekonly", "true"));
    allowed::messages(account, access, verb, id.is_some(), is_peek)?;
    messages::answer(account, &queue, id, verb, exchange).await
}

#[cfg(test)]
mod tests;
