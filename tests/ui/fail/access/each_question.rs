use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
struct Employee {
    department: String,
    id: u32,
}

access_patterns! {
    Office for Employee {
        by_id(department: &str, id: u32) <= point = Employee::key(department, id);
        all(department: &str) <= cheap = Employee::partition(department); //~ T091
        none(department: &str) = Employee::partition(department); //~ T091
    }
}

mod grammar {
    use super::Employee;

    table_core::access_patterns! {
        pub Office for Employee {
            by_id(department: &str, id: u32) <= point = Employee::key(department, id);
            fn all(department: &str) <= partition = Employee::partition(department); //~ T095
            every <= scan = Employee::scan("a report"); //~ T095
            some(department) <= range = Employee::rows(department).id(..100); //~ T095
            other(department: &str) <= partition Employee::partition(department); //~ T095
            last(department: &str) <= partition = Employee::partition(department) //~ T095
        }
    }
}

fn main() {}
