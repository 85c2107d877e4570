//! Tests entity sets and groups. Partitions with several types are read as enums and as structs. No row may be dropped (PAT-HET, PAT-CK).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use pollster::block_on;
use proptest::prelude::*;
use table_core::group::{Many, One};
use table_core::query::QueryClass;
use table_core::{
    Engine, Entity, EntityGroup, EntitySet, ErrorCode, IfMatch, PartitionKey, Projection, Table, TableEntity,
    TableStoreExt, ToEntity, Value,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("dep_")]
struct Department {
    department: String,
    employee_count: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "company")] // TBL-2: the same table
#[partition_key(of)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    of: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    rating: Option<i32>,
}

/// A note. It is recognised by its stored kind, because the keys of an employee or a review could be the same.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "Note")]
#[partition_key(department)]
#[row_key(key)]
struct Note {
    department: String,
    key: String,
}

/// A note, as declared by an earlier version of the program.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "OldNote")]
#[partition_key(department)]
#[row_key(key)]
struct OldNote {
    department: String,
    key: String,
    text: String,
}

impl From<OldNote> for Note {
    fn from(old: OldNote) -> Self {
        Self { department: old.department, key: old.key }
    }
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Staff {
    Department(Department),
    Employee(Employee),
    Review(Review),
    #[upgrade(from = OldNote)]
    Note(Note),
    #[other]
    Unknown(TableEntity),
}

#[derive(EntityGroup, Debug, PartialEq)]
#[entity_group(under = Employee)]
struct EmployeeWithReviews {
    employee: One<Employee>,
    reviews: Many<Review>,
}

#[derive(EntityGroup, Debug)]
struct Everything {
    department: Option<One<Department>>,
    employees: Many<Employee>,
    reviews: Many<Review>,
    #[other]
    rest: Vec<TableEntity>,
}

fn employees() -> Table<Employee, Engine> {
    block_on(Engine::in_memory().table::<Employee>().create_if_missing()).unwrap()
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".to_owned(), id, age: 34 }
}

fn review(employee: u32, year: u16) -> Review {
    Review { of: "Sales".to_owned(), employee, year, rating: Some(4) }
}

fn write(table: &Table<Employee, Engine>, entities: &[Staff]) {
    for entity in entities {
        block_on(table.store().set::<Staff>().insert_or_replace(entity)).unwrap();
    }
}

/// Returns the entity, with the `ETag`s and Timestamps removed from property bags.
fn plain(entity: Staff) -> Staff {
    match entity {
        Staff::Unknown(bag) => {
            let plain = TableEntity::from(bag.key().clone());
            Staff::Unknown(bag.iter().fold(plain, |it, (name, value)| it.with(name, value.clone())))
        }
        known => known,
    }
}

fn read(table: &Table<Employee, Engine>) -> Vec<Staff> {
    let query = table.query(Employee::partition("Sales")).page_size(3).read_as::<Staff>();
    block_on(query.collect()).unwrap().into_iter().map(plain).collect()
}

fn staff() -> impl Strategy<Value = Staff> {
    let sales = || "Sales".to_owned();
    let (id, year) = (0_u32..20, 2010_u16..2014);
    let bag = |key: String, kind: Option<&str>| {
        let bag = TableEntity::new("Sales", key).unwrap().with("Age", 7);
        Staff::Unknown(match kind {
            Some(kind) => bag.with("EntityType", kind),
            None => bag,
        })
    };
    prop_oneof![
        (0..9).prop_map(move |employee_count| Staff::Department(Department {
            department: sales(),
            employee_count
        })),
        id.clone().prop_map(|id| Staff::Employee(employee(id))),
        (id.clone(), year).prop_map(|(id, year)| Staff::Review(review(id, year))),
        id.clone()
            .prop_map(|id| Staff::Note(Note { department: "Sales".into(), key: format!("empid_{id:06}") })),
        // These are a key without a kind, a malformed key, and an unknown kind under the key of an employee.
        "[a-z]{1,3}".prop_map(move |key| bag(key, None)),
        id.clone().prop_map(move |id| bag(format!("empid_{id:05}"), None)),
        id.prop_map(move |id| bag(format!("empid_{id:06}"), Some("EmployeeV2"))),
    ]
}

fn row_key(entity: &Staff) -> String {
    entity.entity_key().unwrap().row_key.to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pat_het_6_every_row_of_a_mixed_partition_is_read_as_its_type(
        entities in prop::collection::vec(staff(), 0..30),
    ) {
        let table = employees();
        write(&table, &entities);
        let model: std::collections::BTreeMap<_, _> =
            entities.into_iter().map(|entity| (row_key(&entity), entity)).collect();
        let expected: Vec<_> = model.into_values().collect();
        prop_assert_eq!(&read(&table), &expected);

        let group: Everything = block_on(table.read_group(Employee::partition("Sales"))).unwrap();
        let lists = (usize::from(group.department.is_some()), group.employees.len(), group.reviews.len());
        let count = |is: fn(&Staff) -> bool| expected.iter().filter(|entity| is(entity)).count();
        prop_assert_eq!(lists, (
            count(|it| matches!(it, Staff::Department(_))),
            count(|it| matches!(it, Staff::Employee(_))),
            count(|it| matches!(it, Staff::Review(_))),
        ));
        prop_assert_eq!(group.rest.len(), count(|it| matches!(it, Staff::Note(_) | Staff::Unknown(_))));
    }
}

#[test]
fn pat_het_3_versions_live_side_by_side_and_the_newest_is_read() {
    let table = employees();
    let old = OldNote { department: "Sales".into(), key: "1".into(), text: "Call".into() };
    let new = Note { department: "Sales".into(), key: "2".into() };
    let mut sales = table.transaction(&employee(1)).unwrap();
    sales.insert(&old).unwrap().insert(&new).unwrap();
    block_on(sales.commit()).unwrap();
    assert_eq!(read(&table), [Staff::Note(old.clone().into()), Staff::Note(new)]);

    let bag = block_on(table.store().untyped("Company").unwrap().get(old.key_of().as_ref().unwrap()));
    assert_eq!(bag.unwrap().unwrap().get("EntityType"), Some(&Value::from("OldNote")));
    let notes = table.store().table::<Note>();
    let error = block_on(notes.get(Note::key("Sales", "1"))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-HET-1")));
    assert_eq!(Staff::MEMBERS.len(), 5);
}

#[test]
fn pat_het_1_a_row_that_does_not_match_its_key_is_an_error() {
    let table = employees();
    let rows = table.store().untyped("Company").unwrap();
    block_on(rows.insert(&TableEntity::new("Sales", "empid_000007").unwrap())).unwrap();
    let query = table.query(Employee::partition("Sales")).read_as::<Staff>();
    let error = block_on(query.collect()).unwrap_err();
    assert_eq!((error.code(), error.key()), (ErrorCode::EntityMismatch, Some(("Sales", "empid_000007"))));
}

#[test]
fn pat_ck_1_an_employee_with_the_reviews_is_one_range_query() {
    let table = employees();
    let reviews = [review(123, 2011), review(123, 2012)];
    let mut sales = table.transaction(&employee(123)).unwrap();
    sales.insert(&employee(123)).unwrap().insert(&reviews[0]).unwrap().insert(&reviews[1]).unwrap();
    sales.insert(&employee(122)).unwrap().insert(&employee(124)).unwrap().insert(&review(124, 2011)).unwrap();
    block_on(sales.commit()).unwrap();

    let plan = table.plan_group::<EmployeeWithReviews>(Employee::key("Sales", 123)).unwrap();
    assert_eq!(plan.class, QueryClass::Range);
    let bounds = "PartitionKey eq 'Sales' and RowKey ge 'empid_000123' and RowKey lt 'empid_000124'";
    assert!(plan.to_string().contains(bounds), "{plan}");

    let group: EmployeeWithReviews = block_on(table.read_group(Employee::key("Sales", 123))).unwrap();
    assert_eq!(group.employee.value(), &employee(123));
    assert!(group.reviews.values().eq(&reviews));

    let missing = block_on(table.read_group::<EmployeeWithReviews>(Employee::key("Sales", 1))).unwrap_err();
    assert_eq!((missing.code(), missing.rule()), (ErrorCode::ResourceNotFound, Some("PAT-CK-1")));

    let rows = table.store().untyped("Company").unwrap();
    block_on(rows.insert(&TableEntity::new("Sales", "empid_000123_cv").unwrap())).unwrap();
    let unknown = block_on(table.read_group::<EmployeeWithReviews>(Employee::key("Sales", 123))).unwrap_err();
    assert_eq!((unknown.rule(), unknown.key()), (Some("PAT-HET-6"), Some(("Sales", "empid_000123_cv"))));
}

#[test]
fn pat_het_5_a_row_is_changed_without_knowing_its_type() {
    let table = employees();
    let department = Department { department: "Sales".into(), employee_count: 7 };
    write(
        &table,
        &[Staff::Department(department), Staff::Employee(employee(1)), Staff::Review(review(1, 2012))],
    );
    let rows = table.store().untyped("Company").unwrap();
    let bags = block_on(rows.query(table_core::Selection::partition("Sales")).collect_versioned()).unwrap();
    let mut changed = 0;
    for bag in bags {
        if let Some(Value::Int32(count)) = bag.get("EmployeeCount") {
            let patch = TableEntity::from(bag.key().clone()).with("EmployeeCount", count + 1);
            block_on(rows.merge(&patch, table_core::Versioned::etag(&bag).clone())).unwrap();
            changed += 1;
        }
    }
    assert_eq!(changed, 1);
    let grown = Department { department: "Sales".into(), employee_count: 8 };
    assert_eq!(read(&table)[0], Staff::Department(grown));
}

#[test]
fn pat_het_1_each_verb_writes_the_member() {
    let engine = Engine::in_memory();
    let staff = block_on(engine.set::<Staff>().create_if_missing()).unwrap();
    let (jones, reviewed) = (Staff::Employee(employee(1)), Staff::Review(review(1, 2012)));
    let first = block_on(staff.insert(&jones)).unwrap();
    let older = Staff::Employee(Employee { age: 35, ..employee(1) });
    let second = block_on(staff.replace(&older, first.clone())).unwrap();
    let stale = block_on(staff.merge(&jones, first)).unwrap_err();
    assert!(stale.is_precondition_failed());
    block_on(staff.merge(&jones, second)).unwrap();

    let note = Staff::Note(Note { department: "Sales".into(), key: "empid_000001x".into() });
    let bag = Staff::Unknown(TableEntity::new("Sales", "z").unwrap().with("Age", 7));
    let mut sales = staff.transaction(&jones).unwrap();
    sales.insert(&reviewed).unwrap().insert_or_merge(&note).unwrap().insert_or_replace(&bag).unwrap();
    block_on(sales.commit()).unwrap();
    assert_eq!(read(&engine.table::<Employee>()), [jones, reviewed, note, bag]);

    // The stored schemas include the schema of each member. A changed member is therefore an error.
    let kinds =
        block_on(engine.untyped(table_core::table::LAYOUTS).unwrap().scan("a test").max_rows(99).collect())
            .unwrap();
    assert_eq!(kinds.len(), Staff::MEMBERS.len());
}

#[derive(EntityGroup, Debug)]
struct Lonely {
    employee: One<Employee>,
}

#[test]
fn a_second_row_of_a_single_field_is_an_error() {
    let table = employees();
    write(&table, &[Staff::Employee(employee(1)), Staff::Employee(employee(2))]);
    let employee = |group: Lonely| group.employee;
    let read = block_on(table.read_group::<Lonely>(Employee::partition("Sales")));
    let error = read.map(employee).unwrap_err();
    assert_eq!((error.code(), error.key()), (ErrorCode::EntityMismatch, Some(("Sales", "empid_000002"))));
    assert_eq!(error.table(), Some("Company"));
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[partition_key(department)]
#[row_key("")]
struct Elsewhere {
    department: String,
}

#[test]
fn egt_1_an_entity_of_another_table_is_refused() {
    // Between two types that have schemas, this would not compile (T216).
    let table = employees().store().untyped("Company").unwrap();
    let mut sales = table.transaction(PartitionKey::new("Sales").unwrap()).unwrap();
    sales.insert(&employee(1)).unwrap();
    let error = sales.insert(&Elsewhere { department: "Sales".into() }).unwrap_err();
    assert_eq!((error.rule(), error.operation()), (Some("EGT-1"), Some(1)));
    let error = sales.delete(Elsewhere::key("Sales"), IfMatch::Any).unwrap_err();
    assert_eq!((error.rule(), sales.len()), (Some("EGT-1"), 1));
}

#[expect(clippy::struct_field_names, reason = "a field has the name that the review gives it")]
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Review)]
struct Rating {
    year: u16,
    rating: Option<i32>,
    of: String,
}

#[test]
fn sel_3_a_projection_holds_fields_of_the_key() {
    let table = employees();
    write(&table, &[Staff::Review(review(123, 2012))]);
    let reviews = table.store().table::<Review>();
    let query = reviews.query(Review::rows("Sales").employee_is(123)).project::<Rating>();
    let plan = query.plan().unwrap().to_string();
    assert!(plan.contains("$select:      Rating\n"), "{plan}");
    assert_eq!(
        block_on(query.collect()).unwrap(),
        [Rating { year: 2012, rating: Some(4), of: "Sales".into() }]
    );

    write(&table, &[Staff::Employee(employee(123))]);
    let mixed =
        block_on(reviews.query(Review::partition("Sales")).project::<Rating>().collect()).unwrap_err();
    assert_eq!(mixed.code(), ErrorCode::EntityMismatch);
}
