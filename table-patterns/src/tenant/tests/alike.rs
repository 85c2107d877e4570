//! Tests a tenant that consists of a whole table, whose index rows look like entities.

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::{Entity, Result};

use crate::EntityStore;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tenant::Tenant;
use crate::work::Worker;

/// An employee. The index rows are in other partitions of the same table, and their `RowKey`s have the same format as the employees' `RowKey`s.
#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key(id)]
#[index(ByBadge, unique, partition_key("badge_", badge), row_key(id))]
#[index(ByDesk, unique, partition_key("desk_", desk), row_key(id), include(age))]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    badge: String,
    desk: String,
    age: i32,
}

type Out = Outbox<Engine, Engine>;
type Staff = Entities<Employee, Engine, Out>;

async fn staff() -> Result<(Staff, Worker<Engine, Engine>)> {
    let store = Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("work")?);
    outbox.create_queues().await?;
    let staff: Staff = store.entities_with_outbox(outbox.clone()).create_if_missing().await?;
    let worker = Worker::new(outbox).with_index_handler(&staff);
    Ok((staff, worker))
}

fn tenant(staff: &Staff) -> Tenant {
    Tenant::new().with_entities(staff, "all employees").unwrap()
}

/// Copies the employees to another store, and then erases them. If `is_settled` is `true`, a worker has already written their index
/// rows.
async fn copied_and_erased(ages: &[i32], is_settled: bool) -> Result<()> {
    let ((from, worker), (to, other)) = (staff().await?, staff().await?);
    let employee = |(id, age): (u32, &i32)| {
        let department = ["Sales", "badge"][usize::from(id % 2 == 1)].to_owned();
        Employee { department, id, badge: format!("{id}"), desk: format!("{id}"), age: *age }
    };
    let all: Vec<_> = (0..).zip(ages).map(employee).collect();
    from.bulk().insert_or_replace_all(&all).await.map_err(|stopped| stopped.source)?;
    if is_settled {
        worker.run_until_idle().await?;
    }
    let count = tenant(&from).count().await?;
    assert_eq!(count.entities["Employee"], u64::try_from(all.len()).unwrap());
    tenant(&from).copy_to(&tenant(&to)).await?;
    other.run_until_idle().await?;
    assert_eq!(to.check().run().await?.findings, []);
    for staff in [&from, &to] {
        tenant(staff).erase().await?;
        assert_eq!(tenant(staff).remaining().await?, 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_whole_table_with_index_rows_that_look_like_entities_is_copied_and_erased(
        ages in prop::collection::vec(20..60_i32, 0..5),
        is_settled in any::<bool>(),
    ) {
        block_on(copied_and_erased(&ages, is_settled)).unwrap();
    }
}
