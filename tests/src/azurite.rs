//! The Azurite emulator for tests. It is installed if necessary, and each test binary starts one server, which ends with the binary.
//!
//! Azurite needs `node` and `npm`. Without them, the tests that use it are skipped with a message; if `CI` is `true`, they fail.

mod install;
mod server;

pub use install::install;
pub use server::AzuriteServer;
