//! Starts the Azurite emulator for tests, and installs it first if necessary. Each test binary starts one server, which stops when the binary ends.
//!
//! Azurite needs `node` and `npm`. Without them, the tests that use Azurite are skipped with a message. If `CI` is `true`, they fail instead.

mod install;
mod server;

pub use install::install;
pub use server::AzuriteServer;
