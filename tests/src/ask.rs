//! Raw HTTP requests. Tests use them to send requests that client libraries cannot send, and to inspect responses that client libraries do not show.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;

use chrono::Utc;
use http::{HeaderMap, HeaderName, HeaderValue};
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};

/// The `Accept` header of requests created by [`Ask::new`].
pub const JSON: &str = "application/json;odata=nometadata";

/// An HTTP request to an account. It is signed when it is sent.
///
/// ```no_run
/// use tests::ask::Ask;
///
/// let connection = tests::served::for_the_process();
/// assert_eq!(Ask::new("GET", "Tables").of(&connection).status, 200);
/// assert_eq!(Ask::new("GET", "Tables").signed(None).of(&connection).status, 403);
/// ```
#[derive(Clone, Debug)]
pub struct Ask {
    service: &'static str,
    scheme: Option<Scheme>,
    /// The suffix of the account name in the path. It is `-secondary` for the secondary endpoint of the account, and empty otherwise.
    copy: &'static str,
    method: &'static str,
    /// The path after the account name, including the query string.
    target: String,
    /// The target that is signed, if it differs from the target that is sent.
    signed_target: Option<String>,
    headers: Vec<(&'static str, String)>,
    body: String,
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The response body.
    pub body: String,
}

impl Answer {
    /// Returns the value of the header `name`.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        });
        line.map(str::trim)
    }

    /// Returns the HTTP status and the error code of an error response.
    #[must_use]
    pub fn code(&self) -> (u16, &str) {
        (self.status, self.header("x-ms-error-code").unwrap_or_default())
    }
}

impl Ask {
    /// Creates a request to the table service. `target` is the path after the account name, including the query string.
    #[must_use]
    pub fn new(method: &'static str, target: impl Into<String>) -> Self {
        let headers = vec![
            ("x-ms-date", print_http_date(Utc::now())),
            ("x-ms-version", "2019-02-02".to_owned()),
            ("accept", JSON.to_owned()),
        ];
        let (service, scheme) = ("Table", Some(Scheme::Table));
        let (target, signed_target, body) = (target.into(), None, String::new());
        Self { service, scheme, copy: "", method, target, signed_target, headers, body }
    }

    /// Creates a request to the queue service.
    #[must_use]
    pub fn queue(method: &'static str, target: impl Into<String>) -> Self {
        Self { service: "Queue", scheme: Some(Scheme::Storage), ..Self::new(method, target) }
    }

    /// Directs the request to the secondary endpoint of the account.
    #[must_use]
    pub fn secondary(self) -> Self {
        Self { copy: "-secondary", ..self }
    }

    /// Replaces the target of the request: the path after the account name, including the query string.
    #[must_use]
    pub fn target(self, target: impl Into<String>) -> Self {
        Self { target: target.into(), ..self }
    }

    /// Adds a header, replacing an existing one with the same name.
    #[must_use]
    pub fn header(self, name: &'static str, value: impl Into<String>) -> Self {
        let mut without = self.without(name);
        without.headers.push((name, value.into()));
        without
    }

    /// Adds a header, keeping existing ones with the same name.
    #[must_use]
    pub fn also(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Removes the header `name`.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(found, _)| *found != name);
        self
    }

    /// Sets the body and its media type.
    #[must_use]
    pub fn body(self, media_type: &str, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self.header("content-type", media_type) }
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: impl Into<String>) -> Self {
        self.body("application/json", body)
    }

    /// Sets the scheme that signs the request. If `scheme` is `None`, the request is not signed.
    #[must_use]
    pub fn signed(self, scheme: Option<Scheme>) -> Self {
        Self { scheme, ..self }
    }

    /// Sets the target that is signed. It may differ from the target that is sent.
    #[must_use]
    pub fn signed_as(self, target: impl Into<String>) -> Self {
        Self { signed_target: Some(target.into()), ..self }
    }

    /// Sends the request to the server named in a connection string, and returns the response.
    ///
    /// # Panics
    /// Panics if no response arrives.
    #[must_use]
    pub fn of(&self, connection: &str) -> Answer {
        self.sent(connection).unwrap_or_else(|error| panic!("{} {}: {error}", self.method, self.target))
    }

    /// Returns the request as text, addressed to the server named in a connection string. The request asks the server to close the connection afterwards.
    ///
    /// # Panics
    /// Panics if the request cannot be signed.
    #[must_use]
    pub fn written(&self, connection: &str) -> String {
        let written = self.write(connection);
        written.unwrap_or_else(|error| panic!("{} {}: {error}", self.method, self.target)).1
    }

    fn sent(&self, connection: &str) -> Result<Answer, Box<dyn Error>> {
        let (host, text) = self.write(connection)?;
        let mut stream = TcpStream::connect(host)?;
        // If a server refuses the head, it may close the connection before the end of the body.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let answer = String::from_utf8(answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        let status = head.split(' ').nth(1).unwrap_or_default().parse()?;
        Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// Returns the host of the server, and the request as text.
    fn write<'a>(&self, connection: &'a str) -> Result<(&'a str, String), Box<dyn Error>> {
        let part = |name: &str| connection.split(';').find_map(|part| part.strip_prefix(name));
        let endpoint = part(&format!("{}Endpoint=http://", self.service)).ok_or("no endpoint")?;
        let (host, account_path) = endpoint.split_once('/').ok_or("no account in the path")?;
        let key =
            AccountKey::new(part("AccountName=").ok_or("no account")?, part("AccountKey=").ok_or("no key")?)?;
        let of_account = |target: &str| format!("/{account_path}{}/{target}", self.copy);
        let target = of_account(&self.target);
        let signed = self.signed_target.as_deref().map_or_else(|| target.clone(), of_account);
        let (path, query) = signed.split_once('?').unwrap_or((&signed, ""));
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers
                .append(HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_bytes(value.as_bytes())?);
        }
        let parts =
            SignedParts { method: self.method, path, query, headers: &headers, length: self.body.len() };
        let mut text = format!("{} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n", self.method);
        if let Some(scheme) = self.scheme {
            write!(text, "authorization: {}\r\n", scheme.authorization(&key, parts))?;
        }
        for (name, value) in &self.headers {
            write!(text, "{name}: {value}\r\n")?;
        }
        write!(text, "content-length: {}\r\n\r\n{}", self.body.len(), self.body)?;
        Ok((host, text))
    }
}
