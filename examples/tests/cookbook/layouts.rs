//! Tests that stored rows have exactly the layouts shown in the pattern catalogue.

use examples::model::company_archive::CurrentEmployee;
use examples::model::company_indexed::{inter, intra};
use examples::model::earthquakes::Earthquake;
use examples::model::message_counts::MessageDay;
use examples::model::{company, staff};
use table_core::index::Index;
use table_core::query::{KeyRange, Plan, QueryClass};
use table_core::{Engine, Entity, FromEntity, Query, TableName, TableStore, TableStoreExt, ticks};

/// Returns the stored rows in a partition. Each has its row key, and the names of its properties separated by spaces.
async fn rows(store: &Engine, table: &str, partition: &str) -> Vec<(String, String)> {
    let query = Query::new(KeyRange::partition(partition));
    let page = store.query(&TableName::new(table).unwrap(), &query, None).await.unwrap();
    let row = |entity: table_core::query::EntityRef<'_>| {
        let names: Vec<_> = entity.row.properties().map(|property| property.unwrap().name).collect();
        (entity.row_key.to_owned(), names.join(" "))
    };
    page.rows.iter().map(row).collect()
}

async fn insert<E: table_core::entity::PlainEntity>(store: &Engine, entities: &[E]) {
    let table = store.table::<E>().create_if_missing().await.unwrap();
    for entity in entities {
        table.insert(entity).await.unwrap();
    }
}

fn owned<const N: usize>(rows: [(&str, &str); N]) -> Vec<(String, String)> {
    rows.map(|(key, names)| (key.to_owned(), names.to_owned())).to_vec()
}

#[test]
fn pat_ck_employees_and_their_reviews() {
    pollster::block_on(async {
        let store = Engine::in_memory();
        insert(&store, &company::employees()).await;
        insert(&store, &company::reviews()).await;
        let (employee, review) = ("FirstName LastName Age EmailAddress", "ManagerRating PeerRating Comments");
        let expected = owned([
            ("empid_000009", employee),
            ("empid_000123", employee),
            ("empid_000123_2011", review),
            ("empid_000123_2012", review),
            ("empid_000123_2013", review),
            ("empid_000152", employee),
            ("empid_000223", employee),
            ("empid_000223_2012", review),
            ("empid_000456", employee),
        ]);
        assert_eq!(rows(&store, "Company", "Sales").await, expected);
    });
}

#[test]
fn pat_log_expense_claims_newest_first() {
    pollster::block_on(async {
        let store = Engine::in_memory();
        insert(&store, &company::expenses()).await;
        let found = rows(&store, "EmployeeExpense", "empid_000123").await;
        // 2014-07-31T18:21:46Z is 635424277060000000 ticks.
        assert_eq!(3_155_378_975_999_999_999_u64 - 635_424_277_060_000_000, 2_519_954_698_939_999_999);
        assert_eq!(found.last().unwrap().0, "2519954698939999999_002");
        assert_eq!(found[found.len() - 2].0, "2519954698939999999_001");
        assert!(found.is_sorted());
        assert_eq!(found.len(), company::expenses().len());
    });
}

#[test]
fn pat_het_employees_and_departments() {
    pollster::block_on(async {
        let store = Engine::in_memory();
        insert(&store, &staff::employees()).await;
        insert(&store, &staff::departments()).await;
        let found = rows(&store, "Staff", "Sales").await;
        assert_eq!(found[0], ("DEPARTMENT_SALES".to_owned(), "DepartmentName EmployeeCount".to_owned()));
        assert_eq!(found[2], ("EMPLOYEE_000123".to_owned(), "FirstName LastName Age".to_owned()));
        assert_eq!(found.len(), 6);
    });
}

#[test]
fn a_row_read_untyped_reads_back_as_its_type() {
    pollster::block_on(async {
        let store = Engine::in_memory();
        insert(&store, &staff::employees()).await;
        let query = Query::new(KeyRange::point("Sales", "EMPLOYEE_000123"));
        let page = store.query(&TableName::new("Staff").unwrap(), &query, None).await.unwrap();
        let read = staff::Employee::from_entity(page.rows.iter().next().unwrap()).unwrap();
        assert_eq!(read, *staff::employees().iter().find(|employee| employee.id == 123).unwrap());
        assert_eq!(read.key_of().unwrap().row_key.as_str(), "EMPLOYEE_000123");
    });
}

/// An employee with the basic layout of the catalogue. Example key: (`Sales`, `000223`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Base {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    #[property("EmailAddress")]
    email: String,
}

#[test]
fn dq_the_base_layout() {
    pollster::block_on(async {
        let store = Engine::in_memory();
        let jones = Base {
            department: "Sales".to_owned(),
            id: 223,
            first_name: "Jane".to_owned(),
            last_name: "Jones".to_owned(),
            age: 32,
            email: "jonesj@contoso.com".to_owned(),
        };
        insert(&store, &[jones]).await;
        let expected = owned([("000223", "FirstName LastName Age EmailAddress")]);
        assert_eq!(rows(&store, "Employees", "Sales").await, expected);
    });
}

/// Returns the `$filter` of the only lookup in a plan.
fn filter(plan: Plan) -> String {
    let [lookup] = plan.lookups.try_into().unwrap();
    lookup.filter.unwrap()
}

#[test]
fn dq_2_to_5_the_four_queries_have_the_expected_class_and_filter() {
    let base = Engine::in_memory().table::<Base>();
    let point = base.plan(Base::key("Sales", 2)).unwrap();
    assert_eq!(point.class, QueryClass::Point);
    assert_eq!(filter(point), "PartitionKey eq 'Sales' and RowKey eq '000002'");
    let scan = base.query(Base::partition("Sales")).filter(Base::LAST_NAME.eq("Smith")).plan().unwrap();
    assert_eq!(scan.class, QueryClass::PartitionScan);
    assert_eq!(filter(scan), "PartitionKey eq 'Sales' and LastName eq 'Smith'");
    let all = base.scan("every Jones").max_rows(10).filter(Base::LAST_NAME.eq("Jones")).plan().unwrap();
    assert_eq!(all.class, QueryClass::TableScan);
    assert_eq!(filter(all), "LastName eq 'Jones'");
}

#[test]
fn pat_intra_2_and_pat_ck_1_typed_ranges_give_the_bounds() {
    let employees = Engine::in_memory().table::<company::Employee>();
    let hundreds = employees.query(company::Employee::rows("Sales").id(100..=199)).plan().unwrap();
    assert_eq!(hundreds.class, QueryClass::Range);
    assert_eq!(
        filter(hundreds),
        "PartitionKey eq 'Sales' and RowKey ge 'empid_000100' and RowKey le 'empid_000199'"
    );
    let with_reviews = employees.query(company::Employee::rows("Sales").id(123..124)).plan().unwrap();
    assert_eq!(
        filter(with_reviews),
        "PartitionKey eq 'Sales' and RowKey ge 'empid_000123' and RowKey lt 'empid_000124'"
    );
}

#[test]
fn pat_log_2_log_times_round_trip_exactly() {
    for event in examples::data::earthquakes::load().unwrap() {
        let event = Earthquake::from(&event);
        let key = event.key_of().unwrap();
        let (ticks, id) = key.row_key.as_str().split_once('_').unwrap();
        assert_eq!((ticks.len(), id), (19, event.id.as_str()));
        assert_eq!(key.partition_key.as_str(), event.network);
        let inverted = ticks::invert(ticks.parse().unwrap()).unwrap();
        assert_eq!(ticks::to_datetime(inverted), Some(event.time), "PAT-LOG-2");
    }
}

/// Returns an index entry for an entity: its `PartitionKey`, its `RowKey`, and the names of its properties in stored order.
fn entry<I: Index>(entity: &I::Entity) -> (String, String, String) {
    let copy = I::entry(entity).unwrap().unwrap();
    let names: Vec<_> = copy.row.view().properties().map(|property| property.unwrap().name).collect();
    (copy.key.partition_key.to_string(), copy.key.row_key.to_string(), names.join(" "))
}

#[test]
fn pat_intra_and_pat_inter_an_employee_and_the_copy_by_address() {
    let company::Employee { department, id, first_name, last_name, age, email } =
        company::employees().into_iter().find(|employee| employee.id == 223).unwrap();
    let kept = "EmployeeId FirstName LastName Age";
    let jane = inter::Employee {
        department: department.clone(),
        id,
        first_name: first_name.clone(),
        last_name: last_name.clone(),
        age,
        email: email.clone(),
    };
    let key = jane.key_of().unwrap();
    assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("empid_Sales", "000223"));
    let copy = ("email_Sales".to_owned(), "jonesj@contoso.com".to_owned(), kept.to_owned());
    assert_eq!(entry::<inter::EmployeeByEmail>(&jane), copy);

    let jane = intra::Employee { department, id, first_name, last_name, age, email };
    let key = jane.key_of().unwrap();
    assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("Sales", "empid_000223"));
    let copy = ("Sales".to_owned(), "email_jonesj@contoso.com".to_owned(), kept.to_owned());
    assert_eq!(entry::<intra::EmployeeByEmail>(&jane), copy);
}

#[test]
fn pat_ec_and_pat_ser_the_keys_of_archived_and_counted_entities() {
    let ali = company::employees().into_iter().find(|employee| employee.id == 456).unwrap();
    let key = CurrentEmployee::from(&ali).key_of().unwrap();
    assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("Sales", "000456"));
    let day = MessageDay { employee: 123, date: "2014-04-23".parse().unwrap() };
    let key = day.key_of().unwrap();
    assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("000123", "20140423"));
}
