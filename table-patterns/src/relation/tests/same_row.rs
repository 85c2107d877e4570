//! Tests deleting parts whose participants write the same row.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Result, TableStoreExt};

use super::{Employee, Review, ada, key, review};
use crate::EntityStore;
use crate::participant::{Changes, Participant};

/// A department's single row for the last deleted review.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("deleted")]
struct Deleted {
    department: String,
    year: i32,
}

struct RecordDeleted;

impl Participant<Review> for RecordDeleted {
    fn name(&self) -> &'static str {
        "deleted"
    }

    fn changes(&self, old: Option<&Review>, new: Option<&Review>, out: &mut Changes) -> Result<()> {
        let Some(Review { department, year, .. }) = old.filter(|_| new.is_none()) else { return Ok(()) };
        out.insert_or_replace(&Deleted { department: department.clone(), year: (*year).into() })
    }
}

#[test]
fn pat_ck_3_participants_of_deleted_parts_may_replace_the_same_row() {
    let store = Engine::in_memory().with_participant::<Review>(RecordDeleted);
    block_on(async {
        let employees = store.entities::<Employee>().create_if_missing().await?;
        employees.insert(&ada()).await?;
        for year in [2012, 2013, 2014] {
            employees.insert_part(key(), &review(year)).await?;
        }
        assert_eq!(employees.delete_with_parts(key()).await?, 4);
        let deleted = store.table::<Deleted>().get(Deleted::key("Sales")).await?.unwrap();
        assert_eq!(deleted.year, 2014);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
