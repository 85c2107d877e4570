//! Tests that participants (which write extra rows with each change) are not part of the stored schema. A program without the participant writes no extra rows,
//! and is not rejected.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;
use table_core::{Entity, IfMatch, Result, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::participant::{Changes, Participant};
use tests::time::Time;

use super::kit::{raced, under_load};
use super::{before, table_at};

/// An audit row. One such row is written for each change.
#[derive(Entity, Clone, Debug)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("audit_", id)]
struct Audit {
    department: String,
    id: String,
    email: Option<String>,
}

struct AuditTrail;

impl Participant<before::Employee> for AuditTrail {
    fn name(&self) -> &'static str {
        "audit trail"
    }

    fn changes(
        &self,
        old: Option<&before::Employee>,
        new: Option<&before::Employee>,
        out: &mut Changes,
    ) -> Result<()> {
        let Some(one) = new.or(old) else { return Ok(()) };
        let (id, email) = (out.id(), new.map(|new| new.email.clone()));
        out.insert(&Audit { department: one.department.clone(), id, email })
    }
}

/// A row for the latest change in a department.
#[derive(Entity, Clone, Debug)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("latest")]
struct Latest {
    department: String,
    email: String,
}

/// The row type of the participant in a newer release, which adds an optional property.
mod newer {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("latest")]
    pub(super) struct Latest {
        pub(super) department: String,
        pub(super) email: String,
        pub(super) actor: Option<String>,
    }
}

struct RecordLatest;

impl Participant<before::Employee> for RecordLatest {
    fn name(&self) -> &'static str {
        "latest"
    }

    fn changes(
        &self,
        _: Option<&before::Employee>,
        new: Option<&before::Employee>,
        out: &mut Changes,
    ) -> Result<()> {
        let Some(before::Employee { department, email, .. }) = new else { return Ok(()) };
        out.insert_or_replace(&Latest { department: department.clone(), email: email.clone() })
    }
}

#[test]
fn a_participant_does_not_check_the_stored_schema_of_its_rows() {
    let time = Time::default();
    let store = time.engine();
    block_on(async {
        let recorded = store.clone().with_participant::<before::Employee>(RecordLatest);
        let old = recorded.entities::<before::Employee>().with_runtime(time.runtime());
        let old = old.create_if_missing().await?;
        let latest = table_at::<newer::Latest>(&time, &store).create_if_missing().await?;
        let row = newer::Latest { department: "Sales".into(), email: "a".into(), actor: Some("ada".into()) };
        latest.insert(&row).await?;
        old.insert(&before::employee(1, "b")).await?;
        let found = latest.get(newer::Latest::key("Sales")).await?.unwrap().into_value();
        assert_eq!((found.email, found.actor), (before::employee(1, "b").email, None));
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_program_without_a_participant_writes_without_its_rows_and_is_not_refused() {
    let time = Time::default();
    let store = time.engine();
    let old = block_on(table_at::<before::Employee>(&time, &store).create_if_missing()).unwrap();
    let audited = store.clone().with_participant::<before::Employee>(AuditTrail);
    let new = audited.entities::<before::Employee>().with_runtime(time.runtime());
    let new = block_on(new.create_if_missing()).unwrap();
    let written = AtomicUsize::new(0);
    let key = |id: u32| before::Employee::key("Sales", id % 8);
    let older = |round: u32| {
        let employee = before::employee(round % 8, &format!("old{round}"));
        raced(match round % 3 {
            0 => block_on(old.insert_or_replace(&employee)).map(drop),
            1 => block_on(old.delete(key(round), IfMatch::Any)),
            _ => block_on(old.merge(&employee, IfMatch::Any)).map(drop),
        });
    };
    under_load(&time, 100, older, |round| {
        let employee = before::employee(round % 8, &format!("new{round}"));
        let outcome = match round % 3 {
            0 => block_on(new.insert_or_replace(&employee)).map(drop),
            1 => block_on(new.delete(key(round), IfMatch::Any)),
            _ => block_on(new.insert(&employee)).map(drop),
        };
        written.fetch_add(usize::from(outcome.is_ok()), Ordering::Relaxed);
        raced(outcome);
    });
    // The audit trail contains exactly the writes of the program that has the participant.
    let trail = || block_on(store.table::<Audit>().query(Audit::rows("Sales")).collect()).unwrap();
    assert_eq!(trail().len(), written.load(Ordering::Relaxed));
    assert!(!trail().is_empty());
    assert!(trail().iter().filter_map(|audit| audit.email.as_ref()).all(|email| email.starts_with("new")));
}
