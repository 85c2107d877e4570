//! Credentials, whose secrets are never printed.

mod destination;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use table_core::Result;

use crate::auth::AccountKey;
use crate::sas::SasToken;

/// A credential for requests. `Debug` prints its kind and account, but never a secret.
///
/// ```
/// use table_azure::Credential;
///
/// let credential = Credential::shared_key("contoso", "c2VjcmV0")?;
/// assert_eq!(format!("{credential:?}"), r#"SharedKey { account: "contoso", key: *** }"#);
/// assert!(Credential::shared_key("contoso", "no base64!").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// An account name and key, which grant full access (AUTH-1).
    SharedKey(AccountKey),
    /// A shared access signature (SAS): a query string without the leading `?`. It is appended to every URL (SAS-12).
    SharedAccessSignature(String),
    /// Bearer tokens from a provider, such as Microsoft Entra ID (AUTH-12).
    Token(Arc<dyn TokenProvider>),
}

impl Credential {
    /// Creates a credential from an account name and a base64 key.
    ///
    /// # Errors
    /// `AuthenticationFailed` if the key is not base64. The message does not contain the key.
    pub fn shared_key(account: impl Into<String>, key: &str) -> Result<Self> {
        AccountKey::new(account, key).map(Self::SharedKey)
    }

    /// Creates a credential from a shared access signature, with or without its leading `?`.
    ///
    /// ```
    /// use table_azure::Credential;
    ///
    /// let credential = Credential::shared_access_signature("?sv=2019-02-02&sig=c2VjcmV0");
    /// assert_eq!(format!("{credential:?}"), "SharedAccessSignature(***)");
    /// ```
    pub fn shared_access_signature(query: impl AsRef<str>) -> Self {
        Self::SharedAccessSignature(query.as_ref().trim_start_matches('?').to_owned())
    }

    /// Creates a credential that uses bearer tokens from a provider.
    pub fn token(provider: impl TokenProvider + 'static) -> Self {
        Self::Token(Arc::new(provider))
    }

    /// Returns the account name if the credential contains it.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        match self {
            Self::SharedKey(key) => Some(key.account()),
            Self::SharedAccessSignature(_) | Self::Token(_) => None,
        }
    }
}

/// Converts a SAS token to a credential.
impl From<&SasToken> for Credential {
    fn from(token: &SasToken) -> Self {
        Self::SharedAccessSignature(token.query_string())
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedKey(key) => write!(f, "SharedKey {{ account: {:?}, key: *** }}", key.account()),
            Self::SharedAccessSignature(_) => f.write_str("SharedAccessSignature(***)"),
            Self::Token(_) => f.write_str("Token(***)"),
        }
    }
}

/// A bearer token and its expiry time.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The token without the prefix `Bearer `.
    pub secret: String,
    /// The expiry time. The client requests a new token five minutes before it.
    pub expires_on: DateTime<Utc>,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccessToken {{ secret: ***, expires_on: {} }}", self.expires_on)
    }
}

/// The boxed future returned by [`TokenProvider::token`]. Boxing keeps the trait dyn-compatible.
pub type TokenFuture<'a> = Pin<Box<dyn Future<Output = Result<AccessToken>> + Send + 'a>>;

/// A source of bearer tokens (AUTH-12), such as a managed identity, a service principal or a signed-in developer's account.
///
/// The client caches a token until shortly before it expires, so a provider needs no cache. If the service rejects a token, the client immediately requests a
/// new one. A provider with its own cache may then return the rejected token again, and the request fails.
///
/// The future runs in a tokio runtime, on the thread that drives the client's connections. It must not block that thread.
///
/// ```
/// use table_azure::{AccessToken, Credential, TokenFuture, TokenProvider};
///
/// struct Fixed(AccessToken);
///
/// impl TokenProvider for Fixed {
///     fn token<'a>(&'a self, _scope: &'a str) -> TokenFuture<'a> {
///         Box::pin(async { Ok(self.0.clone()) })
///     }
/// }
///
/// let expires_on = "2026-11-20T09:00:00Z".parse()?;
/// let credential = Credential::token(Fixed(AccessToken { secret: "c2VjcmV0".into(), expires_on }));
/// assert_eq!(format!("{credential:?}"), "Token(***)");
/// # Ok::<(), chrono::ParseError>(())
/// ```
pub trait TokenProvider: Send + Sync {
    /// Returns a token for a scope, such as `https://storage.azure.com/.default`.
    ///
    /// # Errors
    /// `AuthenticationFailed` if no token is available. The message must not contain a secret.
    fn token<'a>(&'a self, scope: &'a str) -> TokenFuture<'a>;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl TokenProvider for Fixed {
        fn token<'a>(&'a self, _scope: &'a str) -> TokenFuture<'a> {
            Box::pin(async {
                Ok(AccessToken { secret: "c2VjcmV0".into(), expires_on: DateTime::UNIX_EPOCH })
            })
        }
    }

    #[test]
    fn no_secret_is_ever_printed() {
        let token = AccessToken { secret: "c2VjcmV0".into(), expires_on: DateTime::UNIX_EPOCH };
        let printed = [
            format!("{:?}", Credential::shared_key("a", "c2VjcmV0").unwrap()),
            format!("{:?}", Credential::shared_access_signature("?sv=1&sig=c2VjcmV0")),
            format!("{:?}", Credential::token(Fixed)),
            format!("{:?}", AccountKey::new("a", "c2VjcmV0").unwrap()),
            format!("{token:?}"),
            format!("{:?}", Credential::shared_key("a", "c2VjcmV0=").unwrap_err()),
        ];
        for text in printed {
            assert!(!text.contains("c2VjcmV0") && !text.contains("secret\""), "{text}");
            assert!(!text.contains("115, 101, 99"), "the key's bytes: {text}");
        }
    }
}
