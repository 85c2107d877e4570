//! The forms that the messages for methods of other libraries recommend. Each form compiles for the struct in the messages and is marked with the number
//! of its message.

use table_core::selection::{PointKey, Primary};
use table_core::{
    BlockOn, Condition, Engine, Entity, Error, ErrorCode, Filter, IfMatch, Projection, Table, TableStoreExt,
};

#[derive(Entity, Clone)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
    note: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Employee")] // T216
#[partition_key(department)]
#[row_key("office")]
struct Office {
    department: String,
    rooms: i32,
}

#[derive(Projection)]
#[projection(of = Employee)] // T195
struct Age {
    age: i32,
}

/// A trait in the user's program with names that an entity rejects.
trait Named {
    fn partition_key(&self) -> &str;
    fn key(self) -> u32;
}

impl Named for Employee {
    fn partition_key(&self) -> &str {
        &self.department
    }

    fn key(self) -> u32 {
        self.id
    }
}

/// A trait in the user's program with a name that an error rejects.
trait Status {
    fn status_code(&self) -> u16;
}

impl Status for Error {
    fn status_code(&self) -> u16 {
        self.code().status()
    }
}

/// Functions of a program that are generic over keys.
async fn written<K: PointKey<Employee, From = Primary>>(
    table: &Table<Employee, Engine>,
    keys: (K, K),
) -> table_core::Result<()> {
    table.patch(keys.0).set(Employee::AGE, 37).send().await?;
    table.delete(keys.1, IfMatch::Any).await
}

fn ada() -> impl PointKey<Employee, From = Primary> {
    Employee::key("Sales", 7)
}

async fn reads(table: &Table<Employee, Engine>) -> table_core::Result<()> {
    let _ = table.get(Employee::key("Sales", 7)).await?; // T191
    let _ = table.get_many([Employee::key("Sales", 7)]).await?; // T084, T219
    let _ = table.query(Employee::partition("Sales")).collect().await?; // T198, T201, T204
    let _ = table.query(Employee::rows("Sales").id(7..)).collect().await?; // T099, T204, T205
    let _ = table.query(Employee::partition("Sales")).filter(Employee::AGE.ge(18)).collect().await?; // T096, T205
    let _ = table
        .query(Employee::partition("Sales"))
        .filter(Employee::AGE.ge(18) & Employee::AGE.le(65))
        .collect()
        .await?; // T096
    let text = "Age gt 30";
    if let Some(filter) = Filter::parse(text)? {
        let parsed = table.query(Employee::partition("Sales")).filter(Condition::from_filter(filter));
        assert_eq!(parsed.count().await?, 1); // T096
    }
    let all = || table.query(Employee::partition("Sales"));
    assert_eq!(all().filter(Employee::AGE.ge(18).and(Employee::AGE.le(65))).count().await?, 1); // T197
    assert_eq!(all().filter(Employee::AGE.is_in([36, 37])).count().await?, 1); // T197, T230
    assert_eq!(all().filter(!Employee::AGE.is_in(vec![36, 37])).count().await?, 0); // T197
    assert_eq!(all().filter(Employee::AGE.ge(18) & Employee::AGE.lt(65)).count().await?, 1); // T235
    let adults = Condition::all([Employee::AGE.ge(18), Employee::AGE.lt(65)]);
    assert_eq!(all().filter(adults).count().await?, 1); // T096
    assert!(all().first().await?.is_some()); // T234
    assert_eq!(all().filter(Employee::NOTE.is_absent()).count().await?, 1); // T197
    assert_eq!(all().filter(!Employee::NOTE.is_absent()).count().await?, 0); // T197
    assert_eq!(all().filter(Employee::NOTE.eq("new")).count().await?, 0); // T087
    let _ = table.query(Employee::partition("Sales")).limit(5).collect().await?; // T193
    let mut ages: i64 = 0;
    table.query(Employee::partition("Sales")).for_each(|employee| ages += i64::from(employee.age)).await?; // T194
    for employee in table.query(Employee::partition("Sales")).collect().await? {
        ages += i64::from(employee.age); // T198
    }
    for projected in table.query(Employee::partition("Sales")).project::<Age>().collect().await? {
        ages += i64::from(projected.age); // T195
    }
    assert_eq!(ages, 3 * 37);
    let _ = table.scan("the reason").max_rows(1).collect().await?; // T201
    let adults = table.query(Employee::partition("Sales")).filter(Employee::AGE.ge(18));
    let _ = adults.clone().count().await?; // T201
    let _ = adults.collect().await?; // T201
    Ok(())
}

async fn writes(table: &Table<Employee, Engine>, ada: &Employee) -> table_core::Result<()> {
    table.insert_or_replace(ada).await?; // T190
    let staff = table.store().table::<Employee>(); // T214, T215
    staff.update(Employee::key("Sales", 7), |employee| employee.age += 0).await?; // T214
    table.replace(ada, IfMatch::Any).await?; // T207
    table.update(Employee::key("Sales", 7), |employee| employee.age += 1).await?; // T206, T208, T209, T243, T244
    table.update(Employee::key("Sales", 7), |employee| *employee = employee.clone()).await?; // T244
    let absent = table.update(Employee::key("Sales", 70), |_| unreachable!()).await;
    assert!(absent.is_err_and(|error| error.code() == ErrorCode::ResourceNotFound)); // T247
    let moved =
        table.update(Employee::key("Sales", 7), |employee| employee.id = 8).await.map(drop).unwrap_err();
    assert_eq!(moved.rule(), Some("UPD-6"));
    assert!(
        moved.message().contains("move the entity to PartitionKey 'Sales', RowKey '0000000008'"),
        "{moved}"
    );
    let duplicate = table.insert(ada).await.unwrap_err();
    assert!(duplicate.is_already_exists() && duplicate.status_code() == 409); // T247
    let key = ada.key_of()?; // T245
    assert_eq!(key, Employee::key("Sales", 7).key()?); // T246
    assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("Sales", "0000000007")); // T245, T246
    if let Some(found) = table.get(Employee::key("Sales", 7)).await? {
        table.replace(&found, found.etag()).await?; // T245
    }
    table.patch(Employee::key("Sales", 7)).set(Employee::NOTE, None).send().await?; // T206
    table.patch(Employee::key("Sales", 7)).set(Employee::AGE, 37).send().await?; // T210
    let mut sales = table.transaction(Employee::partition("Sales"))?; // T202, T213
    sales.insert(&Employee { id: 8, ..ada.clone() })?;
    sales.commit().await?; // T211
    if let Some(found) = table.get(Employee::key("Sales", 8)).await? {
        let mut sales = table.transaction(&*found)?;
        sales.replace(&Employee { age: 40, ..Employee::clone(&found) }, found.etag())?; // T231, T232
        sales.commit().await?;
    }
    let mut berlin = table.transaction(Employee::partition("Berlin"))?;
    berlin.insert(&Office { department: "Berlin".into(), rooms: 3 })?; // T216
    berlin.commit().await?;
    table.store().table::<Office>().delete(Office::key("Berlin"), IfMatch::Any).await?; // T216
    table.delete(Employee::key("Sales", 8), IfMatch::Any).await?; // T203
    let key = Employee::key("Sales", 9);
    table.bulk().insert_all([&Employee { id: 9, ..ada.clone() }]).await?; // T217
    table.patch(key.clone()).set(Employee::AGE, 38).send().await?; // T130
    table.bulk().delete_all([key]).await?; // T218
    Ok(())
}

pub fn main() {
    let run = async {
        let table = Engine::in_memory().table::<Employee>().create_if_missing().await?; // T105, T212
        let ada = Employee { department: "Sales".into(), id: 7, age: 36, note: None };
        assert_eq!((ada.partition_key(), ada.clone().key()), ("Sales", 7));
        writes(&table, &ada).await?;
        reads(&table).await?;
        table.insert_or_merge(&ada).await?;
        written(&table, (self::ada(), self::ada())).await
    };
    assert!(run.block_on().is_ok());
}
