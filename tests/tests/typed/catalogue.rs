//! Tests table design rules not covered by the tests of individual patterns (DQ, IMP, PAT-HET rules).

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use pollster::block_on;
use table_core::query::{Continuation, KeyRange, Page, Query, Select, TextRange};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{
    Engine, Entity, EntityKey, EntitySet, ErrorCode, Filter, Result, Selection, TableEntity, TableName,
    TableStoreExt, Transaction,
};
use table_patterns::EntityStore;
use tests::employee::Employee;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Badges")]
#[partition_key(department)]
#[row_key(badge)]
struct Badge {
    department: String,
    #[digits(8)]
    badge: u32,
}

#[test]
fn dq_6_and_10_padded_numbers_are_read_in_the_order_of_numbers() {
    block_on(async {
        let badges = Engine::in_memory().table::<Badge>().create_if_missing().await?;
        for badge in [1_000, 9, 123, 99_999_999, 0, 10] {
            badges.insert(&Badge { department: "Sales".to_owned(), badge }).await?;
        }
        let key = Badge::key("Sales", 123).key()?;
        assert_eq!(key.row_key.as_str(), "00000123");
        let found: Vec<u32> =
            badges.query(Badge::partition("Sales")).collect().await?.iter().map(|row| row.badge).collect();
        assert_eq!(found, [0, 9, 10, 123, 1_000, 99_999_999]);
        // Numbers without leading zeros sort differently.
        let mut texts = ["1000", "9", "123", "99999999", "0", "10"];
        texts.sort_unstable();
        assert_eq!(texts, ["0", "10", "1000", "123", "9", "99999999"]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn dq_8_only_entities_of_one_partition_share_a_transaction() {
    block_on(async {
        let table = Engine::in_memory().table::<Employee>().create_if_missing().await?;
        let mut sales = table.transaction(Employee::partition("Sales"))?;
        sales.insert(&Employee::new("Sales", 1))?.insert(&Employee::new("Sales", 2))?;
        let refused = sales.insert(&Employee::new("Marketing", 3)).map(drop).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::CommandsInBatchActOnDifferentPartitions);
        sales.commit().await?;
        assert_eq!(table.query(Employee::partition("Sales")).collect().await?.len(), 2);
        assert_eq!(table.query(Employee::partition("Marketing")).collect().await?, []);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByName, row_key("name_", escaped(name), "!", id))]
struct Staff {
    department: String,
    #[digits(6)]
    id: u32,
    name: String,
}

/// Tests that only the primary key supports lookups. Without an index, everything must be read to find an entity by a property. Other lookups, and other sort
/// orders, need copies.
#[test]
fn dq_9_and_11_other_lookups_and_orders_come_from_copies() {
    block_on(async {
        let engine = Engine::in_memory();
        let staff = engine.entities::<Staff>().create_if_missing().await?;
        let names = ["Kapil", "Ada", "Jun", "Don", "Ben"];
        for (id, name) in (1..).zip(names) {
            staff.insert(&Staff { department: "Sales".to_owned(), id, name: name.to_owned() }).await?;
        }
        let read = async |keys: KeyRange, filter: &str| {
            let query = Query { filter: Filter::parse(filter).unwrap(), ..Query::new(keys) };
            let page = engine.query(&TableName::new("Staff")?, &query, None).await?;
            Ok::<_, table_core::Error>((page.rows.len(), page.rows_read.unwrap()))
        };
        // A filter on a property reads the entire partition, while the key of the copy reads a single row.
        assert_eq!(read(KeyRange::partition("Sales"), "Name eq 'Jun'").await?, (1, 10));
        let copy = KeyRange::rows("Sales", TextRange::prefix("name_Jun!"));
        assert_eq!(read(copy, "").await?, (1, 1));

        let names_of = |found: Vec<table_core::Versioned<Staff>>| -> Vec<String> {
            found.into_iter().map(|row| row.into_value().name).collect()
        };
        let by_id = names_of(staff.query(Staff::partition("Sales")).collect_versioned().await?);
        let by_name = names_of(staff.query(Staff::by_name_rows("Sales").name(..)).collect_versioned().await?);
        assert_eq!(by_id, names);
        assert_eq!(by_name, ["Ada", "Ben", "Don", "Jun", "Kapil"]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn dq_14_filters_have_six_comparisons_and_three_operators() {
    block_on(async {
        let engine = Engine::in_memory();
        let table = engine.table::<Employee>().create_if_missing().await?;
        for id in 1..=5 {
            let age = i32::try_from(id).unwrap();
            table.insert(&Employee { age, ..Employee::new("Sales", id) }).await?;
        }
        for (filter, expected) in [
            ("Age eq 3", &[3][..]),
            ("Age ne 3", &[1, 2, 4, 5]),
            ("Age gt 3", &[4, 5]),
            ("Age ge 3", &[3, 4, 5]),
            ("Age lt 3", &[1, 2]),
            ("Age le 3", &[1, 2, 3]),
            ("Age gt 1 and Age lt 4", &[2, 3]),
            ("Age lt 2 or Age gt 4", &[1, 5]),
            ("not (Age eq 1 or Age eq 2)", &[3, 4, 5]),
        ] {
            let query = Query { filter: Filter::parse(filter)?, ..Query::new(KeyRange::partition("Sales")) };
            let page = engine.query(&TableName::new("Employee")?, &query, None).await?;
            let keys: Vec<u32> = page.rows.iter().map(|row| row.row_key.parse().unwrap()).collect();
            assert_eq!(keys, expected, "{filter}");
        }
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(partition)]
#[row_key("DEPARTMENT_", code)]
struct Department {
    partition: String,
    #[digits(6)]
    code: u32,
    employee_count: i32,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(partition)]
#[row_key("EMPLOYEE_", id)]
struct Worker {
    partition: String,
    #[digits(6)]
    id: u32,
    name: String,
}

#[derive(Clone, Debug, EntitySet, PartialEq)]
enum Company {
    Department(Department),
    Worker(Worker),
    #[other]
    Unknown(TableEntity),
}

#[test]
fn pat_het_2_and_4_types_with_equal_keys_are_read_by_type_as_bags_and_as_a_sum() {
    block_on(async {
        let engine = Engine::in_memory();
        let workers = engine.table::<Worker>().create_if_missing().await?;
        let departments = engine.table::<Department>();
        let department = |code| Department { partition: "Sales".to_owned(), code, employee_count: 2 };
        let worker = |id| Worker { partition: "Sales".to_owned(), id, name: "Ada".to_owned() };
        for number in [123, 124] {
            workers.insert(&worker(number)).await?;
            departments.insert(&department(number)).await?;
        }
        // Each type has its own RowKey prefix, which groups its rows.
        assert_eq!(workers.query(Worker::rows("Sales").id(..)).collect().await?, [worker(123), worker(124)]);
        assert_eq!(workers.get(Worker::key("Sales", 123)).await?.as_deref(), Some(&worker(123)));
        let codes = departments.query(Department::rows("Sales").code(..)).collect().await?;
        assert_eq!(codes, [department(123), department(124)]);
        // The entities can be read as property bags.
        let bags = engine.untyped("Company")?.query(Selection::partition("Sales")).collect().await?;
        let keys: Vec<_> = bags.iter().map(|bag| bag.key().row_key.as_str()).collect();
        let grouped = ["DEPARTMENT_000123", "DEPARTMENT_000124", "EMPLOYEE_000123", "EMPLOYEE_000124"];
        assert_eq!(keys, grouped);
        // One query reads all members of the set.
        let all = workers.query(Worker::partition("Sales")).read_as::<Company>().collect().await?;
        let expected = [
            Company::Department(department(123)),
            Company::Department(department(124)),
            Company::Worker(worker(123)),
            Company::Worker(worker(124)),
        ];
        assert_eq!(all, expected);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// A wrapper for a store. It records the maximum number of concurrent `submit` calls.
#[derive(Clone, Debug)]
struct Busy {
    engine: Engine,
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.engine.fmt(f)
    }
}

impl TableStore for Busy {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        // The future yields once, as it would while it waits for a response.
        let mut turn = false;
        poll_fn(|context| {
            if std::mem::replace(&mut turn, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let outcome = self.engine.submit(table, transaction).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        outcome
    }
}

#[test]
fn imp_5_requests_of_partitions_overlap_up_to_a_bound() {
    for bound in [1, 3, 8] {
        let store = Busy { engine: Engine::in_memory(), now: Arc::default(), most: Arc::default() };
        let table = block_on(store.table::<Employee>().create_if_missing()).unwrap();
        store.most.store(0, Ordering::SeqCst);
        let all = (0..60).map(|id| Employee::new(&format!("Department {}", id % 12), id));
        block_on(table.bulk().concurrency(bound).insert_all(all)).unwrap();
        assert_eq!(store.most.load(Ordering::SeqCst), bound);
    }
}
