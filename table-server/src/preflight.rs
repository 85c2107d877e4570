//! Responds to CORS preflight requests from browsers.

use crate::account::Account;
use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// Responds to a preflight request, which is unsigned and applies to the entire service regardless of its path.
///
/// # Errors
/// 400 if the request has no origin or no method; 403 if no CORS rule allows the request.
pub(crate) fn answer(account: &Account, exchange: &Exchange) -> Result<Answer, Refusal> {
    let header = |name: &str| {
        exchange.header(name).filter(|value| !value.is_empty()).ok_or_else(|| {
            let help = format!("a preflight request needs the header `{name}`");
            let message = "A required CORS header is not present.".into();
            Refusal { message, ..Refusal::new(400, "InvalidHeaderValue", help) }
        })
    };
    let (origin, method) = (header("origin")?, header("access-control-request-method")?);
    let headers = exchange.header("access-control-request-headers").unwrap_or_default();
    let seconds =
        account.settings.cors.preflight(exchange.service, origin, method, headers).ok_or_else(|| {
            Refusal::new(403, "CorsPreflightFailure", "add a CORS rule to the properties of the service")
        })?;
    let answer = Answer::new(200)
        .header("Access-Control-Allow-Origin", origin.to_owned())
        .header("Access-Control-Allow-Methods", method.to_owned())
        .header("Access-Control-Max-Age", seconds.to_string())
        .header("Access-Control-Allow-Credentials", "true");
    Ok(if headers.is_empty() {
        answer
    } else {
        answer.header("Access-Control-Allow-Headers", headers.to_owned())
    })
}

#[cfg(test)]
mod tests;
