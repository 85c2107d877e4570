//! Declarations that must compile without a warning. Each module contains one declaration, under the lints that the module denies.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "each module denies the lint that it tests"
)]

pub mod blobs;
pub mod wide;

#[test]
fn valid_declarations_compile_and_run() {
    blobs::main();
    wide::main();
}
