//! Where a credential may be sent: over TLS or on this machine, and the emulator's key to an emulator (ACC-1, AUTH-30).

use table_core::{Error, ErrorCode, Result};

use crate::credential::Credential;
use crate::endpoint::Endpoint;

impl Credential {
    /// Checks an endpoint before any request goes there. `plain` says that the options allow plain HTTP.
    ///
    /// The emulator's own signatures may travel in the clear, as its key is public: an emulator in a neighbouring container has
    /// neither a certificate nor an address of this machine.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that must not see it.
    pub(crate) fn check_destination(&self, endpoint: &Endpoint, plain: bool) -> Result<()> {
        let refuse = |rule, why: &str| {
            let message = format!("the endpoint {endpoint}: {why}");
            Err(Error::new(ErrorCode::InvalidInput, message).with_rule(rule))
        };
        let public = matches!(self, Self::SharedKey(key) if key.is_public());
        if public && !endpoint.is_emulator() {
            let why = "the emulator's public key is for an emulator alone: use the account's own key";
            return refuse("AUTH-30", why);
        }
        let in_the_clear = !endpoint.is_secure() && !endpoint.is_loopback();
        if in_the_clear && !public && !plain {
            let why = "a signature or token would be sent in the clear: use https, or say so by \
                       `Options::allow_credentials_over_plain_http`";
            return refuse("ACC-1", why);
        }
        Ok(())
    }
}
