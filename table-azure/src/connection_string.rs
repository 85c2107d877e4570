//! Connection strings: endpoints and a credential from `Key=Value;…` (AUTH-30 to AUTH-32).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

use table_core::{Error, ErrorCode, Result};

use crate::credential::Credential;

/// The public account of the emulator (AUTH-30).
pub(crate) const EMULATOR_ACCOUNT: &str = "devstoreaccount1";
/// Its key, the same for everyone and printed in the vendor's documentation (AUTH-30).
pub(crate) const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEFAULT_SUFFIX: &str = "core.windows.net";

/// What a connection string says: a credential, and an endpoint for each service it names or implies.
///
/// ```
/// use table_azure::ConnectionString;
///
/// let text = "AccountName=contoso;AccountKey=a2V5;EndpointSuffix=core.windows.net;";
/// let parsed: ConnectionString = text.parse()?;
/// assert_eq!(parsed.table_endpoint(), Some("https://contoso.table.core.windows.net"));
/// assert!(!format!("{parsed:?}").contains("a2V5"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConnectionString {
    credential: Credential,
    table: Endpoints,
    queue: Endpoints,
    blob: Endpoints,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Endpoints {
    primary: Option<String>,
    secondary: Option<String>,
}

impl ConnectionString {
    /// How to prove who is asking.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// The table service, without a trailing slash.
    #[must_use]
    pub fn table_endpoint(&self) -> Option<&str> {
        self.table.primary.as_deref()
    }

    /// The table service's read-only secondary, if it is named (RTY-5).
    #[must_use]
    pub fn table_secondary_endpoint(&self) -> Option<&str> {
        self.table.secondary.as_deref()
    }

    /// The queue service.
    #[must_use]
    pub fn queue_endpoint(&self) -> Option<&str> {
        self.queue.primary.as_deref()
    }

    /// The blob service.
    #[must_use]
    pub fn blob_endpoint(&self) -> Option<&str> {
        self.blob.primary.as_deref()
    }
}

fn refuse(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidInput, message).with_rule("AUTH-31")
}

/// Pairs by lower-case key. Messages name keys only: a value may be a secret.
fn pairs(text: &str) -> Result<BTreeMap<String, &str>> {
    let mut pairs = BTreeMap::new();
    for (index, piece) in text.split(';').map(str::trim).enumerate().filter(|(_, piece)| !piece.is_empty()) {
        let (key, value) = piece.split_once('=').ok_or_else(|| {
            refuse(format!("part {} of the connection string is no `Key=Value`", index + 1))
        })?;
        if pairs.insert(key.to_ascii_lowercase(), value).is_some() {
            return Err(refuse(format!("the connection string has `{key}` twice")));
        }
    }
    Ok(pairs)
}

impl FromStr for ConnectionString {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` if it is no list of `Key=Value`, has no credential, or names no endpoint and no account.
    fn from_str(text: &str) -> Result<Self> {
        let pairs = pairs(text)?;
        let get = |key: &str| pairs.get(key).copied().filter(|value| !value.is_empty());
        if get("usedevelopmentstorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return emulator(get("developmentstorageproxyuri"));
        }
        let account = get("accountname");
        let credential = match (get("sharedaccesssignature"), account, get("accountkey")) {
            (Some(signature), ..) => Credential::shared_access_signature(signature),
            (None, Some(account), Some(key)) => {
                if key == EMULATOR_KEY && !names_emulator(get("tableendpoint")) {
                    return Err(refuse(
                        "the emulator's public key is used for an account that is no emulator: put the account's own key",
                    )
                    .with_rule("AUTH-30"));
                }
                Credential::shared_key(account, key)?
            }
            _ => {
                return Err(refuse(
                    "the connection string has no credential: `AccountName` with `AccountKey`, or `SharedAccessSignature`",
                ));
            }
        };
        let protocol = get("defaultendpointsprotocol").unwrap_or("https");
        let suffix = get("endpointsuffix").unwrap_or(DEFAULT_SUFFIX);
        let endpoints = |service: &str| {
            let explicit =
                |kind: &str| get(&format!("{service}{kind}")).map(|uri| uri.trim_end_matches('/').to_owned());
            let implied = account.map(|account| format!("{protocol}://{account}.{service}.{suffix}"));
            Endpoints { primary: explicit("endpoint").or(implied), secondary: explicit("secondaryendpoint") }
        };
        let parsed = Self {
            credential,
            table: endpoints("table"),
            queue: endpoints("queue"),
            blob: endpoints("blob"),
        };
        if parsed.table.primary.is_none() && parsed.queue.primary.is_none() && parsed.blob.primary.is_none() {
            return Err(refuse(
                "the connection string names no endpoint: add `AccountName` or `TableEndpoint`",
            ));
        }
        Ok(parsed)
    }
}

fn emulator(proxy: Option<&str>) -> Result<ConnectionString> {
    let host = proxy.unwrap_or("http://127.0.0.1").trim_end_matches('/');
    let endpoint = |port: u16| Endpoints {
        primary: Some(format!("{host}:{port}/{EMULATOR_ACCOUNT}")),
        secondary: Some(format!("{host}:{port}/{EMULATOR_ACCOUNT}-secondary")),
    };
    Ok(ConnectionString {
        credential: Credential::shared_key(EMULATOR_ACCOUNT, EMULATOR_KEY)?,
        table: endpoint(10_002),
        queue: endpoint(10_001),
        blob: endpoint(10_000),
    })
}

/// Whether an endpoint is an emulator's: on this machine, or path style (ACC-2), which no account of the service has.
fn names_emulator(endpoint: Option<&str>) -> bool {
    let Some(endpoint) = endpoint else { return false };
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost"
        || address.is_ok_and(|address| address.is_loopback())
        || path.trim_end_matches('/') == EMULATOR_ACCOUNT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::AccountKey;

    #[test]
    fn auth_31_values_may_hold_equal_signs_and_keys_any_case() {
        let parsed: ConnectionString = "accountname=a;ACCOUNTKEY=Zm9vYg==;".parse().unwrap();
        let Credential::SharedKey(key) = parsed.credential() else { panic!("{:?}", parsed.credential()) };
        assert_eq!(*key, AccountKey::new("a", "Zm9vYg==").unwrap());
        assert_eq!(parsed.queue_endpoint(), Some("https://a.queue.core.windows.net"));
    }

    #[test]
    fn auth_31_explicit_endpoints_win_and_a_signature_needs_no_account() {
        let text = "TableEndpoint=https://a.table.cosmos.azure.com:443/;SharedAccessSignature=?sv=1&sig=x%3D";
        let parsed: ConnectionString = text.parse().unwrap();
        assert_eq!(parsed.table_endpoint(), Some("https://a.table.cosmos.azure.com:443"));
        let Credential::SharedAccessSignature(query) = parsed.credential() else { panic!("{parsed:?}") };
        assert_eq!(query, "sv=1&sig=x%3D");
        assert_eq!(parsed.blob_endpoint(), None);
    }

    #[test]
    fn auth_32_the_emulator_spelled_out() {
        let text = format!(
            "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={EMULATOR_KEY};\
             TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
        );
        let short: ConnectionString = "UseDevelopmentStorage=true".parse().unwrap();
        let long: ConnectionString = text.parse().unwrap();
        assert_eq!(short.table_endpoint(), long.table_endpoint());
        let keys = [&short, &long].map(|parsed| match parsed.credential() {
            Credential::SharedKey(key) => key.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(keys[0], keys[1]);
    }

    #[test]
    fn auth_30_the_emulators_key_is_for_the_emulator_only() {
        let text = format!("AccountName=contoso;AccountKey={EMULATOR_KEY}");
        assert_eq!(text.parse::<ConnectionString>().unwrap_err().rule(), Some("AUTH-30"));
        for (endpoint, accepted) in [
            ("http://localhost:20002/devstoreaccount1", true),
            ("http://127.0.0.1:20002", true),
            ("http://[::1]:20002", true),
            ("http://azurite:10002/devstoreaccount1", true),
            ("https://127.contoso.com", false),
            ("https://localhost.contoso.com", false),
            ("https://contoso.table.core.windows.net", false),
        ] {
            let parsed = format!("{text};TableEndpoint={endpoint}").parse::<ConnectionString>();
            assert_eq!(parsed.is_ok(), accepted, "{endpoint}");
        }
    }

    #[test]
    fn what_is_missing_or_malformed_is_named_without_its_value() {
        for text in [
            "",
            "AccountName=a",
            "AccountKey=c2VjcmV0",
            "c2VjcmV0;AccountName=a",
            "AccountKey=c2VjcmV0;AccountKey=x",
        ] {
            let message = text.parse::<ConnectionString>().unwrap_err().to_string();
            assert!(!message.contains("c2VjcmV0"), "{message}");
        }
    }
}
