//! The Azurite emulator for tests: installed where it is missing, one server a test binary, gone with it.
//!
//! It needs `node` and `npm`. Without them the tests that ask for it are skipped and say so; where `CI` is `true` they fail.

mod install;
mod server;

pub use install::install;
pub use server::AzuriteServer;
