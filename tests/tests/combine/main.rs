//! Tests entities that combine several patterns, in random histories with dying processes, rejected requests and concurrent workers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod declared;
#[expect(unreachable_pub, reason = "the modules of a test binary have no other users")]
mod mixed;
#[expect(unreachable_pub, reason = "the modules of a test binary have no other users")]
mod together;
