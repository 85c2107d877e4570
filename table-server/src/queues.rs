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

/// Checks that the credential permits the operation. Needs only the request's head. Returns `true` if the operation uses the body.
///
/// # Errors
/// 403 if the credential does not permit the operation. The reason the request is rejected, if its method or queue name is invalid.
pub(crate) fn permit(account: &Account, access: &Access, exchange: &Exchange) -> Result<bool, Refusal> {
    let verb = exchange.verb()?;
    let (name, is_message) = match path::read(&exchange.path) {
        Target::Names if is_list(verb, exchange) => {
            allowed::list(account, access)?;
            return Ok(false);
        }
        Target::Names => return Ok(false),
        Target::Queue(name) => {
            QueueName::new(name)?;
            let settings = exchange.query("comp");
            let is_acl = settings.as_deref() == Some("acl");
            if is_acl {
                access.owner(exchange.service)?;
            }
            allowed::queue(account, access, verb, settings.is_some())?;
            return Ok(is_acl && verb == "PUT");
        }
        Target::Below(name) => {
            QueueName::new(name)?;
            return Ok(false);
        }
        Target::Messages(name) => (name, false),
        Target::Message(name, _) => (name, true),
    };
    QueueName::new(name)?;
    allowed::messages(account, access, verb, is_message, exchange.query_is("peekonly", "true"))?;
    Ok(verb == if is_message { "PUT" } else { "POST" })
}

/// Returns `true` if a request for the path of all queues lists them.
fn is_list(verb: &str, exchange: &Exchange) -> bool {
    verb == "GET" && exchange.query_is("comp", "list")
}

/// Handles a request to the Queue service, if its credential permits the operation.
///
/// # Errors
/// Any error from [`permit`]. The reason the request is rejected.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    permit(account, access, exchange)?;
    let verb = exchange.verb()?;
    match path::read(&exchange.path) {
        Target::Names if is_list(verb, exchange) => whole::list(account, exchange),
        Target::Names | Target::Below(_) => Err(Refusal::nowhere()),
        Target::Queue(name) => whole::answer(account, &QueueName::new(name)?, verb, exchange).await,
        Target::Messages(name) => {
            messages::answer(account, &QueueName::new(name)?, None, verb, exchange).await
        }
        Target::Message(name, id) => {
            messages::answer(account, &QueueName::new(name)?, Some(id), verb, exchange).await
        }
    }
}

#[cfg(test)]
mod tests;
