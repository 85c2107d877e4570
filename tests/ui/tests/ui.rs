//! Tests that invalid code does not compile, and that the messages name the remedy.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests --test ui` writes the messages again. Read each of them.

#[test]
fn mistakes_are_reported_with_their_fix() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
