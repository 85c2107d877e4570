//! Tests that invalid code does not compile, and that the messages say how to correct it.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests --test ui` writes all messages again. Read each of them.

#[test]
fn mistakes_are_reported_with_their_fix() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
