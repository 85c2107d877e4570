//! Tests `table-server` with the behaviour suite and the queue suite, which use `table-azure`, and with tests for the server alone.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod account_permissions;
mod alterations;
mod batches;
mod behaviour;
mod bodies;
mod bounds;
mod conditions;
mod connections;
mod continuations;
mod differential;
mod framing;
mod hostile;
mod http2;
mod javascript;
mod messages;
mod neighbours;
mod parameters;
mod parity;
mod permissions;
mod python;
mod queue_names;
mod queues;
mod refusals;
mod reports;
mod signatures;
mod suites;
mod suites_python;
mod throttle;
mod tls;
mod unread;
mod wire;

use std::sync::LazyLock;

use tests::served::{self, ACCOUNT, KEY};

/// The connection string of the server that all tests in this binary share. The server stops when the binary ends.
static SERVER: LazyLock<String> = LazyLock::new(served::for_the_process);
