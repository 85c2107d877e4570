mod indexed {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(last_name))]
    struct Employee {
        department: String,
        id: u32,
        last_name: String,
        email: String,
        age: i32,
    }

    async fn change(employees: &Table<Employee, Engine>) {
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, 31).send().await;
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::EMAIL, "ada@contoso.com").send().await; //~ T131
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::LAST_NAME, "King").send().await;
    }
}

mod key_field {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    async fn renumber(employees: &Table<Employee, Engine>) {
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::ID, 224_u32).send().await; //~ T130
    }
}

mod of_derived_part {
    use chrono::{DateTime, Utc};
    use table_core::{Engine, Entity, TableStoreExt};

    #[derive(Entity)]
    #[partition_key(device)]
    #[row_key(truncate(hour(at)))]
    struct Sample {
        device: String,
        at: DateTime<Utc>,
        value: f64,
    }

    fn uses() {
        let samples = Engine::in_memory().table::<Sample>();
        let at = DateTime::<Utc>::MIN_UTC;
        let _ = samples.patch(Sample::key("pump", at)).set(Sample::VALUE, 1.0).set(Sample::AT, at); //~ T131
    }
}

mod each_dependence_of_the_key {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key("login_", bucket(user, 16))]
    #[row_key(hash(crc32, 8, email), "_", id)]
    struct Login {
        user: String,
        email: String,
        #[property(also)]
        id: u32,
        count: i32,
    }

    async fn change(logins: &Table<Login, Engine>) {
        let key = || Login::key("ada", "ada@contoso.com", 7_u32);
        let _ = logins.patch(key()).set(Login::COUNT, 2).send().await;
        let _ = logins.patch(key()).set(Login::USER, "eve").send().await; //~ T131
        let _ = logins.patch(key()).set(Login::ID, 8_u32).send().await; //~ T131
    }

    // rustc reports columns of equal types once for each function.
    async fn change_email(logins: &Table<Login, Engine>) {
        let key = Login::key("ada", "ada@contoso.com", 7_u32);
        let _ = logins.patch(key).set(Login::EMAIL, "eve@contoso.com").send().await; //~ T131
    }
}

mod read_by_when {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByName, row_key("name_", escaped(last_name), "!", id), include(email), when = Employee::is_active)]
    struct Employee {
        department: String,
        id: u32,
        last_name: String,
        email: String,
        active: bool,
    }

    impl Employee {
        fn is_active(&self) -> bool {
            self.active
        }
    }

    async fn change(employees: &Table<Employee, Engine>) {
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::ACTIVE, false).send().await; //~ T131
    }
}

mod read_by_when_of_a_list {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByName, at_most = 100, row_key("name_", last_name), when = is_active)]
    struct Employee {
        department: String,
        id: u32,
        last_name: String,
        active: bool,
    }

    fn is_active(employee: &Employee) -> bool {
        employee.active
    }

    async fn change(employees: &Table<Employee, Engine>) {
        let _ = employees.patch(Employee::key("Sales", 223)).set(Employee::ACTIVE, false).send().await; //~ T131
    }
}

mod other_entity {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    #[derive(Entity)]
    #[partition_key(name)]
    #[row_key("")]
    struct Department {
        name: String,
        budget: i64,
    }

    async fn change(employees: &Table<Employee, Engine>) {
        let _ = employees.patch(Employee::key("Sales", 223)).set(Department::BUDGET, 31).send().await; //~ T130
    }
}

fn main() {}
