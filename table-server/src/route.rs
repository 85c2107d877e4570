//! Routes a request: finds the account, verifies the signature, and runs the operation.

use std::borrow::Borrow;

use http::HeaderName;
use http::header::ORIGIN;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::{self, Access};
use crate::bearer::Bearer;
use crate::exchange::{self, Exchange};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{framing, preflight, queues, service_properties, tables, version};

const VERSION: HeaderName = HeaderName::from_static("x-ms-version");

/// The maximum number of query parameters in a request. The query is parsed several times before its signature is verified, and many short parameters take far
/// longer than a single long one. No operation needs even half as many parameters, including a signature.
const PARAMETERS: usize = 64;

/// The result of examining the head of a request.
#[derive(Debug)]
pub(crate) enum Admitted<'a, A> {
    /// The response to a request that was rejected or needs no signature.
    Answered(Answer),
    /// A request with a valid credential. Its body may be read.
    Verified(&'a A, Access),
}

/// Finds a request's account, and verifies the request's credential. Needs only the request's head.
pub(crate) fn admit<'a, A: Borrow<Account>>(
    accounts: &'a [A],
    bearer: Option<&Bearer>,
    exchange: &mut Exchange,
) -> Admitted<'a, A> {
    let found = match located(accounts, exchange) {
        Ok(account) => account,
        Err(refusal) => return Admitted::Answered(Answer::refused(refusal, exchange)),
    };
    let account = found.borrow();
    if exchange.method == "OPTIONS" {
        let answer = preflight::answer(account, exchange);
        return Admitted::Answered(answer.unwrap_or_else(|refusal| Answer::refused(refusal, exchange)));
    }
    match verified(account, bearer, exchange) {
        Ok(access) => Admitted::Verified(found, access),
        Err(refusal) => Admitted::Answered(finish(account, exchange, Err(refusal))),
    }
}

fn located<'a, A: Borrow<Account>>(accounts: &'a [A], exchange: &mut Exchange) -> Result<&'a A, Refusal> {
    framing::check(exchange)?;
    if exchange.service == Service::Blobs {
        let help = "this server has tables and queues; for blobs, run `azurite-blob` at this port";
        return Err(Refusal::unsupported(help));
    }
    if exchange.headers.get(VERSION).is_some_and(|version| !version::is_version(version.as_bytes())) {
        let help = "`x-ms-version` must be a date such as 2019-02-02";
        return Err(Refusal::new(400, "InvalidHeaderValue", help));
    }
    if exchange.raw_query.split('&').nth(PARAMETERS).is_some() {
        let help = format!("the query of the URL has more than {PARAMETERS} parameters");
        return Err(Refusal::new(400, "InvalidUri", help));
    }
    exchange.locate(accounts)
}

/// Verifies a request's credential. At the secondary endpoint, a [doubled account](Exchange::undouble) is removed from the path in two cases: if the signature
/// is valid only without it, and if the signature does not cover the path and the path has no other meaning.
fn verified(account: &Account, bearer: Option<&Bearer>, exchange: &mut Exchange) -> Result<Access, Refusal> {
    let access = authorize::access(exchange, account, bearer);
    let may_be_doubled = match &access {
        Ok(Access::Key) => false,
        Ok(Access::Token(_) | Access::Queue(_) | Access::Bearer) => !is_of_queue(exchange),
        Err(_) => true,
    };
    if may_be_doubled && exchange.secondary && exchange.undouble(account.name()) {
        // A queue SAS depends on the queue in the path.
        return authorize::access(exchange, account, bearer);
    }
    access
}

/// Returns `true` if a path that begins with the account name can address a queue of that name or its messages. A table of that name has no paths below it.
fn is_of_queue(exchange: &Exchange) -> bool {
    if exchange.service == Service::Tables {
        return false;
    }
    match exchange.path.trim_end_matches('/').split_once('/') {
        None => !exchange.query_is("comp", "list") && !exchange.query_is("restype", "service"),
        // A request for messages has no `comp`; with `comp`, `messages` is a queue name. It is also a queue name if a second `messages` follows, because that
        // is not a message id.
        Some((_, below)) => {
            let mut parts = below.split('/');
            let is_of_messages = parts.next() == Some("messages") && parts.next() != Some("messages");
            is_of_messages && exchange.query("comp").is_none()
        }
    }
}

/// Returns `true` if a request may change a setting, or a table or queue together with its settings. The request must not be interrupted between these changes.
pub(crate) fn changes_settings(exchange: &Exchange) -> bool {
    let is_write = !matches!(exchange.method.as_str(), "GET" | "HEAD");
    let is_setting = || exchange.query("comp").is_some() || exchange.query("restype").is_some();
    let is_whole = || match exchange.service {
        Service::Tables => tables::is_of_tables(&exchange.path),
        _ => !exchange.path.trim_matches('/').contains('/'),
    };
    is_write && (is_setting() || is_whole())
}

/// Checks that the credential can permit the operation, as far as the request's head shows it. [`answer`] checks it again, completely: the credential may have
/// expired while the body arrived, and the body may contain keys. Returns `true` if the operation uses the body.
///
/// # Errors
/// 403 if the credential does not permit the operation, or if the operation writes to a read-only secondary. The reason the request is rejected, if its method,
/// path or condition is invalid.
pub(crate) fn permit(account: &Account, access: &Access, exchange: &Exchange) -> Result<bool, Refusal> {
    check_secondary(exchange)?;
    if exchange.query_is("restype", "service") {
        return service_properties::permit(access, exchange);
    }
    match exchange.service {
        Service::Tables => tables::permit(access, exchange),
        _ => queues::permit(account, access, exchange),
    }
}

/// Rejects a write to the secondary of the Table service.
///
/// Only this secondary is read-only. Azurite's queue tests write to the secondary, but Microsoft's Python client for tables expects the service to reject such
/// writes.
fn check_secondary(exchange: &Exchange) -> Result<(), Refusal> {
    let is_read_only = exchange.secondary && exchange.service == Service::Tables;
    if is_read_only && !matches!(exchange.method.as_str(), "GET" | "HEAD") {
        let help = "the secondary is read-only; write to the primary";
        return Err(Refusal::new(403, "WriteOperationNotSupportedOnSecondary", help));
    }
    Ok(())
}

/// Handles an authenticated request whose body has been read.
///
/// # Errors
/// The reason the request is rejected.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    account.traffic.request()?;
    exchange::check_query(&exchange.raw_query)?;
    exchange.check_time()?;
    check_secondary(exchange)?;
    if exchange.query_is("restype", "service") {
        if !exchange.path.trim_end_matches('/').is_empty() {
            return Err(exchange::bad_parameter("restype"));
        }
        return service_properties::answer(account, access, exchange).await;
    }
    if exchange.service == Service::Tables {
        tables::answer(account, access, exchange).await
    } else {
        queues::answer(account, access, exchange).await
    }
}

/// Handles a request with its body already in the exchange.
#[cfg(any(test, feature = "testing"))]
pub(crate) async fn run(accounts: &[Account], bearer: Option<&Bearer>, exchange: &mut Exchange) -> Answer {
    match admit(accounts, bearer, exchange) {
        Admitted::Answered(answer) => answer,
        Admitted::Verified(account, access) => {
            let answer = answer(account, &access, exchange).await;
            finish(account, exchange, answer)
        }
    }
}

/// Converts a result to a response, with the CORS headers.
pub(crate) fn finish(account: &Account, exchange: &Exchange, answer: Result<Answer, Refusal>) -> Answer {
    let answer = answer.unwrap_or_else(|refusal| Answer::refused(refusal, exchange));
    match account.settings.cors.sharing(exchange.service, exchange.header(ORIGIN), exchange.method.as_str()) {
        Some(sharing) => answer.shared(sharing),
        None => answer,
    }
}

#[cfg(test)]
mod tests;
