//! Tests of units of work whose writes depend on the absence of a row (ENG-21). They run on every backend.
//!
//! They are not part of the [suite](crate::suite), because units of work need a store that can be cloned.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if the backend violates the rule"
)]

use table_core::{Entity, Error, ErrorCode, Result, TableStore, TableStoreExt};
use table_patterns::EntityStore;

use crate::suite::scene::fresh_name;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "SuiteUnits")]
#[partition_key(ward)]
#[row_key("doctor_", number)]
struct Doctor {
    ward: String,
    #[digits(4)]
    number: u32,
}

/// Tests a transaction that found a row absent. If another process has inserted this row in the meantime, the transaction must not be committed, even if it
/// writes a different row.
///
/// The transaction must run again. A store that does not support checks must reject it.
pub async fn eng_21_a_read_that_found_nothing_holds_at_the_commit_or_is_refused<S>(store: &S)
where
    S: TableStore + Clone + 'static,
{
    let ward = fresh_name().to_string();
    let doctor = |number| Doctor { ward: ward.clone(), number };
    let doctors = store.entities::<Doctor>().create_if_missing().await.unwrap();
    let (mut runs, other) = (0, store.table::<Doctor>());
    let taken: Result<_> = doctors
        .transaction(Doctor::partition(&ward), async |unit| {
            runs += 1;
            if unit.get(Doctor::key(&ward, 2)).await?.is_some() {
                return Ok(false);
            }
            if runs == 1 {
                other.insert(&doctor(2)).await?;
            }
            unit.insert(&doctor(1))?;
            Ok::<_, Error>(true)
        })
        .await
        .map(|committed| *committed);
    if store.capabilities().checks {
        assert_eq!((taken.unwrap(), runs), (false, 2));
    } else {
        assert_eq!((taken.unwrap_err().code(), runs), (ErrorCode::Unsupported, 1));
    }
    let on_duty = other.query(Doctor::rows(&ward)).collect().await.unwrap();
    assert_eq!(on_duty, [doctor(2)], "never two doctors");
}
