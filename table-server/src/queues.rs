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
    let path = exchange.path.trim_end_matches('/');
    let mut parts = path.splitn(3, '/');
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
        (None, _) => {
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
mod tests {
    use std::net::Ipv4Addr;

    use chrono::{TimeDelta, Utc};
    use http::Request;
    use table_core::{Engine, QueueStore};
    use table_wire::acl;
    use table_wire::sas::{AccessPolicy, Caller, QueuePermissions, QueueToken, StoredAccessPolicy};

    use super::*;
    use crate::route::{self, Admitted};
    use crate::service::Service;
    use crate::settings::Kind;

    #[tokio::test]
    async fn acl_4_a_policy_that_is_removed_while_a_body_arrives_no_longer_permits_its_operation() {
        let account = Account::emulator(Engine::in_memory()).unwrap();
        let queue = QueueName::new("work").unwrap();
        account.engine.create_queue(&queue).await.unwrap();
        let expiry = Some(Utc::now() + TimeDelta::hours(1));
        let add = AccessPolicy { start: None, expiry, permissions: Some(QueuePermissions::ADD) };
        let text = acl::write(&[StoredAccessPolicy::new("senders", add).unwrap()]);
        account.settings.set(Kind::QueuePolicies, "work", Some(text)).await.unwrap();

        let token = QueueToken::sign(&account.key, &queue, AccessPolicy::default(), Some("senders")).unwrap();
        let request = Request::post(format!("/devstoreaccount1/work/messages?{}", token.query_string()))
            .header("host", "x");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
        let mut exchange = Exchange::new(Service::Queues, parts, caller);
        let accounts = [account];
        let Admitted::Verified(account, access) = route::admit(&accounts, None, &mut exchange) else {
            panic!("the signature is refused")
        };
        exchange.body = "<QueueMessage><MessageText>a</MessageText></QueueMessage>".into();
        assert_eq!(answer(account, &access, &exchange).await.unwrap().status, 201);
        account.settings.set(Kind::QueuePolicies, "work", None).await.unwrap();
        let refused = answer(account, &access, &exchange).await.unwrap_err();
        assert_eq!((refused.status, refused.code), (403, "AuthenticationFailed"));
    }
}
