//! Tests of code that must not compile with the derives of the patterns, with messages that name the remedy.
//!
//! `TRYBUILD=overwrite cargo test -p ui-patterns-tests` writes the messages again. Read each of them.

#[test]
fn mistakes_are_reported_with_their_fix() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
