//! From a request to its answer.

use http::header::ORIGIN;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{preflight, queues, tables};

/// Answers a request whose body is read.
pub(crate) async fn answer(accounts: &[Account], exchange: &mut Exchange) -> Answer {
    let account = match located(accounts, exchange) {
        Ok(account) => account,
        Err(refusal) => return Answer::refused(&refusal, exchange),
    };
    let answer = if exchange.method == "OPTIONS" {
        preflight::answer(account, exchange)
    } else {
        granted(account, exchange).await
    };
    let answer = answer.unwrap_or_else(|refusal| Answer::refused(&refusal, exchange));
    match account.cors.sharing(exchange.service, exchange.header(ORIGIN), exchange.method.as_str()) {
        Some(sharing) if exchange.method != "OPTIONS" => answer.shared(sharing),
        _ => answer,
    }
}

fn located<'a>(accounts: &'a [Account], exchange: &mut Exchange) -> Result<&'a Account, Refusal> {
    if exchange.service == Service::Blobs {
        return Err(Refusal::unsupported("Blobs are not served here: tables and queues are."));
    }
    exchange.locate(accounts)
}

async fn granted(account: &Account, exchange: &mut Exchange) -> Result<Answer, Refusal> {
    let access = match authorize::access(exchange, account) {
        Err(_) if exchange.secondary && exchange.undouble(account.name()) => {
            authorize::access(exchange, account)
        }
        access => access,
    }?;
    account.traffic.request()?;
    if exchange.secondary && !matches!(exchange.method.as_str(), "GET" | "HEAD") {
        return Err(Refusal::new(
            403,
            "WriteOperationNotSupportedOnSecondary",
            "The secondary is read-only.",
        ));
    }
    if exchange.query_is("restype", "service") {
        access.owner()?;
        return service(account, exchange).await;
    }
    if exchange.service == Service::Tables {
        tables::answer(account, &access, exchange).await
    } else {
        queues::answer(account, &access, exchange).await
    }
}

/// The properties and the statistics of a service.
async fn service(account: &Account, exchange: &Exchange) -> Result<Answer, Refusal> {
    let comp = exchange.query("comp").unwrap_or_default();
    match (exchange.verb()?, comp.as_ref()) {
        ("GET", "properties") => Ok(Answer::xml(200, account.properties(exchange.service).to_xml())),
        ("PUT", "properties") => {
            let new = table_wire::ServiceProperties::read(exchange.text()?).ok_or_else(|| {
                Refusal::new(400, "InvalidXmlDocument", "The body is not the properties of a service.")
            })?;
            crate::cors::check(new.cors.as_deref().unwrap_or_default())?;
            account.set_properties(exchange.service, new).await?;
            Ok(Answer::new(202))
        }
        ("GET", "stats") if exchange.secondary => {
            let now = table_wire::auth::print_http_date(chrono::Utc::now());
            Ok(Answer::xml(
                200,
                format!(
                    "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status>\
                     <LastSyncTime>{now}</LastSyncTime></GeoReplication></StorageServiceStats>"
                ),
            ))
        }
        ("GET", "stats") => Err(crate::exchange::bad_parameter("comp")),
        _ => Err(Refusal::nowhere()),
    }
}
