mod entity_not_kept {
    use table_core::{Engine, Entity, TableStoreExt};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(name))]
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        age: i32,
        email: String,
    }

    fn uses() {
        let employees = Engine::in_memory().table::<Employee>();
        let _ = employees.get(Employee::by_email("Sales", "ada@contoso.com")); //~ T071
    }
}

mod list_for_copies {
    use table_core::Entity;
    use table_core::index::CopyIndex;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByName, at_most = 100, row_key("name_", name))]
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
    }

    fn copies<I: CopyIndex>() {}

    fn uses() {
        copies::<EmployeeByName>(); //~ T072
    }
}

mod list_is_no_copy {
    use table_core::{Engine, Entity, TableStoreExt};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByName, at_most = 100, row_key("name_", name))]
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
    }

    fn uses() {
        let employees = Engine::in_memory().table::<Employee>();
        let _ = employees.get(Employee::by_name("Sales", "Jones")); //~ T071
    }
}

mod plain_write {
    use table_core::{Entity, PlainEntity};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    fn insert<E: PlainEntity>(_: &E) {}

    fn write(employee: &Employee) {
        insert(employee); //~ T069
    }
}

mod projection_not_kept {
    use table_core::{Engine, Entity, Projection, TableStoreExt};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(name))]
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        age: i32,
        email: String,
    }

    #[derive(Projection)]
    #[projection(of = Employee)]
    pub struct NameAndAge {
        name: String,
        age: i32,
    }

    fn uses() {
        let employees = Engine::in_memory().table::<Employee>();
        let rows = employees.query(Employee::by_email_rows("Sales"));
        let _ = rows.project::<NameAndAge>(); //~ T070
    }
}

fn main() {}
