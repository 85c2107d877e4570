//! Bearer tokens from Azure SDK credentials (AUTH-12).

use std::sync::Arc;

use azure_core::credentials::TokenCredential;
use azure_core::error::ErrorKind;
use chrono::DateTime;
use table_core::{Error, ErrorCode};

use crate::credential::{AccessToken, Credential, TokenFuture, TokenProvider};

impl Credential {
    /// Creates a credential from an implementation of `TokenCredential` in `azure_core`. Requires the `identity` feature.
    ///
    /// For example, with the `azure_identity` crate: `Credential::identity(DeveloperToolsCredential::new(None)?)`. This package does not depend on
    /// `azure_identity`, so the program chooses its HTTP client and TLS implementation.
    ///
    /// The client requests a token on first use, and a new one five minutes before the token expires. If the client cannot obtain a token, it does not send the
    /// request. The call fails with `AuthenticationFailed`, or with `Io` if the token source cannot be reached.
    ///
    /// If the service rejects a token, the client requests another one. However, Azure SDK credentials cache tokens, so they may return the rejected token
    /// until it expires. To obtain a different token earlier, create a new credential and a new client.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
    /// use azure_core::time::OffsetDateTime;
    /// use table_azure::{AzureTables, Credential};
    ///
    /// #[derive(Debug)]
    /// struct Fixed;
    ///
    /// #[async_trait::async_trait]
    /// impl TokenCredential for Fixed {
    ///     async fn get_token(
    ///         &self,
    ///         _scopes: &[&str],
    ///         _options: Option<TokenRequestOptions<'_>>,
    ///     ) -> azure_core::Result<AccessToken> {
    ///         Ok(AccessToken::new("c2VjcmV0", OffsetDateTime::UNIX_EPOCH))
    ///     }
    /// }
    ///
    /// let credential = Credential::identity(Arc::new(Fixed));
    /// assert_eq!(format!("{credential:?}"), "Token(***)");
    /// AzureTables::new("https://contoso.table.core.windows.net", credential)?;
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn identity(credential: Arc<dyn TokenCredential>) -> Self {
        Self::token(Identity(credential))
    }
}

struct Identity(Arc<dyn TokenCredential>);

impl TokenProvider for Identity {
    fn token<'a>(&'a self, scope: &'a str) -> TokenFuture<'a> {
        Box::pin(async move {
            let token = self.0.get_token(&[scope], None).await.map_err(|error| no_token(scope, &error))?;
            let (seconds, nanos) = (token.expires_on.unix_timestamp(), token.expires_on.nanosecond());
            // If the expiry time cannot be represented, the token is treated as expired.
            let expires_on = DateTime::from_timestamp(seconds, nanos).unwrap_or_default();
            Ok(AccessToken { secret: token.token.secret().to_owned(), expires_on })
        })
    }
}

/// Creates an error with the Azure SDK's error text. The original error is not kept as the source, because it may contain a response with a token.
fn no_token(scope: &str, error: &azure_core::Error) -> Error {
    let code = match error.kind() {
        ErrorKind::Io | ErrorKind::Connection => ErrorCode::Io,
        _ => ErrorCode::AuthenticationFailed,
    };
    Error::new(code, format!("no token for {scope}: {error}")).with_rule("AUTH-12")
}
