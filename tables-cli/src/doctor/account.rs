//! Diagnostic steps for an account, an emulator or a server: name, connection, clock, credential, and table.

mod host;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use table_azure::ConnectionString;
use table_core::{DynTableStore, Error, ErrorCode, TableName, TableStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::doctor::{Step, signature};
use crate::store::{Location, Purpose, Store};
use host::Host;

/// The timeout for each network step, such as a name lookup or a connection attempt.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The name of the step that resolves the host name.
const DNS: &str = "DNS";
/// The name of the step that opens a connection.
const TCP: &str = "TCP";
/// The maximum clock difference tolerated by the service, in seconds.
const SKEW: i64 = 15 * 60;

pub(super) async fn examine(location: &Location, table: Option<&str>) -> Vec<Step> {
    let mut steps = Vec::new();
    let is_last = |steps: &[Step]| steps.last().is_some_and(|step| !step.is_passed());
    let endpoint = match endpoint(location) {
        Ok(endpoint) => endpoint,
        Err(step) => return vec![step],
    };
    let Some(host) = Host::of(&endpoint) else {
        let help = "it has the form https://ACCOUNT.table.core.windows.net";
        return vec![Step::failed("endpoint", format!("`{endpoint}` is not a URL of a service"), help)];
    };
    steps.push(Step::passed("endpoint", endpoint));
    if let Location::Signed { signature, .. } = location {
        steps.push(signature::examine(signature, host.is_https, Utc::now()));
        if is_last(&steps) {
            return steps;
        }
    }
    let direct = reach(&host).await;
    let is_unreachable = direct.iter().any(|step| !step.is_passed() && is_of_connection(step));
    if !is_unreachable {
        steps.extend(direct);
        if !is_last(&steps) {
            steps.extend(examine_account(location, table).await.0);
        }
        return steps;
    }
    // Even if the direct connection fails, other commands may reach the account through a proxy. Requests to this machine bypass proxies.
    let examined = tokio::time::timeout(TIMEOUT, examine_account(location, table));
    let examined = if host.is_loopback() { None } else { examined.await.ok() };
    match examined {
        Some((account, true)) => {
            steps.extend(direct.into_iter().map(into_note));
            steps.extend(account);
        }
        Some((_, false)) | None => steps.extend(direct),
    }
    steps
}

/// Examines the credential and the table. Also returns `true` if the account responded.
async fn examine_account(location: &Location, table: Option<&str>) -> (Vec<Step>, bool) {
    let store = match Store::open(location, Purpose::Read).await {
        Ok(store) => store,
        Err(failure) => {
            let step = Step::failed("account", failure.to_string(), "check the connection string");
            return (vec![step], false);
        }
    };
    let (step, is_answered) = authenticate(&store.tables, table).await;
    let is_passed = step.is_passed();
    let mut steps = vec![step];
    if is_passed {
        steps.extend(find_table(&store.tables, table).await);
    }
    (steps, is_answered)
}

/// Resolves the host name and connects to the host without a proxy.
async fn reach(host: &Host) -> Vec<Step> {
    let (step, addresses) = resolve(host).await;
    let mut steps = vec![step];
    if !addresses.is_empty() {
        steps.extend(connect(host, &addresses).await);
    }
    steps
}

/// Returns `true` if a step tests the direct connection, which is not needed if requests go through a proxy.
fn is_of_connection(step: &Step) -> bool {
    [DNS, TCP].contains(&step.name)
}

/// Turns a failed step into a note, because the account has responded through a proxy.
fn into_note(step: Step) -> Step {
    if step.is_passed() {
        return step;
    }
    Step::passed(step.name, format!("not reachable directly; requests go through a proxy ({})", step.fact))
}

fn endpoint(location: &Location) -> Result<String, Step> {
    match location {
        Location::Signed { endpoint, .. } => Ok(endpoint.clone()),
        Location::ConnectionString(text) => {
            let help =
                "copy the connection string again, from `DefaultEndpointsProtocol=` or `TableEndpoint=` on";
            let parsed: ConnectionString =
                text.parse().map_err(|error| Step::failed("endpoint", format!("{error}"), help))?;
            let found = parsed.table_endpoint().map(str::to_owned);
            found
                .ok_or_else(|| Step::failed("endpoint", "the connection string names no table service", help))
        }
        Location::Cosmos(database) => Ok(database.endpoint.clone()),
        Location::Memory | Location::Folder(_) => Ok(String::new()),
    }
}

/// Resolves the host name. Returns no addresses if the step failed.
async fn resolve(host: &Host) -> (Step, Vec<SocketAddr>) {
    let failed = |fact, help| (Step::failed(DNS, fact, help), Vec::new());
    match tokio::time::timeout(TIMEOUT, tokio::net::lookup_host((host.name.as_str(), host.port))).await {
        Ok(Ok(found)) => {
            let found: Vec<_> = found.collect();
            let shown: Vec<_> = found.iter().map(|address| address.ip().to_string()).collect();
            (Step::passed(DNS, format!("{} is {}", host.name, shown.join(", "))), found)
        }
        Ok(Err(error)) => {
            let help = "check the name of the account, the network, and private DNS zones";
            failed(format!("{} cannot be resolved: {error}", host.name), help)
        }
        Err(_) => failed(format!("{} was not resolved in time", host.name), "check the network"),
    }
}

/// Connects to the address that responds first. This way, an unreachable address, such as an IPv6 address without a route, does not delay the others.
async fn connect_to_any(addresses: &[SocketAddr]) -> std::io::Result<TcpStream> {
    let connecting = addresses.iter().map(|address| Box::pin(TcpStream::connect(*address)));
    Ok(futures_util::future::select_ok(connecting).await?.0)
}

/// Connects to the host. If the connection is not encrypted, also compares the clocks.
async fn connect(host: &Host, addresses: &[SocketAddr]) -> Vec<Step> {
    let place = host.place();
    let help = "check the service, the port, and firewalls in between";
    let mut stream = match tokio::time::timeout(TIMEOUT, connect_to_any(addresses)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return vec![Step::failed(TCP, format!("{place}: {error}"), help)],
        Err(_) => return vec![Step::failed(TCP, format!("{place} did not answer in time"), help)],
    };
    let connected = Step::passed(TCP, format!("{place} accepts connections"));
    if host.is_https {
        return vec![connected];
    }
    let request = format!("HEAD {} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n", host.path);
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        head(&mut stream).await
    };
    match tokio::time::timeout(TIMEOUT, exchange).await {
        Ok(Ok(answer)) if answer.starts_with(b"HTTP/1.") => {
            vec![connected, clock(&String::from_utf8_lossy(&answer), Utc::now())]
        }
        _ => {
            let help = "the port belongs to another service; check the endpoint, and `http` or `https`";
            vec![connected, Step::failed("HTTP", format!("{place} does not answer in HTTP"), help)]
        }
    }
}

/// Reads the response to a `HEAD` request, up to the empty line that ends the response. Some servers and proxies keep the connection open after it.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    const LIMIT: usize = 16 << 10;
    let mut answer = Vec::new();
    while answer.len() < LIMIT && !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut answer).await? == 0 {
            break;
        }
    }
    Ok(answer)
}

/// Compares this machine's clock with the `Date` header of a response.
fn clock(answer: &str, now: DateTime<Utc>) -> Step {
    const NAME: &str = "clock";
    let mut fields = answer.lines().filter_map(|line| line.split_once(':'));
    let date = fields.find(|(name, _)| name.eq_ignore_ascii_case("date")).map(|(_, date)| date.trim());
    let Some(date) = date.and_then(|date| DateTime::parse_from_rfc2822(date).ok()) else {
        return Step::passed(NAME, "the response has no date");
    };
    let apart = (now - date.to_utc()).num_seconds();
    if apart.abs() > SKEW {
        let help = "set the clock of this machine; the service refuses requests whose date is 15 minutes off";
        return Step::failed(NAME, format!("the clocks are {} seconds apart", apart.abs()), help);
    }
    Step::passed(NAME, format!("{} seconds apart", apart.abs()))
}

/// Sends a request with the credential. Also returns `true` if the account responded.
async fn authenticate(store: &DynTableStore, table: Option<&str>) -> (Step, bool) {
    const NAME: &str = "account";
    let Err(error) = store.list_tables("", None, 1).await else {
        return (Step::passed(NAME, "the credential is accepted"), true);
    };
    let is_answered = !matches!(error.code(), ErrorCode::Io | ErrorCode::OperationTimedOut);
    let step = if !is_refused(&error) {
        Step::failed(NAME, error.to_string(), help_of(&error))
    } else if table.is_some() {
        // A signature for a single table does not allow listing tables.
        Step::passed(NAME, "the credential is accepted, and does not allow listing tables")
    } else {
        let help = "the signature does not allow listing tables; name a table: `tables doctor TABLE`";
        Step::failed(NAME, error.to_string(), help)
    };
    (step, is_answered)
}

/// Returns `true` if the credential is valid but does not allow the request.
fn is_refused(error: &Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::AuthorizationFailure
            | ErrorCode::AuthorizationPermissionMismatch
            | ErrorCode::AuthorizationResourceTypeMismatch
    )
}

/// Returns advice for an error from the store.
fn help_of(error: &Error) -> &'static str {
    match error.code() {
        ErrorCode::AuthenticationFailed => {
            "the key is wrong or was regenerated, the signature is wrong, or the clock of this machine is off by 15 minutes"
        }
        ErrorCode::AuthorizationSourceIPMismatch => {
            "the signature or the firewall does not allow this address"
        }
        ErrorCode::AuthorizationProtocolMismatch => "the signature allows HTTPS only",
        ErrorCode::ServerBusy => "the service throttles; try again later",
        ErrorCode::Corrupted => "restore the store with `tables restore`, or export what can be read",
        _ if ["certificate", "TLS"].iter().any(|word| error.to_string().contains(word)) => {
            "the certificate of the service is not trusted here; check the endpoint and proxies that open TLS"
        }
        _ => "the documentation of `ErrorCode` explains the code",
    }
}

/// Reads one row of the given table. Returns no steps if no table is given.
pub(super) async fn find_table(store: &DynTableStore, table: Option<&str>) -> Vec<Step> {
    const NAME: &str = "table";
    let Some(name) = table else { return Vec::new() };
    let name = match TableName::new(name) {
        Ok(name) => name,
        Err(error) => {
            return vec![Step::failed(
                NAME,
                error.to_string(),
                "table names have 3 to 63 letters and digits",
            )];
        }
    };
    let query =
        table_core::Query { top: Some(1), ..table_core::Query::new(table_core::query::KeyRange::ALL) };
    vec![match store.query(&name, &query, None).await {
        Ok(_) => Step::passed(NAME, format!("{name} can be read")),
        Err(error) if error.is_table_not_found() => {
            Step::failed(NAME, format!("{name} does not exist"), "`tables ls` lists the tables of the store")
        }
        Err(error) if is_refused(&error) => {
            Step::failed(NAME, error.to_string(), "the credential does not allow reading the table")
        }
        Err(error) => Step::failed(NAME, error.to_string(), help_of(&error)),
    }]
}
