//! Uses of invalid declarations. Only the mistake in the declaration is reported.

use table_core::{Engine, EntitySet, TableStoreExt};

mod unknown_codec {
    #[derive(table_core::Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digts(6, id))] //~ T001
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub age: i32,
    }
}

mod unknown_field {
    #[derive(table_core::Entity)]
    #[partition_key(departmnt)] //~ T005
    #[row_key("empid_", id)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub age: i32,
    }
}

mod expression {
    #[derive(table_core::Entity)]
    #[partition_key(department)]
    #[row_key(format!("empid_{}", self.id))] //~ T004
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub age: i32,
    }
}

mod key_as_value {
    #[derive(table_core::Entity)]
    #[partition_key = "department"] //~ T004
    #[row_key("empid_", id)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub age: i32,
    }
}

mod missing_key {
    #[derive(table_core::Entity)]
    #[partition_key(department)]
    pub struct Employee { //~ T020
        pub department: String,
        pub id: u32,
        pub age: i32,
    }
}

mod property {
    #[derive(table_core::Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        #[property(rename = "Age")] //~ T001
        pub age: i32,
    }
}

mod levels {
    #[derive(table_core::Entity)]
    #[entity(table("Events"))] //~ T004
    #[partition_key(tenant, user)]
    #[row_key(session)]
    pub struct Event {
        pub tenant: String,
        pub user: String,
        pub session: u32,
    }
}

mod spread {
    #[derive(table_core::Entity)]
    #[entity(name = "Logins")] //~ T001
    #[partition_key(bucket(user, 16))]
    #[row_key(user, "!", at)]
    pub struct Login {
        pub user: u64,
        pub at: chrono::DateTime<chrono::Utc>,
    }
}

mod index {
    #[derive(table_core::Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, uniqe, row_key("email_", email))] //~ T001
    #[index(ByAge, row_key("age_", age, "_", id))]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub email: String,
        pub age: i32,
    }

    #[derive(table_core::Projection)]
    #[projection(Employee)] //~ T001
    pub struct Contact {
        pub email: String,
    }
}

macro_rules! uses {
    ($module:ident) => {{
        let employees = Engine::in_memory().table::<$module::Employee>();
        let employee = $module::Employee { department: "Sales".to_owned(), id: 223, age: 35 };
        let _ = employees.insert(&employee);
        let _ = employees.get($module::Employee::key("Sales", 223));
        let _ = employees.query($module::Employee::partition("Sales")).filter($module::Employee::AGE.ge(18));
        let _ = employees.scan("a report").max_rows(10);
        let _ = employees.transaction($module::Employee::partition("Sales"));
    }};
}

#[derive(EntitySet)]
enum Staff { //~ T100
    Employee(index::Employee),
}

fn main() {
    uses!(unknown_codec);
    uses!(unknown_field);
    uses!(expression);
    uses!(key_as_value);
    uses!(missing_key);
    uses!(property);

    let _ = unknown_codec::Employee::rows("Sales").id(100..);
    let _ = unknown_field::Employee::rows("Sales").id_is(223);
    let _ = expression::Employee::rows("Sales").id(..=100);
    let _ = property::Employee::rows("Sales").id(100..200);

    let events = Engine::in_memory().table::<levels::Event>();
    let _ = events.query(levels::Event::within("contoso").user_prefix("a"));
    let _ = events.query(levels::Event::within("contoso").user_is("ada"));
    let _ = events.get(levels::Event::rows("contoso", "ada").session_is(7));
    let _ = events.query(levels::Event::rows("contoso", "ada").session(7..));

    let logins = Engine::in_memory().table::<spread::Login>();
    let _ = logins.query(spread::Login::all_partitions());
    let _ = logins.query(spread::Login::partition_of(7_u64));

    let employees = Engine::in_memory().table::<index::Employee>();
    let _ = employees.get(index::Employee::by_email("Sales", "ada@contoso.com"));
    let _ = employees.get_as::<index::Contact>(index::Employee::by_email("Sales", "ada@contoso.com"));
    let _ = employees.query(index::Employee::by_age("Sales", 35)).project::<index::Contact>();
    let _ = employees.query(index::Employee::by_age_rows("Sales").age_is(35).id(7..));
    let _ = employees.query(index::Employee::partition("Sales")).read_as::<Staff>();
    let _: Option<index::EmployeeByEmail> = None;
}
