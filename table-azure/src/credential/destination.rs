//! Checks whether a credential may be sent to an endpoint. Credentials are sent only over TLS or to this machine, and the emulator's key only to an emulator
//! (ACC-1, AUTH-30).

use table_core::{Error, Result};

use crate::credential::Credential;
use crate::endpoint::{Endpoint, EndpointFault};

impl Credential {
    /// Checks that the credential may be sent to an endpoint. `plain` is `true` if the options allow credentials over plain HTTP.
    ///
    /// Signatures with the emulator's well-known key may be sent unencrypted, because the key is not secret. An emulator in a neighbouring container has
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
