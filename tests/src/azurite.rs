//! Starts the Azurite emulator for tests, installing it first if necessary. Each test binary starts one server, which stops when the binary ends.
//!
//! Azurite needs `node` and `npm`. Without them, the tests that use it are skipped with a message; if `CI` is `true`, they fail.

mod install;
mod server;

pub use install::install;
pub use server::AzuriteServer;
