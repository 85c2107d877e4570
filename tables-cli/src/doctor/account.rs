//! Diagnostic steps for an account, an emulator or a server: name, connection, clock, credential, and table.

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_azure::ConnectionString;
use table_core::{DynTableStore, Error, ErrorCode, TableName, TableStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::doctor::{Step, signature};
use crate::store::{Location, Purpose, Store};

/// The time after which a connection attempt counts as failed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum clock difference that the service tolerates, in seconds.
const SKEW: i64 = 15 * 60;

/// The host and the port of an endpoint.
struct Host {
    name: String,
    port: u16,
    path: String,
    is_https: bool,
}

impl Host {
    fn of(endpoint: &str) -> Option<Self> {
        let (is_https, rest) = match endpoint.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // An IPv6 address is enclosed in brackets, because it contains colons.
        let end = authority.find(']').map_or(0, |end| end + 1);
        let (name, port) = match authority[end..].rsplit_once(':') {
            Some((name, port)) => (&authority[..end + name.len()], port.parse().ok()?),
            None => (authority, if is_https { 443 } else { 80 }),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        (!name.is_empty()).then(|| Self { name, port, path: format!("/{path}"), is_https })
    }

    /// Returns the host and the port, formatted as in a URL.
    fn place(&self) -> String {
        let Self { name, port, .. } = self;
        if name.contains(':') { format!("[{name}]:{port}") } else { format!("{name}:{port}") }
    }
}

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
    steps.push(resolve(&host).await);
    if is_last(&steps) {
        return steps;
    }
    steps.extend(connect(&host).await);
    if is_last(&steps) {
        return steps;
    }
    let store = match Store::open(location, Purpose::Read).await {
        Ok(store) => store,
        Err(failure) => {
            steps.push(Step::failed("account", failure.to_string(), "check the connection string"));
            return steps;
        }
    };
    steps.push(authenticate(&store.tables, table).await);
    if !is_last(&steps) {
        steps.extend(find_table(&store.tables, table).await);
    }
    steps
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

async fn resolve(host: &Host) -> Step {
    const NAME: &str = "DNS";
    match tokio::time::timeout(TIMEOUT, tokio::net::lookup_host((host.name.as_str(), host.port))).await {
        Ok(Ok(addresses)) => {
            let addresses: Vec<_> = addresses.map(|address| address.ip().to_string()).collect();
            Step::passed(NAME, format!("{} is {}", host.name, addresses.join(", ")))
        }
        Ok(Err(error)) => {
            let help = "check the name of the account, the network, and private DNS zones";
            Step::failed(NAME, format!("{} cannot be resolved: {error}", host.name), help)
        }
        Err(_) => Step::failed(NAME, format!("{} was not resolved in time", host.name), "check the network"),
    }
}

/// Connects to the host. If the connection is not encrypted, also compares the clocks.
async fn connect(host: &Host) -> Vec<Step> {
    let place = host.place();
    let help = "check the service, the port, and firewalls in between";
    let connecting = TcpStream::connect((host.name.as_str(), host.port));
    let mut stream = match tokio::time::timeout(TIMEOUT, connecting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return vec![Step::failed("TCP", format!("{place}: {error}"), help)],
        Err(_) => return vec![Step::failed("TCP", format!("{place} did not answer in time"), help)],
    };
    let connected = Step::passed("TCP", format!("{place} accepts connections"));
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

async fn authenticate(store: &DynTableStore, table: Option<&str>) -> Step {
    const NAME: &str = "account";
    let Err(error) = store.list_tables("", None, 1).await else {
        return Step::passed(NAME, "the credential is accepted");
    };
    if !is_refused(&error) {
        return Step::failed(NAME, error.to_string(), help_of(&error));
    }
    if table.is_some() {
        // A signature for a single table does not allow listing tables.
        return Step::passed(NAME, "the credential is accepted, and does not allow listing tables");
    }
    let help = "the signature does not allow listing tables; name a table: `tables doctor TABLE`";
    Step::failed(NAME, error.to_string(), help)
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

/// Returns advice for an error from any of the requests.
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
        _ => "docs/errors.md explains the error code",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_split_into_host_and_port() {
        for (endpoint, name, port, path) in [
            ("https://contoso.table.core.windows.net", "contoso.table.core.windows.net", 443, "/"),
            ("http://127.0.0.1:10002/devstoreaccount1", "127.0.0.1", 10_002, "/devstoreaccount1"),
            ("http://[::1]:10002/a", "::1", 10_002, "/a"),
            ("http://[fe80::1:2]/a", "fe80::1:2", 80, "/a"),
            ("https://[::1]", "::1", 443, "/"),
        ] {
            let host = Host::of(endpoint).unwrap();
            assert_eq!((host.name.as_str(), host.port, host.path.as_str()), (name, port, path));
        }
        assert_eq!(Host::of("http://[::1]/a").unwrap().place(), "[::1]:80");
        assert_eq!(Host::of("http://127.0.0.1:10002/a").unwrap().place(), "127.0.0.1:10002");
        for endpoint in ["contoso", "ftp://contoso", "https://", "http://a:b/"] {
            assert!(Host::of(endpoint).is_none(), "{endpoint}");
        }
    }

    #[tokio::test]
    async fn a_response_ends_with_its_empty_line() {
        let (mut near, mut far) = tokio::io::duplex(8);
        let sent = b"HTTP/1.1 400 Bad Request\r\nDate: x\r\n\r\n";
        // `far` must stay open until the end of the test.
        let (answer, written) = tokio::join!(head(&mut near), far.write_all(sent));
        written.unwrap();
        assert_eq!(answer.unwrap(), sent);
    }

    #[test]
    fn only_a_refusal_is_explained_by_the_permissions_of_the_credential() {
        for (code, help) in [
            (ErrorCode::ServerBusy, "throttles"),
            (ErrorCode::Corrupted, "restore"),
            (ErrorCode::OperationTimedOut, "docs/errors.md"),
        ] {
            let error = Error::new(code, "x");
            assert!(!is_refused(&error) && help_of(&error).contains(help), "{code:?}");
        }
        assert!(is_refused(&Error::new(ErrorCode::AuthorizationFailure, "x")));
    }

    #[test]
    fn clocks_that_differ_are_reported() {
        let answer = "HTTP/1.1 403 Forbidden\r\nDate: Wed, 25 Nov 2026 12:00:00 GMT\r\n\r\n";
        let at = |text: &str| clock(answer, text.parse().unwrap());
        assert!(at("2026-11-25T12:10:00Z").is_passed());
        assert_eq!(at("2026-11-25T13:00:00Z").fact, "the clocks are 3600 seconds apart");
        assert!(clock("HTTP/1.1 200 OK\r\n\r\n", Utc::now()).is_passed());
    }
}
