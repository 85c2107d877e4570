//! Tests the errors that handlers return. Outages never turn a message into poison, but repeated failures do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::embedded::Clock;
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use super::{Mail, Nothing, outbox, record};
use crate::outbox::Outbox;
use crate::work::{self, Handler, PoisonEntry, Runtime, WorkMetrics, Worker};

/// The error codes that the documentation of `Handler` lists as outages.
const OUTAGES: [ErrorCode; 21] = [
    ErrorCode::ServerBusy,
    ErrorCode::OperationTimedOut,
    ErrorCode::InternalError,
    ErrorCode::Io,
    ErrorCode::DiskFull,
    ErrorCode::EngineClosed,
    ErrorCode::EnginePoisoned,
    ErrorCode::FolderLocked,
    ErrorCode::ReadOnly,
    ErrorCode::TableBeingDeleted,
    ErrorCode::QueueBeingDeleted,
    ErrorCode::AuthenticationFailed,
    ErrorCode::AuthorizationFailure,
    ErrorCode::AuthorizationPermissionMismatch,
    ErrorCode::AuthorizationProtocolMismatch,
    ErrorCode::AuthorizationResourceTypeMismatch,
    ErrorCode::AuthorizationServiceMismatch,
    ErrorCode::AuthorizationSourceIPMismatch,
    ErrorCode::UpdateConditionNotSatisfied,
    ErrorCode::MessageNotFound,
    ErrorCode::PopReceiptMismatch,
];

/// Some of the error codes that the documentation of `Handler` lists as failures.
const FAILURES: [ErrorCode; 9] = [
    ErrorCode::InvalidInput,
    ErrorCode::ResourceNotFound,
    ErrorCode::TableNotFound,
    ErrorCode::EntityAlreadyExists,
    ErrorCode::EntityMismatch,
    ErrorCode::Unsupported,
    ErrorCode::SchemaMismatch,
    ErrorCode::UniqueViolation,
    ErrorCode::BlobNotFound,
];

/// A handler that always fails with the given error.
struct Failing(Error);

impl Handler<Mail> for Failing {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        Err(self.0.clone())
    }
}

/// A handler that panics on some messages.
struct Panicking;

impl Handler<Mail> for Panicking {
    async fn handle(&self, mail: &Mail, delivery: work::Delivery<'_>) -> Result<()> {
        delivery.keep().await?;
        assert!(mail.0 != "hello" || delivery.partition_key.as_str() != "Sales", "no address for {}", mail.0);
        Ok(())
    }
}

/// Runs a worker every 20 minutes for a day, with one message and a handler that always fails with `error`.
fn fail_for_a_day(error: Error) -> (WorkMetrics, Vec<PoisonEntry>) {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    record(&outbox, &table, "Sales");
    let worker = Worker::new(outbox.clone()).handler(Failing(error));
    for _ in 0..72 {
        block_on(worker.run_until_idle()).unwrap();
        time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
    }
    (worker.metrics(), block_on(outbox.poison(32)).unwrap())
}

#[test]
fn pat_ec_5_the_documented_outages_of_a_handler_never_become_poison() {
    let documented = include_str!("../handler.rs");
    for code in OUTAGES {
        let (metrics, poison) = fail_for_a_day(Error::new(code, "no answer"));
        assert_eq!((metrics.failures, metrics.poisoned, poison.len()), (0, 0, 0), "{code:?}: {metrics:?}");
        assert!(metrics.outages > 5, "{code:?}: {metrics:?}");
        assert!(documented.contains(&format!("`{code:?}`")), "{code:?}");
    }
    for code in [ErrorCode::FormatTooNew, ErrorCode::IndexNotReady] {
        let (metrics, poison) = fail_for_a_day(Error::new(code, "too new"));
        assert_eq!((metrics.failures, metrics.outages, poison.len()), (0, 0, 0), "{code:?}: {metrics:?}");
        assert!(metrics.left > 5, "{code:?}: {metrics:?}");
    }
}

#[test]
fn pat_ec_4_every_other_error_of_a_handler_is_a_failure_that_becomes_poison() {
    for code in FAILURES {
        let (metrics, poison) = fail_for_a_day(Error::new(code, "never"));
        assert_eq!((metrics.failures, metrics.outages, poison.len()), (5, 0, 1), "{code:?}: {metrics:?}");
        assert_eq!(poison[0].attempts, 5, "{code:?}: {poison:?}");
    }
}

#[test]
fn a_handler_decides_that_an_error_is_an_outage_or_a_failure() {
    let refused = || Error::new(ErrorCode::Io, "connection refused");
    let (metrics, poison) = fail_for_a_day(work::failure(refused()));
    assert_eq!((metrics.failures, metrics.outages, poison.len()), (5, 0, 1), "{metrics:?}");
    let text = poison[0].error.as_deref().unwrap();
    assert!(text.contains("connection refused"), "{text}");

    for error in [work::outage("no answer"), work::outage(Error::new(ErrorCode::InvalidInput, "rejected"))] {
        let (metrics, poison) = fail_for_a_day(error);
        assert_eq!((metrics.failures, poison.len()), (0, 0), "{metrics:?}");
        assert!(metrics.outages > 5, "{metrics:?}");
    }
}

#[test]
fn pat_ec_4_a_message_at_which_a_handler_panics_becomes_poison_and_stops_no_other() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    for partition in ["Marketing", "Sales", "Support"] {
        record(&outbox, &table, partition);
    }
    let worker = Worker::new(outbox.clone()).handler(Panicking);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().steps, worker.metrics().failures), (2, 1), "{:?}", worker.metrics());
    for _ in 0..6 {
        time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
        block_on(worker.run_until_idle()).unwrap();
    }
    let poison = block_on(outbox.poison(32)).unwrap();
    assert_eq!((worker.metrics().failures, poison.len()), (5, 1), "{poison:?}");
    let text = poison[0].error.as_deref().unwrap();
    assert!(text.contains("the handler of `mail` panicked: no address for hello"), "{text}");
}

#[test]
fn pat_ec_5_a_clock_that_jumps_at_any_reading_delays_a_retry_by_minutes_at_most() {
    const DAYS: u64 = 27 * 24 * 3_600 * 10_000_000;
    for (begin, length) in (0..40).flat_map(|begin| [1, 2, 3, 8].map(|length| (begin, length))) {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "Sales");
        let (now, readings) = (Arc::clone(&time), AtomicU64::new(0));
        let clock = Clock::new(move || {
            let is_ahead = (begin..begin + length).contains(&readings.fetch_add(1, Ordering::SeqCst));
            now.load(Ordering::SeqCst) + u64::from(is_ahead) * DAYS
        });
        let pace = Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}));
        let jumping = Outbox::with_runtime(engine.clone(), engine.clone(), outbox.queue().clone(), pace);
        let worker = Worker::new(jumping).handler(Failing(work::outage("no answer")));
        block_on(worker.run_once()).unwrap();
        // The longest wait of a worker is 20 minutes. This is slightly more than twice that time.
        time.fetch_add(41 * 600_000_000, Ordering::SeqCst);
        let other = Worker::new(outbox.clone()).handler(Nothing);
        block_on(other.run_until_idle()).unwrap();
        assert_eq!(
            other.metrics().steps,
            1,
            "ahead for {length} readings from {begin}: {:?}",
            other.metrics()
        );
    }
}
