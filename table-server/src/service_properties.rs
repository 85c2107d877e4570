//! Service properties and statistics.

use chrono::Utc;
use table_wire::ServiceProperties;
use table_wire::auth::print_http_date;
use table_wire::sas::AccountPermissions;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::{Exchange, bad_parameter};
use crate::refusal::Refusal;

/// Checks that the credential permits a request with `restype=service`. Needs only the request's head. Returns `true` if the operation uses the body.
///
/// # Errors
/// 403 if the credential does not permit the operation (ASAS-4).
pub(crate) fn permit(access: &Access, exchange: &Exchange) -> Result<bool, Refusal> {
    let comp = exchange.query("comp").unwrap_or_default();
    let (needed, uses_body) = match (exchange.verb()?, comp.as_ref()) {
        ("GET", "properties" | "stats") => (AccountPermissions::READ, false),
        ("PUT", "properties") => (AccountPermissions::WRITE, true),
        _ => return Ok(false),
    };
    access.to_service(exchange.service, needed)?;
    Ok(uses_body)
}

/// Responds to a request with `restype=service`.
///
/// # Errors
/// Any error from [`permit`]; 400 if the operation is unknown or the new properties are invalid; 501 if the client requests
/// a user delegation key.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    permit(access, exchange)?;
    let comp = exchange.query("comp").unwrap_or_default();
    match (exchange.verb()?, comp.as_ref()) {
        ("GET", "properties") => {
            Ok(Answer::xml(200, account.properties(exchange.service).complete().to_xml()))
        }
        ("PUT", "properties") => {
            let new = ServiceProperties::read_request(exchange.text()?)
                .map_err(|fault| Refusal::new(400, fault.code(), fault.to_string()))?;
            let turn = exchange.turn(account).await?;
            account.set_properties(&turn, exchange.service, new).await?;
            Ok(Answer::new(202))
        }
        ("GET", "stats") => {
            if exchange.secondary {
                Ok(stats())
            } else {
                Err(bad_parameter("comp"))
            }
        }
        ("POST", "userdelegationkey") => {
            let help = "this server does not create user delegation keys; sign with the account's key";
            Err(Refusal::new(501, "NotImplemented", help))
        }
        _ => Err(Refusal::nowhere()),
    }
}

/// Returns the statistics of a secondary that never lags behind its primary.
fn stats() -> Answer {
    let now = print_http_date(Utc::now());
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status>\
         <LastSyncTime>{now}</LastSyncTime></GeoReplication></StorageServiceStats>"
    );
    Answer::xml(200, xml)
}
