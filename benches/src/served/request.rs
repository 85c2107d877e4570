//! Encodes signed HTTP requests as bytes.

use std::io::Write;

use chrono::Utc;
use http::{HeaderMap, HeaderValue};
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};

use crate::Outcome;

/// A request to send.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The method.
    pub method: &'static str,
    /// The path including the account, exactly as it is sent.
    pub path: &'a str,
    /// The query string, exactly as it is sent.
    pub query: &'a str,
    /// The media type of the body.
    pub media_type: &'static str,
    /// The body.
    pub body: &'a str,
}

impl Sent<'_> {
    /// Returns all headers except the signature and the content length.
    fn headers(&self, host: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("host", host.to_owned()),
            ("x-ms-version", "2019-02-02".to_owned()),
            ("accept", "application/json;odata=nometadata".to_owned()),
            ("dataserviceversion", "3.0;NetFx".to_owned()),
            ("x-ms-date", print_http_date(Utc::now())),
        ];
        if !self.body.is_empty() {
            headers.push(("content-type", self.media_type.to_owned()));
        }
        headers.push(match self.method {
            "MERGE" | "DELETE" => ("if-match", "*".to_owned()),
            _ => ("prefer", "return-no-content".to_owned()),
        });
        headers
    }
}

/// The headers shared by all requests with the same method and media type.
#[derive(Debug)]
struct Form {
    method: &'static str,
    media_type: &'static str,
    map: HeaderMap,
    lines: String,
}

/// An encoder that writes requests into a reused buffer.
#[derive(Debug)]
pub struct Writer {
    host: String,
    key: AccountKey,
    scheme: Scheme,
    forms: Vec<Form>,
    out: Vec<u8>,
}

impl Writer {
    /// Creates a writer for requests to a server. `scheme` is the signature scheme of the target service.
    #[must_use]
    pub fn new(address: &str, key: &AccountKey, scheme: Scheme) -> Self {
        Self { host: address.to_owned(), key: key.clone(), scheme, forms: Vec::new(), out: Vec::new() }
    }

    /// Encodes a request and overwrites the previous request in the buffer.
    pub fn write(&mut self, sent: &Sent<'_>) -> Outcome<()> {
        let form = self.form(sent)?;
        let Some(Form { map, lines, .. }) = self.forms.get(form) else { return Err("a form is lost".into()) };
        let Sent { method, path, query, body, .. } = *sent;
        let parts = SignedParts { method, path, query, headers: map, length: body.len() };
        let authorization = self.scheme.authorization(&self.key, parts);
        let mark = if query.is_empty() { "" } else { "?" };
        self.out.clear();
        write!(
            self.out,
            "{method} {path}{mark}{query} HTTP/1.1\r\n{lines}authorization: {authorization}\r\n"
        )?;
        if !body.is_empty() || method == "POST" {
            write!(self.out, "content-length: {}\r\n", body.len())?;
        }
        self.out.extend_from_slice(b"\r\n");
        self.out.extend_from_slice(body.as_bytes());
        Ok(())
    }

    /// Returns the bytes of the last encoded request.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.out
    }

    /// Returns the index of the headers shared by requests with this method and media type. The headers are created on first use.
    fn form(&mut self, sent: &Sent<'_>) -> Outcome<usize> {
        let media_type = if sent.body.is_empty() { "" } else { sent.media_type };
        let same = |form: &Form| form.method == sent.method && form.media_type == media_type;
        if let Some(found) = self.forms.iter().position(same) {
            return Ok(found);
        }
        let (mut map, mut lines) = (HeaderMap::new(), String::new());
        for (name, value) in sent.headers(&self.host) {
            lines.extend([name, ": ", &value, "\r\n"]);
            map.insert(name, HeaderValue::from_str(&value)?);
        }
        self.forms.push(Form { method: sent.method, media_type, map, lines });
        Ok(self.forms.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use table_wire::auth::Authorization;

    use super::*;

    /// Checks the signature of a request as a server does.
    fn verified(text: &str, scheme: Scheme, key: &AccountKey) {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        let request: Vec<_> = lines.next().unwrap().split(' ').collect();
        let (path, query) = request[1].split_once('?').unwrap_or((request[1], ""));
        let mut headers = HeaderMap::new();
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            headers.insert(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        let parts = SignedParts { method: request[0], path, query, headers: &headers, length: body.len() };
        let header = headers.get("authorization").unwrap().to_str().unwrap();
        Authorization::read(header)
            .unwrap()
            .verify(scheme, std::slice::from_ref(key), parts, Utc::now())
            .unwrap();
    }

    #[test]
    fn every_request_has_its_own_signature() {
        let key = AccountKey::new("contoso", "a2V5").unwrap();
        for scheme in [Scheme::Table, Scheme::Storage] {
            let mut writer = Writer::new("127.0.0.1:10002", &key, scheme);
            for (method, path, query, body) in [
                ("GET", "/contoso/Employee()", "$top=1&comp=list", ""),
                ("POST", "/contoso/Employee", "", "{}"),
                ("GET", "/contoso/Other()", "", ""),
                ("POST", "/contoso/Employee", "", "{\"Age\":1}"),
            ] {
                writer.write(&Sent { method, path, query, media_type: "application/json", body }).unwrap();
                verified(std::str::from_utf8(writer.written()).unwrap(), scheme, &key);
            }
        }
    }
}
