//! Parses the locations of stores, and formats them without secrets.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use table_azure::ConnectionString;

use crate::failure::Failure;
use crate::store::CosmosDatabase;

/// The names of settings that occur only in connection strings.
const SETTINGS: [&str; 5] = [
    "AccountName=",
    "TableEndpoint=",
    "SharedAccessSignature=",
    "UseDevelopmentStorage=",
    "DefaultEndpointsProtocol=",
];

/// Returns `true` if a string contains a name, ignoring ASCII case.
fn contains(text: &str, name: &str) -> bool {
    text.to_ascii_lowercase().contains(&name.to_ascii_lowercase())
}

/// Returns `true` if a string contains a setting with a secret value.
pub(super) fn has_secret(text: &str) -> bool {
    ["AccountKey", "SharedAccessSignature", "sig="].iter().any(|setting| contains(text, setting))
}

/// The location of a store.
///
/// ```
/// use tables_cli::store::Location;
///
/// let account: Location = "https://contoso.table.core.windows.net/?sv=2019-02-02&sig=secret".parse()?;
/// assert_eq!(account.to_string(), "https://contoso.table.core.windows.net");
/// assert!(matches!("data/company".parse()?, Location::Folder(_)));
/// # Ok::<(), tables_cli::failure::Failure>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A new in-memory engine. It exists until the command ends.
    Memory,
    /// A folder with the data of an embedded engine.
    Folder(PathBuf),
    /// An account, an emulator or a server, specified by a connection string.
    ConnectionString(String),
    /// An account, specified by its endpoint and a SAS.
    Signed {
        /// The URL without its query.
        endpoint: String,
        /// The query string, which contains the signature.
        signature: String,
    },
    /// A Cosmos DB for NoSQL database.
    Cosmos(CosmosDatabase),
}

impl Location {
    /// Returns `true` if both locations refer to the same store. Folders are compared by canonical path, and accounts by endpoint.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory, _) | (_, Self::Memory) => false,
            _ => self.identity() == other.identity(),
        }
    }

    /// Returns a string that identifies the store in files written by this program: the canonical path of a folder, the endpoint of an account, or, for any
    /// other store, the location as shown in messages.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::Folder(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
            Self::Signed { endpoint, .. } => normal(endpoint),
            Self::ConnectionString(text) => match text.parse::<ConnectionString>() {
                Ok(parsed) => parsed.table_endpoint().map_or_else(|| self.to_string(), normal),
                Err(_) => self.to_string(),
            },
            other => other.to_string(),
        }
    }
}

impl FromStr for Location {
    type Err = Failure;

    /// # Errors
    /// `Usage` if the string is empty, if it is a URL without a SAS, or if it is a Cosmos DB connection string with a missing or unknown setting.
    fn from_str(text: &str) -> Result<Self, Failure> {
        if text.is_empty() {
            return Err(Failure::Usage(
                "the name of the store is empty; pass a folder or a connection string".to_owned(),
            ));
        }
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        if text.contains(CosmosDatabase::ENDPOINT) {
            return CosmosDatabase::parse(text).map(Self::Cosmos);
        }
        if SETTINGS.iter().any(|setting| contains(text, setting)) {
            return Ok(Self::ConnectionString(text.to_owned()));
        }
        if text.starts_with("https://") || text.starts_with("http://") {
            return match text.split_once('?') {
                Some((endpoint, signature)) if signature.contains("sig=") => Ok(Self::Signed {
                    endpoint: endpoint.trim_end_matches('/').to_owned(),
                    signature: signature.to_owned(),
                }),
                // IMPORTANT: the query must not be in the message, because it may contain a misspelled signature.
                found => Err(Failure::Usage(format!(
                    "`{}` has no shared access signature; append `?sv=…&sig=…`, or pass a connection string",
                    found.map_or(text, |(endpoint, _)| endpoint)
                ))),
            };
        }
        if has_secret(text) {
            let help = "check its settings, such as `AccountName`, `AccountKey` and `TableEndpoint`";
            return Err(Failure::Usage(format!(
                "the store is neither a folder nor a connection string; {help}"
            )));
        }
        Ok(Self::Folder(PathBuf::from(text)))
    }
}

/// Formats the location without keys and signatures.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Signed { endpoint, .. } => f.write_str(endpoint),
            Self::Cosmos(database) => database.fmt(f),
            Self::ConnectionString(text) => f.write_str(&public_part(text)),
        }
    }
}

/// Formats the location like `Display`, because logs must not contain secrets.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns `true` if an earlier release identified this account by `text`: the account name, the endpoint as written by the user, or `the emulator`.
pub(crate) fn was_identity(text: &str, identity: &str) -> bool {
    match text.strip_prefix("account ") {
        Some(account) => identity.strip_prefix("https://").is_some_and(|host| {
            host.strip_prefix(account.to_ascii_lowercase().as_str()).is_some_and(|rest| rest.starts_with('.'))
        }),
        None if text == "the emulator" => identity == "http://127.0.0.1:10002/devstoreaccount1",
        None => text.contains("://") && normal(text) == identity,
    }
}

/// Normalizes an endpoint: scheme and host in lower case, without the default port and the trailing slash.
fn normal(endpoint: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = if scheme == "http" { ":80" } else { ":443" };
    format!("{scheme}://{}{path}", host.strip_suffix(port).unwrap_or(&host))
}

/// Returns the endpoint in a connection string, or else the account name. If the string contains neither, returns `the emulator`.
fn public_part(text: &str) -> String {
    let setting = |name: &str| {
        let named = text.split(';').filter_map(|part| part.split_once('='));
        named
            .into_iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    };
    setting("TableEndpoint")
        .or_else(|| setting("AccountName").map(|account| format!("account {account}")))
        .unwrap_or_else(|| "the emulator".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_and_shown_without_secrets() {
        let account = "DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net";
        for (text, shown) in [
            ("memory:", "memory:"),
            ("data/company", "data/company"),
            ("UseDevelopmentStorage=true", "the emulator"),
            (account, "account contoso"),
            (
                "TableEndpoint=http://127.0.0.1:10002/a;AccountName=a;AccountKey=c2VjcmV0",
                "http://127.0.0.1:10002/a",
            ),
            (
                "AccountEndpoint=https://contoso.documents.azure.com/;AccountKey=c2VjcmV0;Database=shop",
                "database shop of https://contoso.documents.azure.com/",
            ),
            (
                "https://contoso.table.core.windows.net/?sv=1&sig=secret",
                "https://contoso.table.core.windows.net",
            ),
        ] {
            let location: Location = text.parse().unwrap();
            assert_eq!(location.to_string(), shown);
            assert!(!format!("{location:?}").contains("secret") && !format!("{location:?}").contains("c2Vj"));
        }
    }

    #[test]
    fn an_account_is_identified_by_its_endpoint() {
        let same = [
            "AccountName=contoso;AccountKey=c2VjcmV0",
            "DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=b3RoZXI=;EndpointSuffix=core.windows.net",
            "TableEndpoint=https://contoso.table.core.windows.net/;AccountName=contoso;AccountKey=c2VjcmV0",
            "TableEndpoint=https://contoso.table.core.windows.net;SharedAccessSignature=sv=1&sig=c2VjcmV0",
            "https://Contoso.table.core.windows.net:443/?sv=1&sig=c2VjcmV0",
        ];
        let other = [
            "DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=c2VjcmV0;EndpointSuffix=core.chinacloudapi.cn",
            "AccountName=fabrikam;AccountKey=c2VjcmV0",
            "UseDevelopmentStorage=true",
            "http://127.0.0.1:10002/contoso?sv=1&sig=c2VjcmV0",
        ];
        let read = |text: &str| text.parse::<Location>().unwrap();
        for text in same {
            assert!(read(text).is_same(&read(same[0])), "{text}");
            assert_eq!(read(text).identity(), "https://contoso.table.core.windows.net");
        }
        for text in other {
            assert!(!read(text).is_same(&read(same[0])), "{text}");
            assert!(!read(text).identity().contains("c2Vj"), "{text}");
        }
        let emulator = "http://127.0.0.1:10002/devstoreaccount1?sv=1&sig=c2VjcmV0";
        assert!(read("UseDevelopmentStorage=true").is_same(&read(emulator)));
    }

    #[test]
    fn a_url_without_a_signature_and_an_empty_text_are_refused() {
        for text in ["", "https://contoso.table.core.windows.net"] {
            assert!(matches!(text.parse::<Location>(), Err(Failure::Usage(_))));
        }
    }

    #[test]
    fn a_misspelled_store_is_refused_without_its_secret() {
        for text in [
            "AccountKey=c2VjcmV0;Acount=contoso",
            "accountkey=c2VjcmV0",
            "AccountKey:c2VjcmV0",
            "https://contoso.table.core.windows.net/?sv=1&signature=c2VjcmV0",
            "contoso.table.core.windows.net/?sv=1&sig=c2VjcmV0",
        ] {
            let refused = text.parse::<Location>().unwrap_err();
            assert!(matches!(refused, Failure::Usage(_)), "{text}");
            assert!(!refused.to_string().contains("c2VjcmV0"), "{refused}");
        }
        let lower: Location = "accountname=contoso;accountkey=c2VjcmV0".parse().unwrap();
        assert_eq!(lower.to_string(), "account contoso");
    }
}
