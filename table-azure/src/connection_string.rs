//! Connection strings: endpoints and a credential in the format `Key=Value;…` (AUTH-30 to AUTH-32).

mod fault;

use std::collections::BTreeMap;
use std::str::FromStr;

use table_core::{Error, Result};

use crate::auth::{EMULATOR_ACCOUNT, EMULATOR_KEY};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
pub(crate) use fault::ConnectionFault;

const DEFAULT_SUFFIX: &str = "core.windows.net";

/// A parsed connection string: a credential and the endpoints. If the string omits an endpoint, it is derived from the account name.
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
    /// Returns the credential in the connection string.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Returns the table endpoint, without a trailing slash.
    #[must_use]
    pub fn table_endpoint(&self) -> Option<&str> {
        self.table.primary.as_deref()
    }

    /// Returns the read-only secondary table endpoint, if the string contains one (RTY-5).
    #[must_use]
    pub fn table_secondary_endpoint(&self) -> Option<&str> {
        self.table.secondary.as_deref()
    }

    /// Returns the queue endpoint, without a trailing slash.
    #[must_use]
    pub fn queue_endpoint(&self) -> Option<&str> {
        self.queue.primary.as_deref()
    }

    /// Returns the blob endpoint, without a trailing slash.
    #[must_use]
    pub fn blob_endpoint(&self) -> Option<&str> {
        self.blob.primary.as_deref()
    }
}

/// Parses `Key=Value` pairs and converts the keys to lower case. Error messages contain only keys, because a value may be secret.
fn pairs(text: &str) -> Result<BTreeMap<String, &str>> {
    let mut pairs = BTreeMap::new();
    for (index, piece) in text.split(';').map(str::trim).enumerate().filter(|(_, piece)| !piece.is_empty()) {
        let (key, value) =
            piece.split_once('=').ok_or_else(|| Error::of(ConnectionFault::Part(index + 1)))?;
        if pairs.insert(key.to_ascii_lowercase(), value).is_some() {
            return Err(Error::of(ConnectionFault::Twice(key.to_owned())));
        }
    }
    Ok(pairs)
}

impl FromStr for ConnectionString {
    type Err = Error;

    /// Parses a connection string.
    ///
    /// # Errors
    /// `InvalidInput` in these cases:
    /// - The text is not a list of `Key=Value` pairs.
    /// - It has no credential.
    /// - It has neither an endpoint nor an account name.
    fn from_str(text: &str) -> Result<Self> {
        let pairs = pairs(text)?;
        let get = |key: &str| pairs.get(key).copied().filter(|value| !value.is_empty());
        if get("usedevelopmentstorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return emulator(get("developmentstorageproxyuri"));
        }
        let account = get("accountname");
        let credential = match (get("sharedaccesssignature"), account, get("accountkey")) {
            (Some(signature), ..) => Credential::shared_access_signature(signature),
            (None, Some(account), Some(key)) => Credential::shared_key(account, key)?,
            _ => return Err(Error::of(ConnectionFault::NoCredential)),
        };
        let in_a_host = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !account.is_none_or(in_a_host) {
            return Err(Error::of(ConnectionFault::Account));
        }
        let public = matches!(&credential, Credential::SharedKey(key) if key.is_public());
        let protocol = get("defaultendpointsprotocol").unwrap_or("https");
        let suffix = get("endpointsuffix").unwrap_or(DEFAULT_SUFFIX);
        let endpoints = |service: &str| {
            let explicit =
                |kind: &str| get(&format!("{service}{kind}")).map(|uri| uri.trim_end_matches('/').to_owned());
            // The emulator has no separate host for each service, so its endpoints cannot be derived.
            let implied = account.filter(|_| !public);
            let implied = implied.map(|account| format!("{protocol}://{account}.{service}.{suffix}"));
            Endpoints { primary: explicit("endpoint").or(implied), secondary: explicit("secondaryendpoint") }
        };
        let parsed = Self {
            credential,
            table: endpoints("table"),
            queue: endpoints("queue"),
            blob: endpoints("blob"),
        };
        let services = [&parsed.table, &parsed.queue, &parsed.blob];
        if public {
            let named = services.iter().flat_map(|service| [&service.primary, &service.secondary]).flatten();
            for endpoint in named {
                parsed.credential.check_destination(&Endpoint::new(endpoint)?, false)?;
            }
        }
        if services.iter().all(|service| service.primary.is_none()) {
            let fault = if public { ConnectionFault::NoEmulator } else { ConnectionFault::NoEndpoint };
            return Err(Error::of(fault));
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
        for account in ["contoso", EMULATOR_ACCOUNT] {
            let text = format!("AccountName={account};AccountKey={EMULATOR_KEY}");
            assert_eq!(text.parse::<ConnectionString>().unwrap_err().rule(), Some("AUTH-30"), "{account}");
        }
        for (endpoint, accepted) in [
            ("http://localhost:20002/devstoreaccount1", true),
            ("http://127.0.0.1:20002", true),
            ("http://[::1]:20002", true),
            ("http://azurite:10002/devstoreaccount1", true),
            ("http://devstoreaccount1.table.localhost:10002", true),
            ("https://127.contoso.com", false),
            ("https://localhost.contoso.com", false),
            ("https://localhost.contoso.com/tables", false),
            ("https://contoso.com/x/devstoreaccount1", false),
            ("https://127.0.0.1@contoso.com", false),
            ("https://contoso.table.core.windows.net", false),
            ("no endpoint", false),
        ] {
            for service in ["Table", "Queue", "Blob", "TableSecondary"] {
                let text = format!(
                    "AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};{service}Endpoint={endpoint}"
                );
                let named = format!("{text};BlobEndpoint=http://127.0.0.1:10000/{EMULATOR_ACCOUNT}");
                let text = if service == "Blob" { text } else { named };
                assert_eq!(text.parse::<ConnectionString>().is_ok(), accepted, "{service}: {endpoint}");
            }
        }
    }

    #[test]
    fn auth_30_one_service_of_the_emulator_is_enough() {
        for service in ["table", "queue", "blob"] {
            let endpoint = "http://127.0.0.1:10001/devstoreaccount1";
            let text = format!(
                "AccountName=devstoreaccount1;AccountKey={EMULATOR_KEY};{service}endpoint={endpoint}"
            );
            let parsed: ConnectionString = text.parse().unwrap();
            let named = [parsed.table_endpoint(), parsed.queue_endpoint(), parsed.blob_endpoint()];
            assert_eq!(named.into_iter().flatten().collect::<Vec<_>>(), [endpoint], "{service}");
        }
    }

    #[test]
    fn auth_31_an_account_name_cannot_contain_a_host() {
        for account in ["contoso.com/", "contoso@evil", "contoso:1", "evil.com", "a b", "a\\b", "a%2Fb"] {
            let text = format!("AccountName={account};AccountKey=a2V5");
            assert_eq!(text.parse::<ConnectionString>().unwrap_err().rule(), Some("AUTH-31"), "{account}");
        }
    }

    #[test]
    fn missing_and_malformed_fields_are_named_without_their_values() {
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
