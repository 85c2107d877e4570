//! Tests every possible response to the query that shows whether an index's table exists.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, Result};

use super::{Customer, Partner, Shop, Supplier, open};
use crate::EntityStore;
use crate::index::tests::kit::Records;
use crate::tests::faults::{Call, Fault, FaultyStore};

/// The error codes of a query if the table does not exist.
const ABSENT: [ErrorCode; 2] = [ErrorCode::TableNotFound, ErrorCode::TableBeingDeleted];

/// The error codes of a query after which the existence of the table remains unknown.
const UNKNOWN: [ErrorCode; 23] = [
    ErrorCode::ServerBusy,
    ErrorCode::OperationTimedOut,
    ErrorCode::InternalError,
    ErrorCode::Io,
    ErrorCode::DiskFull,
    ErrorCode::EngineClosed,
    ErrorCode::EnginePoisoned,
    ErrorCode::FolderLocked,
    ErrorCode::ReadOnly,
    ErrorCode::QueueBeingDeleted,
    ErrorCode::AuthenticationFailed,
    ErrorCode::AuthorizationFailure,
    ErrorCode::AuthorizationPermissionMismatch,
    ErrorCode::AuthorizationProtocolMismatch,
    ErrorCode::AuthorizationResourceTypeMismatch,
    ErrorCode::AuthorizationServiceMismatch,
    ErrorCode::AuthorizationSourceIPMismatch,
    ErrorCode::MessageNotFound,
    ErrorCode::PopReceiptMismatch,
    ErrorCode::UpdateConditionNotSatisfied,
    ErrorCode::SchemaMismatch,
    ErrorCode::FormatTooNew,
    ErrorCode::IndexNotReady,
];

/// Error codes that a store returns only if the table exists, for example because a row is corrupted, and codes that no store returns for a query.
const PRESENT: [ErrorCode; 33] = [
    ErrorCode::TableAlreadyExists,
    ErrorCode::EntityAlreadyExists,
    ErrorCode::ResourceNotFound,
    ErrorCode::PropertiesNeedValue,
    ErrorCode::PropertyValueTooLarge,
    ErrorCode::EntityTooLarge,
    ErrorCode::TooManyProperties,
    ErrorCode::PropertyNameInvalid,
    ErrorCode::PropertyNameTooLong,
    ErrorCode::DuplicatePropertiesSpecified,
    ErrorCode::OutOfRangeInput,
    ErrorCode::InvalidInput,
    ErrorCode::InvalidValueType,
    ErrorCode::InvalidResourceName,
    ErrorCode::InvalidDuplicateRow,
    ErrorCode::CommandsInBatchActOnDifferentPartitions,
    ErrorCode::NotImplemented,
    ErrorCode::RequestBodyTooLarge,
    ErrorCode::QueueNotFound,
    ErrorCode::QueueAlreadyExists,
    ErrorCode::OutOfRangeQueryParameterValue,
    ErrorCode::InvalidQueryParameterValue,
    ErrorCode::BlobNotFound,
    ErrorCode::KeyEncoding,
    ErrorCode::EntityMismatch,
    ErrorCode::UniqueViolation,
    ErrorCode::IndexListFull,
    ErrorCode::InvalidWorkload,
    ErrorCode::OverBudget,
    ErrorCode::Unsupported,
    ErrorCode::Corrupted,
    ErrorCode::FolderNotOurs,
    ErrorCode::FormatTooOld,
];

/// Opens the tables of a type through a store whose first query fails with `code`. If `created` is given, it is the error code of creating the index's table.
fn open_after<E: Entity + Send + Sync>(
    engine: &Engine,
    code: ErrorCode,
    created: Option<ErrorCode>,
) -> Result<()> {
    let store = FaultyStore::new(engine.clone());
    let (mut queried, mut creations) = (Some(code), 0);
    store.script(move |call, _| {
        creations += usize::from(call == Call::Create);
        let code = match call {
            Call::Query => queried.take(),
            // The first create request is for the entities' table.
            Call::Create if creations == 2 => created,
            _ => None,
        };
        code.map_or(Fault::None, Fault::Before)
    });
    block_on(store.entities_with_outbox::<E, _>(Records::default()).create_if_missing()).map(drop)
}

/// Returns an engine in which customers own the keys of the index table.
fn of_customers() -> Engine {
    let engine = Engine::in_memory();
    open::<Customer>(&engine).unwrap();
    engine
}

fn code<T>(result: Result<T>) -> Option<ErrorCode> {
    result.err().map(|error| error.code())
}

#[test]
fn pat_inter_3_only_an_unknown_existence_of_the_index_table_stops_an_opening() {
    for found in PRESENT {
        let engine = of_customers();
        assert_eq!(code(open_after::<Customer>(&engine, found, None)), None, "{found:?}");
        let refused = code(open_after::<Supplier>(&engine, found, None));
        assert_eq!(refused, Some(ErrorCode::SchemaMismatch), "{found:?}");
    }
    for unknown in UNKNOWN {
        let engine = of_customers();
        assert_eq!(code(open_after::<Customer>(&engine, unknown, None)), Some(unknown));
        assert_eq!(code(open_after::<Supplier>(&engine, unknown, None)), Some(unknown));
        // The claims remain.
        assert_eq!(code(open::<Supplier>(&engine)), Some(ErrorCode::SchemaMismatch), "{unknown:?}");
        open::<Customer>(&engine).unwrap();
    }
}

#[test]
fn pat_inter_3_claims_to_a_table_that_is_being_deleted_are_void() {
    /// Tests a type that opens the index's table while the table is being deleted. The store waits for the deletion. If `created` is given, the store gives up
    /// with this code.
    fn check<E: Entity + Send + Sync>(absent: ErrorCode, created: Option<ErrorCode>) -> (bool, bool) {
        let engine = of_customers();
        block_on(engine.delete_table(&TableName::new("Emails").unwrap())).unwrap();
        assert_eq!(code(open_after::<E>(&engine, absent, created)), created, "{absent:?}");
        open::<E>(&engine).unwrap();
        (open::<Customer>(&engine).is_ok(), open::<Supplier>(&engine).is_ok())
    }
    for absent in ABSENT {
        for created in [None, Some(ErrorCode::TableBeingDeleted)] {
            assert_eq!(check::<Customer>(absent, created), (true, false), "{absent:?}");
            assert_eq!(check::<Supplier>(absent, created), (false, true), "{absent:?}");
        }
    }
}

/// Opens a type whose tables exist. Each of its queries fails once because of a corrupted row. Returns the number of requests.
fn open_with_damage<E: Entity + Send + Sync>(engine: &Engine) -> usize {
    open::<E>(engine).unwrap();
    let mut number = 0;
    loop {
        let store = FaultyStore::new(engine.clone());
        store.script(move |call, at| match call {
            Call::Query if at == number => Fault::Before(ErrorCode::Corrupted),
            _ => Fault::None,
        });
        let opened = block_on(store.entities_with_outbox::<E, _>(Records::default()).create_if_missing());
        assert!(opened.is_ok(), "request {number}: {}", opened.unwrap_err());
        number += 1;
        if number >= store.calls().len() {
            return number;
        }
    }
}

#[test]
fn pat_inter_3_an_opening_of_a_known_type_needs_no_readable_row() {
    let engine = Engine::in_memory();
    assert!(open_with_damage::<Customer>(&engine) > 4);
    assert!(open_with_damage::<Partner>(&engine) > 4);
    let engine = Engine::in_memory();
    assert!(open_with_damage::<Shop>(&engine) > 6);
}
