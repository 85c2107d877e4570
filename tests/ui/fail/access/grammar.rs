use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
}

access_patterns! {
    Office { //~ T095
        all(department: &str) <= partition = Employee::partition(department);
    }
}

mod without_semicolon {
    use super::Employee;

    table_core::access_patterns! {
        Office for Employee {
            all(department: &str) <= partition = Employee::partition(department) //~ T095
        }
    }
}

mod with_arrow {
    use super::Employee;

    table_core::access_patterns! {
        Office for Employee {
            all(department: &str) -> partition = Employee::partition(department); //~ T095
        }
    }
}

mod without_arguments {
    use super::Employee;

    table_core::access_patterns! {
        Office for Employee {
            all <= scan = Employee::scan("a report"); //~ T095
        }
    }
}

mod with_fn {
    use super::Employee;

    table_core::access_patterns! {
        Office for Employee {
            fn all(department: &str) <= partition = Employee::partition(department); //~ T095
        }
    }
}

fn main() {}
