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

pub mod access_patterns;
pub mod allowed;
pub mod crate_path;
pub mod derived;
pub mod elsewhere;
pub mod first_day;
pub mod forms;
pub mod generic;
pub mod groups;
pub mod indexes;
pub mod levels;
pub mod lints_denied;
pub mod names_in_expansion;
pub mod no_implicit_prelude;
pub mod private_types;
#[rustfmt::skip] // generated
mod proposed;
pub mod raw_identifiers;
pub mod read_from_right;
pub mod refused;
pub mod sets_and_groups;
pub mod words_of_other_libraries;

#[test]
fn valid_declarations_compile_and_run() {
    access_patterns::main();
    allowed::main();
    crate_path::main();
    derived::main();
    elsewhere::main();
    forms::main();
    generic::main();
    groups::main();
    indexes::main();
    levels::main();
    lints_denied::main();
    names_in_expansion::main();
    no_implicit_prelude::main();
    private_types::main();
    raw_identifiers::main();
    read_from_right::main();
    refused::main();
    sets_and_groups::main();
}
