//! Checks the framing and the host of a request (RFC 9112, sections 3.2 and 6.1).
//!
//! The server and a proxy in front of it must agree on the end and the host of each request. Otherwise, a request's body could contain another request that the
//! proxy has not checked (request smuggling).

use http::header::{HOST, TRANSFER_ENCODING};
use http::uri::Authority;

use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// The maximum length of a host: the 253 characters of a domain name, a colon and a port. The length is limited because a response can contain the host once
/// per entity.
const HOST_BYTES: usize = 253 + ":65535".len();

/// Checks the transfer coding and the host of a request.
///
/// # Errors
/// `NotImplemented` if the transfer coding is not `chunked`, and `InvalidHeaderValue` if `chunked` occurs twice; both close the
/// connection. `HostInformationNotPresent` if the host is missing or empty, `InvalidHeaderValue` if it is repeated, too long or invalid.
pub(crate) fn check(exchange: &Exchange) -> Result<(), Refusal> {
    transfer_coding(exchange).map_err(|refusal| Refusal { closes: true, ..refusal })?;
    host(exchange)
}

/// Rejects transfer codings other than `chunked`. The HTTP library decodes a final `chunked`, but forwards a body in any other coding unchanged.
fn transfer_coding(exchange: &Exchange) -> Result<(), Refusal> {
    let mut chunked = 0;
    for value in exchange.headers.get_all(TRANSFER_ENCODING) {
        let codings = value.to_str().unwrap_or("?").split(',').map(str::trim);
        for coding in codings.filter(|coding| !coding.is_empty()) {
            if !coding.eq_ignore_ascii_case("chunked") {
                return Err(Refusal::unsupported("the only transfer coding is `chunked`"));
            }
            chunked += 1;
        }
    }
    if chunked > 1 {
        return Err(Refusal::new(400, "InvalidHeaderValue", "`Transfer-Encoding` has `chunked` twice"));
    }
    Ok(())
}

fn host(exchange: &Exchange) -> Result<(), Refusal> {
    let invalid = |help: &str| Err(Refusal::new(400, "InvalidHeaderValue", help));
    let mut hosts = exchange.headers.get_all(HOST).iter();
    let header = hosts.next();
    if hosts.next().is_some() {
        return invalid("there are several Host headers");
    }
    // HTTP/1.1 requires the header even if the request line has a host. HTTP/2 uses `:authority`.
    let is_empty = header.is_some_and(|value| value.as_bytes().trim_ascii().is_empty());
    if is_empty || (header.is_none() && (exchange.is_http_1 || exchange.host().is_empty())) {
        return Err(Refusal::new(400, "HostInformationNotPresent", ""));
    }
    let header = header.map(|value| value.to_str().unwrap_or_default());
    // If the request line has no host, `exchange.host()` is the header's value.
    let differs = |header: &&str| *header != exchange.host();
    if header.filter(differs).is_some_and(|header| !is_host(header)) || !is_host(exchange.host()) {
        return invalid(
            "the host must be a name or an address of at most 253 characters, with or without a port",
        );
    }
    // In HTTP/1.1 the request line takes precedence (RFC 9112, section 3.2.2). In HTTP/2 both must agree (RFC 9113, section 8.3.1).
    if !exchange.is_http_1 && header.is_some_and(|header| !header.eq_ignore_ascii_case(exchange.host())) {
        return invalid("Host and `:authority` differ");
    }
    Ok(())
}

/// Returns `true` if the text is a host with an optional port, is not too long, and contains no user information.
fn is_host(text: &str) -> bool {
    text.len() <= HOST_BYTES && (is_plain_host(text) || is_any_host(text))
}

/// Returns `true` for a host consisting of ASCII letters, digits, `.`, `-` and `_`, with an optional port. Nearly all hosts have this form, which is checked
/// without copying the text.
fn is_plain_host(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or_default();
    !name.is_empty() && is_port(rest)
}

/// Returns `true` for a host accepted by the HTTP library, with an optional port.
fn is_any_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let Some(rest) = text.strip_prefix(authority.host()).filter(|_| !authority.host().is_empty()) else {
        return false;
    };
    is_port(rest)
}

/// Returns `true` if the text is empty, or if it is a colon with an optional port.
fn is_port(text: &str) -> bool {
    let Some(port) = text.strip_prefix(':') else { return text.is_empty() };
    port.is_empty() || (port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_an_optional_port() {
        for host in ["localhost", "contoso.table.localhost:10002", "127.0.0.1:80", "[::1]:10002", "a:", "a_b"]
        {
            assert!(is_host(host), "{host}");
        }
        for host in
            ["", ":80", "a b", "a, b", "a/b", "u@a", "u:p@a:80", "a:b", "a:99999", "a:+8", "a#b", "a?b"]
        {
            assert!(!is_host(host), "{host}");
        }
        let long = |letters: usize| format!("{}:65535", "a".repeat(letters));
        assert!(is_host(&long(253)) && !is_host(&long(254)));
    }

    /// Tests all short strings of characters with a meaning in hosts.
    #[test]
    fn the_http_library_accepts_every_plain_host() {
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer =
                texts.iter().flat_map(|text| "a0.-_:@[]% ".chars().map(move |next| format!("{text}{next}")));
            let longer: Vec<_> = longer.collect();
            for text in longer.iter().filter(|text| is_plain_host(text)) {
                assert!(is_any_host(text), "{text}");
            }
            texts = longer;
        }
        assert!(is_plain_host("contoso.table.localhost:10002") && !is_plain_host("[::1]:10002"));
    }
}
