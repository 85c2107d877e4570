//! Tests that invalid uses of the derives of patterns do not compile, and that the messages say how to correct them.
//!
//! `TRYBUILD=overwrite cargo test -p ui-patterns-tests` writes all messages again. Read each of them.

#[test]
fn mistakes_are_reported_with_their_fix() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
