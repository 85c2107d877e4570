//! Checks whether a credential may be sent to an endpoint (ACC-1, AUTH-30).
//!
//! Credentials are sent only over TLS or to this machine. The emulator's key is sent only to an emulator.

use table_core::{Error, Result};

use crate::credential::Credential;
use crate::endpoint::{Endpoint, EndpointFault};

impl Credential {
    /// Checks that the credential may be sent to an endpoint. If `plain` is `true`, the options allow credentials over plain HTTP.
    ///
    /// Signatures with the emulator's well-known key may be sent unencrypted, because this key is not secret. An emulator in another container usually has
    /// neither a certificate nor a loopback address.
    ///
    /// # Errors
    /// `InvalidInput` if the credential must not be sent to the endpoint.
    pub(crate) fn check_destination(&self, endpoint: &Endpoint, plain: bool) -> Result<()> {
        let public = matches!(self, Self::SharedKey(key) if key.is_public());
        if public && !endpoint.is_emulator() {
            return Err(Error::of(EndpointFault::PublicKey(endpoint.to_string())));
        }
        let in_the_clear = !endpoint.is_secure() && !endpoint.is_loopback();
        if in_the_clear && !public && !plain {
            return Err(Error::of(EndpointFault::InTheClear(endpoint.to_string())));
        }
        Ok(())
    }
}
