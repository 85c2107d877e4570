//! Tests conditions on entities that the unit does not write, on stores with and without checks.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_core::{Entity, Error, ErrorCode, Result, TableStoreExt};

use crate::EntityStore;
use crate::tests::faults::unordered;

/// A doctor. The tests check that two doctors are never on duty at the same time.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ward")]
#[partition_key(ward)]
#[row_key("doctor_", number)]
struct Doctor {
    ward: String,
    #[digits(4)]
    number: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ward")]
#[partition_key(ward)]
#[row_key("note_", number)]
struct Note {
    ward: String,
    #[digits(4)]
    number: u32,
}

fn doctor(number: u32) -> Doctor {
    Doctor { ward: "w".into(), number }
}

fn note(number: u32) -> Note {
    Note { ward: "w".into(), number }
}

fn ward<S: TableStore + Clone + 'static>(store: &S) -> S {
    block_on(store.table::<Doctor>().create_if_missing()).unwrap();
    store.clone()
}

/// Puts a doctor on duty unless the other doctor is on duty. `meanwhile` runs between the first read and the commit. Each call has its own handle, as a
/// separate process would.
async fn take_over<S: TableStore + Clone + 'static>(
    store: &S,
    number: u32,
    meanwhile: impl AsyncFn() -> Result<()>,
) -> Result<bool> {
    let doctors = store.entities::<Doctor>();
    let mut is_first = true;
    let taken = doctors.transaction(Doctor::partition("w"), async |unit| {
        if unit.get(Doctor::key("w", 3 - number)).await?.is_some() {
            return Ok(false);
        }
        if std::mem::take(&mut is_first) {
            meanwhile().await?;
        }
        unit.insert(&doctor(number))?;
        Ok::<_, Error>(true)
    });
    taken.await.map(crate::unit::Committed::into_value)
}

async fn on_duty<S: TableStore + Clone + 'static>(store: &S) -> Result<usize> {
    Ok(store.table::<Doctor>().query(Doctor::rows("w")).collect().await?.len())
}

#[test]
fn eng_21_two_transactions_that_found_nothing_do_not_both_commit() {
    let store = ward(&Engine::in_memory());
    block_on(async {
        let other = async || take_over(&store, 2, async || Ok(())).await.map(|taken| assert!(taken));
        assert!(!take_over(&store, 1, other).await?, "the function runs again, and finds the other one");
        assert_eq!(on_duty(&store).await?, 1);
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn eng_21_a_store_without_checks_refuses_a_unit_that_depends_on_nothing() {
    let store = ward(&unordered());
    block_on(async {
        let error = take_over(&store, 1, async || Ok(())).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::Unsupported, Some("ENG-21")), "{error}");
        assert!(
            error.to_string().contains("`get` of the unit") && error.key() == Some(("w", "doctor_0002")),
            "{error}"
        );
        assert_eq!(on_duty(&store).await?, 0);

        let doctors = store.entities::<Doctor>();
        // The insert itself is the condition on the entity. A read through the handle adds no condition.
        let inserted = doctors.transaction(Doctor::partition("w"), async |unit| {
            let (first, second) =
                (unit.get(Doctor::key("w", 1)).await?, doctors.get(Doctor::key("w", 2)).await?);
            assert!(first.is_none() && second.is_none());
            unit.insert(&doctor(1)).map(drop)
        });
        inserted.await?;
        assert_eq!(on_duty(&store).await?, 1);
        let mut unit = doctors.unit(Doctor::partition("w"))?;
        let error = unit.require_absent(Doctor::key("w", 2)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
        Ok::<_, Error>(())
    })
    .unwrap();
}

/// Commits a note together with each kind of condition. Returns the doctor's version before and after.
async fn with_conditions<S: TableStore + Clone + 'static>(store: &S) -> Result<[table_core::ETag; 2]> {
    let doctors = store.entities::<Doctor>();
    doctors.insert(&doctor(1)).await?;
    let read = doctors.get(Doctor::key("w", 1)).await?.expect("inserted above");
    let mut unit = doctors.unit(Doctor::partition("w"))?;
    unit.require(Doctor::key("w", 1))?.insert(&note(1))?;
    unit.commit().await?;
    let noted = doctors.transaction(Doctor::partition("w"), async |unit| {
        assert!(unit.get(Doctor::key("w", 1)).await?.is_some());
        unit.insert(&note(2)).map(drop)
    });
    noted.await?;
    let again = doctors.get(Doctor::key("w", 1)).await?.expect("still there");
    Ok([read.etag().clone(), again.etag().clone()])
}

#[test]
fn eng_21_a_condition_keeps_the_version_where_the_store_has_checks() {
    let [before, after] = block_on(with_conditions(&ward(&Engine::in_memory()))).unwrap();
    assert_eq!(before, after);
    let [before, after] = block_on(with_conditions(&ward(&unordered()))).unwrap();
    assert_ne!(before, after, "an empty merge is the only condition of the service");
}

#[test]
fn eng_21_a_required_absence_is_named_if_it_does_not_hold() {
    let store = ward(&Engine::in_memory());
    block_on(async {
        let doctors = store.entities::<Doctor>();
        let unit = |number| {
            let mut unit = doctors.unit(Doctor::partition("w"))?;
            unit.require_absent(Doctor::key("w", 9))?.insert(&note(number))?;
            Ok::<_, Error>(unit)
        };
        assert_eq!(unit(1)?.commit().await?.len(), 1, "a condition has no version");
        doctors.insert(&doctor(9)).await?;
        let error = unit(2)?.commit().await.unwrap_err();
        assert_eq!((error.code(), error.operation()), (ErrorCode::EntityAlreadyExists, Some(0)));
        assert!(error.to_string().contains("condition on `Doctor`"), "{error}");
        assert_eq!(store.table::<Note>().query(Note::rows("w")).collect().await?.len(), 1);
        let mut both = doctors.unit(Doctor::partition("w"))?;
        both.require_absent(Doctor::key("w", 8))?;
        assert_eq!(both.insert(&doctor(8)).unwrap_err().code(), ErrorCode::InvalidDuplicateRow);
        Ok::<_, Error>(())
    })
    .unwrap();
}

/// Tests a unit that finds no row and then requires the row. No other writer has changed the row, so the commit fails with the store's own error.
#[test]
fn upd_2_an_entity_that_was_read_as_absent_and_is_required_is_not_found() {
    let store = ward(&Engine::in_memory());
    block_on(async {
        let doctors = store.entities::<Doctor>();
        let mut runs = 0;
        let refused = doctors.transaction(Doctor::partition("w"), async |unit| {
            runs += 1;
            assert!(unit.get(Doctor::key("w", 1)).await?.is_none());
            unit.require(Doctor::key("w", 1))?.insert(&note(1)).map(drop)
        });
        let error = refused.await.map(drop).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::ResourceNotFound, Some("UPD-2")), "{error}");
        assert_eq!(error.key(), Some(("w", "doctor_0001")));
        assert_eq!(runs, 2, "the second run reads the same, so the error is its own");
        Ok::<_, Error>(())
    })
    .unwrap();
}
