//! The endpoints that a credential may be sent to: over TLS or on this machine, and the emulator's key to an emulator (ACC-1, AUTH-30).

use table_core::{Error, Result};

use crate::credential::Credential;
use crate::endpoint::{Endpoint, EndpointFault};

impl Credential {
    /// Checks an endpoint before any request goes there. `plain` says that the options allow plain HTTP.
    ///
    /// The emulator's own signatures may travel in the clear, as its key is public: an emulator in a neighbouring container has
    /// neither a certificate nor an address of this machine.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that the credential may not be sent to.
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
