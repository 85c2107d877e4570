//! Tests, on Cosmos DB containers, the patterns that need only a store. Each cell of the table in `docs/cosmos.md` has one test.

use std::time::Duration;

use table_core::{Engine, Entity, ErrorCode, QueueName, TableStoreExt};
use table_cosmos::Options;
use table_patterns::EntityGroup;
use table_patterns::EntityStore;
use table_patterns::group::{Many, One};
use table_patterns::log_tail::{LogStamp, LogTail};
use table_patterns::outbox::Outbox;
use table_patterns::work::{Worker, WorkerOptions};

use crate::{runtime, store};

/// A member whose unique index is in the same partition.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Members")]
#[partition_key(tenant, team)]
#[row_key("id_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Member {
    tenant: String,
    team: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[test]
fn an_index_in_the_partition_shares_the_full_key() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Member>()).await;
        store.create("Members", 2);
        let members = store.entities::<Member>().create_if_missing().await.unwrap();
        let member = |team: &str, id, email: &str| Member {
            tenant: "contoso".into(),
            team: team.into(),
            id,
            email: email.into(),
        };
        members.insert(&member("red", 1, "ada@contoso.com")).await.unwrap();
        members.insert(&member("red", 2, "bob@contoso.com")).await.unwrap();
        members.insert(&member("blue", 3, "ada@contoso.com")).await.unwrap();
        let taken = members.insert(&member("red", 4, "ada@contoso.com")).await.unwrap_err();
        assert_eq!(taken.code(), ErrorCode::UniqueViolation, "{taken}");
        let found =
            members.get(Member::by_email("contoso", "red", "ada@contoso.com")).await.unwrap().unwrap();
        assert_eq!(found.id, 1);
        members
            .update(Member::key("contoso", "red", 1), |ada| ada.email = "lovelace@contoso.com".into())
            .await
            .unwrap();
        let old = members.get(Member::by_email("contoso", "red", "ada@contoso.com")).await.unwrap();
        assert_eq!(old.map(|member| member.id), None);
    });
}

/// An employee whose index is in another table and is maintained through the outbox.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(tenant, team)]
#[row_key(id)]
#[index(ByBadge, unique, table = "Badges", partition_key(badge), row_key("b"))]
struct Staff {
    tenant: String,
    team: String,
    #[digits(6)]
    id: u32,
    badge: String,
}

#[test]
fn a_cross_partition_index_is_updated_by_the_outbox() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Staff>()).await;
        store.create("Staff", 2);
        // The queues are in a different store: in this test the engine, in production a storage account.
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("staff").unwrap());
        outbox.create_queues().await.unwrap();
        let staff = store.entities_with_outbox::<Staff, _>(outbox.clone()).create_if_missing().await.unwrap();
        let ada = Staff { tenant: "contoso".into(), team: "red".into(), id: 1, badge: "7".into() };
        staff.insert(&ada).await.unwrap();
        let options = WorkerOptions {
            lease: Duration::from_secs(5 * 60),
            poll_interval: Duration::from_millis(5),
            ..WorkerOptions::default()
        };
        let worker = Worker::with_options(outbox, options).with_index_handler(&staff);
        let done = worker.run(|| worker.metrics().done >= 1);
        tokio::time::timeout(Duration::from_secs(5 * 60), done).await.unwrap();
        let copy = staff.get_eventual(Staff::by_badge("7")).await.unwrap().unwrap();
        assert_eq!(copy.possibly_stale().id, 1);
        // All changes happen within one second and have the same Timestamp, but the copies are still updated.
        for badge in ["8", "9", "7"] {
            staff.update(Staff::key("contoso", "red", 1), |ada| ada.badge = badge.into()).await.unwrap();
            worker.run_until_idle().await.unwrap();
            for other in ["7", "8", "9"] {
                let copy = staff.get_eventual(Staff::by_badge(other)).await.unwrap();
                assert_eq!(copy.is_some(), other == badge, "{other} after {badge}");
            }
        }
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Expenses")]
#[partition_key(tenant, employee)]
#[row_key(stamp)]
struct Expense {
    tenant: String,
    employee: String,
    stamp: LogStamp,
    cents: i64,
}

#[test]
fn log_tail_is_read_newest_first() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Expense>()).await;
        store.create("Expenses", 2);
        let expenses = LogTail::new(store.table::<Expense>());
        for cents in [4_500, 990, 12_000] {
            let entry = |stamp| Expense { tenant: "contoso".into(), employee: "ada".into(), stamp, cents };
            expenses.append(entry).await.unwrap();
        }
        let newest = expenses.newest(Expense::partition("contoso", "ada"), 2).await.unwrap();
        assert_eq!(newest.iter().map(|expense| expense.cents).collect::<Vec<_>>(), [12_000, 990]);
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

#[derive(EntityGroup)]
#[entity_group(under = Employee)]
#[expect(dead_code, reason = "only the group is named")]
struct EmployeeWithReviews {
    employee: One<Employee>,
    reviews: Many<Review>,
}

#[test]
fn owners_and_parts_share_a_partition() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        store.create("Company", 1);
        let employees = store.entities::<Employee>();
        let review = Review { department: "Sales".into(), employee: 223, year: 2012 };
        let missing = employees.insert_part(Employee::key("Sales", 223), &review).await.unwrap_err();
        assert!(missing.is_not_found());
        employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await.unwrap();
        employees.insert_part(Employee::key("Sales", 223), &review).await.unwrap();
        assert_eq!(employees.delete_with_parts(Employee::key("Sales", 223)).await.unwrap(), 2);
    });
}
