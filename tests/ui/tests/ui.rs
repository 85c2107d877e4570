//! What must not compile, with messages that name the fix.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests --test ui` writes the messages anew: read each of them.

#[test]
fn mistakes_are_told_with_their_fix() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
