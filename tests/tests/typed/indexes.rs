//! Tests declared indexes: the exact layout of their rows, the properties that index rows omit, and reads through indexes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use table_core::index::{CopyIndex, Index};
use table_core::query::{EntityRef, QueryClass};
use table_core::schema::IndexKind;
use table_core::selection::{Class, Copies, IntoSelection, ReadableAs};
use table_core::{
    Engine, Entity, EntityKey, ErrorCode, IndexEntry, Projection, Result, Row, Table, TableEntity, TableName,
    TableStoreExt, Value,
};

type Maybe<T> = Option<T>;

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(
    EmailDirectory,
    unique,
    partition_key("email_", department),
    row_key(email),
    include(first_name, last_name)
)]
#[index(ById, unique, partition_key("empid_", department), row_key(id))]
#[index(ByAge, row_key("age_", age, "_", id), include(first_name))]
#[index(Grown, table = "Grown", row_key(id), when = Employee::is_grown)]
#[index(ByBadge, unique, table = "Badges", partition_key(bucket(badge, 4)), row_key(badge))]
#[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
#[index_entity(Namesakes, at_most = 100, partition_key("lastname_", last_name), row_key("all"))]
struct Employee {
    department: String,
    #[digits(6)]
    #[property("EmployeeId")]
    id: u32,
    first_name: String,
    last_name: String,
    #[digits(3)]
    age: u8,
    #[property("EmailAddress")]
    email: String,
    badge: Maybe<u32>,
}

impl Employee {
    fn is_grown(&self) -> bool {
        self.age >= 18
    }
}

#[derive(Debug, PartialEq, Projection)]
#[projection(of = Employee)]
struct Name {
    first_name: String,
    last_name: String,
}

/// A projection to the key fields of the entity.
#[derive(Debug, PartialEq, Projection)]
#[projection(of = Employee)]
struct Card {
    department: String,
    id: u32,
    first_name: String,
}

#[derive(Debug, PartialEq, Projection)]
#[projection(of = Employee)]
struct Aged {
    first_name: String,
    age: u8,
}

fn jones() -> Employee {
    Employee {
        department: "Sales".to_owned(),
        id: 223,
        first_name: "Jane".to_owned(),
        last_name: "Jones".to_owned(),
        age: 32,
        email: "jonesj@contoso.com".to_owned(),
        badge: Some(7),
    }
}

fn staff() -> Vec<Employee> {
    let other = |id, first_name: &str, last_name: &str, age, badge| Employee {
        id,
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        age,
        email: format!("{}@contoso.com", first_name.to_lowercase()),
        badge,
        ..jones()
    };
    vec![
        jones(),
        other(9, "Mary", "Jones", 51, None),
        other(123, "Jun", "Cao", 32, Some(8)),
        other(456, "Ali", "Smith", 17, None),
    ]
}

/// Formats a row as text, such as `Sales/email_a EmployeeId=000223 Age=32`.
fn shown(key: &EntityKey, row: &Row) -> String {
    let mut words = vec![format!("{}/{}", key.partition_key.as_str(), key.row_key.as_str())];
    for property in row.view().properties() {
        let property = property.unwrap();
        let value = match Value::from(property.value) {
            Value::String(text) => text,
            Value::Int32(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        words.push(format!("{}={value}", property.name));
    }
    words.join(" ")
}

fn layout<E: Entity>(entity: &E) -> Vec<String> {
    let mut rows = vec![shown(&entity.key_of().unwrap(), &entity.to_row().unwrap())];
    rows.extend(E::INDEXES.iter().map(|index| {
        let schema = index.schema();
        match index.entry(entity).unwrap() {
            Some(IndexEntry { key, row }) => {
                format!("{} {}: {}", schema.table.unwrap_or(E::SCHEMA.table), schema.name, shown(&key, &row))
            }
            None => format!("{}: none", schema.name),
        }
    }));
    rows
}

#[test]
fn pat_intra_inter_ix_layouts() {
    assert_eq!(
        layout(&jones()),
        [
            "Sales/empid_000223 FirstName=Jane LastName=Jones Age=32 EmailAddress=jonesj@contoso.com Badge=Int64(7)",
            "Company ByEmail: Sales/email_jonesj@contoso.com EmployeeId=000223 FirstName=Jane LastName=Jones Age=32 Badge=Int64(7)",
            "Company EmailDirectory: email_Sales/jonesj@contoso.com EmployeeId=000223 FirstName=Jane LastName=Jones",
            "Company ById: empid_Sales/000223 FirstName=Jane LastName=Jones Age=32 EmailAddress=jonesj@contoso.com Badge=Int64(7)",
            "Company ByAge: Sales/age_032_000223 FirstName=Jane",
            "Grown Grown: Sales/000223 FirstName=Jane LastName=Jones Age=32 EmailAddress=jonesj@contoso.com Badge=Int64(7)",
            "Badges ByBadge: 0/0000000007 Department=Sales EmployeeId=000223 FirstName=Jane LastName=Jones Age=32 EmailAddress=jonesj@contoso.com",
            "LastNames ByLastName: Sales/Jones EmployeeId=000223",
            "Company Namesakes: lastname_Jones/all Department=Sales EmployeeId=000223",
        ]
    );
}

/// Tests that an index omits the entities that its filter function rejects. It also omits entities without a value for the index key, even if the type of the
/// field is an alias of `Option`.
#[test]
fn sparse_indexes_omit_entities() {
    let [young] = &staff()[3..] else { panic!("four are employed") };
    let rows = layout(young);
    assert_eq!((rows[5].as_str(), rows[6].as_str()), ("Grown: none", "ByBadge: none"));
    let sparse = Employee::SCHEMA.indexes.iter().filter(|index| index.sparse).map(|index| index.name);
    assert_eq!(sparse.collect::<Vec<_>>(), ["Grown", "ByBadge"]);
    assert_eq!(Employee::SCHEMA.indexes[4].when, Some("Employee::is_grown"));
}

#[test]
fn every_entry_leads_back_to_its_entity() {
    for employee in staff() {
        for index in Employee::INDEXES {
            let Some(IndexEntry { key, row }) = index.entry(&employee).unwrap() else { continue };
            let entry = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
            assert_eq!(index.owner(entry).unwrap(), employee.key_of().unwrap(), "{index:?}");
        }
    }
}

/// Creates a table that contains entities and their index rows.
async fn filled() -> Result<Table<Employee, Engine>> {
    let store = Engine::in_memory();
    for table in ["Company", "Grown", "Badges", "LastNames"] {
        store.create_table_if_missing(&TableName::new(table)?).await?;
    }
    for employee in staff() {
        let own = IndexEntry { key: employee.key_of()?, row: employee.to_row()? };
        write(&store, "Company", &own).await?;
        for index in Employee::INDEXES.iter().filter(|index| index.schema().kind == IndexKind::Copies) {
            if let Some(entry) = index.entry(&employee)? {
                write(&store, index.schema().table.unwrap_or("Company"), &entry).await?;
            }
        }
    }
    Ok(store.table())
}

async fn write(store: &Engine, table: &str, entry: &IndexEntry) -> Result<()> {
    let mut bag = TableEntity::new(entry.key.partition_key.as_str(), entry.key.row_key.as_str())?;
    for property in entry.row.view().properties() {
        let property = property?;
        bag = bag.with(property.name, Value::from(property.value));
    }
    store.untyped(table)?.insert(&bag).await.map(|_| ())
}

#[test]
fn copies_of_all_properties_are_read_as_entities() {
    pollster::block_on(async {
        let table = filled().await?;
        let by_email = Employee::by_email("Sales", "jonesj@contoso.com");
        assert_eq!(table.get(by_email).await?.unwrap().into_value(), jones());
        assert_eq!(table.get(Employee::by_id("Sales", 223)).await?.unwrap().into_value(), jones());
        assert_eq!(table.get(Employee::by_badge(7)).await?.unwrap().into_value(), jones());
        assert_eq!(table.get(Employee::by_badge(9)).await?, None);

        let prefix = table.query(Employee::by_email_rows("Sales").email_prefix("j")).collect().await?;
        assert_eq!(prefix.iter().map(|found| found.id).collect::<Vec<_>>(), [223, 123]);
        let badges = table.query(Employee::by_badge_rows().badge(..8)).collect().await?;
        assert_eq!(badges, [jones()]);
        let grown = table.query(Employee::grown("Sales")).collect().await?;
        assert_eq!(grown.iter().map(|found| found.id).collect::<Vec<_>>(), [9, 123, 223]);
        let all =
            table.query(Employee::by_email_rows("Sales")).filter(Employee::AGE.lt(20)).collect().await?;
        assert_eq!(all, [staff().remove(3)]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn copies_of_some_properties_are_read_as_projections() {
    pollster::block_on(async {
        let table = filled().await?;
        let jane = Name { first_name: "Jane".to_owned(), last_name: "Jones".to_owned() };
        let key = Employee::email_directory("Sales", "jonesj@contoso.com");
        assert_eq!(table.get_as::<Name>(key).await?.unwrap().into_value(), jane);
        // Fields in the key of the copy are read from that key.
        let aged = table.query(Employee::by_age("Sales", 32)).project::<Aged>().collect().await?;
        let names: Vec<_> = aged.iter().map(|aged| (aged.first_name.as_str(), aged.age)).collect();
        assert_eq!(names, [("Jun", 32), ("Jane", 32)]);
        let older = table.query(Employee::by_age_rows("Sales").age(33..)).project::<Aged>().collect().await?;
        assert_eq!(older.len(), 1);
        let one = Employee::by_age_rows("Sales").age_is(32).id_is(123);
        assert_eq!(table.get_as::<Aged>(one).await?.unwrap().first_name, "Jun");

        // The copy does not contain this property, so a condition on it would match nothing. The condition is rejected.
        let query = table.query(Employee::by_age("Sales", 32)).filter(Employee::LAST_NAME.eq("Cao"));
        let error = query.project::<Aged>().collect().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-INTRA-6")));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_intra_6_a_projection_of_copies_has_the_fields_of_the_entitys_own_key() {
    pollster::block_on(async {
        let table = filled().await?;
        let card = Card { department: "Sales".to_owned(), id: 223, first_name: "Jane".to_owned() };
        // The id is a property of the first copy, a part of the key of the second copy, and a part of a key in another table.
        let directory = Employee::email_directory("Sales", "jonesj@contoso.com");
        assert_eq!(table.get_as::<Card>(directory).await?.unwrap().into_value(), card);
        let aged = table.query(Employee::by_age("Sales", 32)).project::<Card>().collect().await?;
        assert_eq!(aged.iter().map(|card| card.id).collect::<Vec<_>>(), [123, 223]);
        assert_eq!(table.get_as::<Card>(Employee::by_badge(7)).await?.unwrap().into_value(), card);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn plans_name_the_index_and_its_table() {
    let table = Engine::in_memory().table::<Employee>();
    let plan = table.plan(Employee::by_email("Sales", "jonesj@contoso.com")).unwrap();
    assert_eq!(
        (plan.class, plan.index.as_deref(), plan.table.as_str()),
        (QueryClass::Point, Some("ByEmail"), "Company")
    );
    let filter = plan.lookups[0].filter.as_deref();
    assert_eq!(filter, Some("PartitionKey eq 'Sales' and RowKey eq 'email_jonesj@contoso.com'")); // PAT-INTRA-1
    let plan = table.query(Employee::by_email_rows("Sales").email_prefix("a")).plan().unwrap();
    let filter = plan.lookups[0].filter.as_deref();
    assert_eq!(filter, Some("PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b'")); // PAT-INTRA-3
    let plan = table.query(Employee::by_id_rows("Sales").id(100..=199)).plan().unwrap();
    let filter = plan.lookups[0].filter.as_deref();
    assert_eq!(filter, Some("PartitionKey eq 'empid_Sales' and RowKey ge '000100' and RowKey le '000199'")); // PAT-INTER-2
    assert_eq!(plan.index.as_deref(), Some("ById"));
    let plan = table.plan(Employee::by_badge_rows().badge(..8)).unwrap();
    assert_eq!((plan.class, plan.table.as_str()), (QueryClass::FanOut(4), "Badges"));
    let plan = table.plan(Employee::by_last_name("Sales", "Jones")).unwrap();
    assert_eq!((plan.class, plan.table.as_str()), (QueryClass::Point, "LastNames"));
    assert_eq!(table.query(Employee::grown("Sales")).class(), QueryClass::PartitionScan);
}

#[test]
fn a_copy_that_contradicts_its_key_is_refused() {
    let IndexEntry { key, row } = EmployeeByBadge::entry(&jones()).unwrap().unwrap();
    let other = EntityRef::new("1", key.row_key.as_str(), row.view());
    let read: Result<Employee> = Copies::<EmployeeByBadge>::read(other);
    assert_eq!(read.unwrap_err().code(), ErrorCode::EntityMismatch);
    let stranger = EntityRef::new("Sales", "empid_000223", row.view());
    assert_eq!(EmployeeByEmail::owner(stranger).unwrap_err().code(), ErrorCode::EntityMismatch);
}

/// An entity whose partition key has levels. The partition key of an index contains some of these levels, in different positions.
#[derive(Clone, Debug, Entity, PartialEq)]
#[partition_key(tenant, user)]
#[row_key("event_", at, "_", number)]
#[index(ByKind, partition_key(tenant, kind), row_key("kind_", desc(at), "_", number, "_", escaped(user)))]
#[index(ByNote, row_key("note_", escaped(note), "!", at, "_", number), when = Event::is_noted)]
#[index_entity(Kinds, at_most = 100, row_key("of_", kind))]
struct Event {
    tenant: String,
    user: String,
    at: u32,
    number: u8,
    kind: Maybe<u16>,
    note: Option<String>,
}

impl Event {
    fn is_noted(&self) -> bool {
        self.number > 0
    }
}

fn event() -> impl Strategy<Value = Event> {
    let kind = proptest::option::of(0_u16..3);
    ("[a!_]{0,2}", ".{0,2}", 0_u32..3, 0_u8..3, kind, proptest::option::of("[ab!_/]{0,3}"))
        .prop_map(|(tenant, user, at, number, kind, note)| Event { tenant, user, at, number, kind, note })
}

fn read<I: CopyIndex<Entity = E>, E: Entity>(IndexEntry { key, row }: &IndexEntry) -> E
where
    Copies<I>: ReadableAs<E>,
{
    Copies::<I>::read(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())).unwrap()
}

fn selects<C: Class, F>(selection: impl IntoSelection<Event, C, F>, entry: &IndexEntry) -> bool {
    let selection = selection.into_selection();
    let ranges = selection.ranges().unwrap();
    ranges.iter().any(|range| range.contains(entry.key.partition_key.as_str(), entry.key.row_key.as_str()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_copy_exists_exactly_if_required_and_reads_as_its_entity(event in event()) {
        let by_kind = EventByKind::entry(&event).unwrap();
        prop_assert_eq!(by_kind.is_some(), event.kind.is_some());
        let by_note = EventByNote::entry(&event).unwrap();
        prop_assert_eq!(by_note.is_some(), event.note.is_some() && event.is_noted());
        if let Some(entry) = &by_kind {
            prop_assert_eq!(read::<EventByKind, Event>(entry), event.clone());
        }
        if let Some(entry) = &by_note {
            prop_assert_eq!(read::<EventByNote, Event>(entry), event.clone());
        }
        for index in Event::INDEXES {
            if let Some(IndexEntry { key, row }) = index.entry(&event).unwrap() {
                let entry = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
                prop_assert_eq!(index.owner(entry).unwrap(), event.key_of().unwrap());
            }
        }
    }

    #[test]
    fn entities_of_different_keys_have_different_copies(a in event(), b in event()) {
        for index in Event::INDEXES.iter().filter(|index| index.schema().kind == IndexKind::Copies) {
            if let (Some(a_copy), Some(b_copy)) = (index.entry(&a).unwrap(), index.entry(&b).unwrap()) {
                prop_assert!(a_copy.key != b_copy.key || a.key_of().unwrap() == b.key_of().unwrap());
            }
        }
    }

    #[test]
    fn a_selection_reads_the_copies_of_its_values(a in event(), b in event()) {
        if let (Some(entry), Some(kind)) = (EventByKind::entry(&b).unwrap(), a.kind) {
            let same = a.tenant == b.tenant && b.kind == Some(kind);
            prop_assert_eq!(selects(Event::by_kind(&a.tenant, kind), &entry), same);
            let rows = || Event::by_kind_rows(&a.tenant, kind);
            prop_assert_eq!(selects(rows(), &entry), same);
            prop_assert_eq!(selects(rows().at(a.at..), &entry), same && b.at >= a.at);
        }
        if let (Some(entry), Some(note)) = (EventByNote::entry(&b).unwrap(), &a.note) {
            let same = a.tenant == b.tenant && a.user == b.user;
            let found = b.note.as_deref().unwrap_or_default();
            prop_assert_eq!(selects(Event::by_note(&a.tenant, &a.user, note), &entry), same && found == note);
            let rows = || Event::by_note_rows(&a.tenant, &a.user);
            prop_assert_eq!(selects(rows().note(note..), &entry), same && found >= note.as_str());
            prop_assert_eq!(selects(rows().note_prefix(note), &entry), same && found.starts_with(note.as_str()));
        }
    }
}
