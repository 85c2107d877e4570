use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
}

access_patterns! { //~ T095
    Office {
        all(department: &str) <= partition = Employee::partition(department);
    }
}

mod without_semicolon {
    use super::Employee;

    table_core::access_patterns! { //~ T095
        Office for Employee {
            all(department: &str) <= partition = Employee::partition(department)
        }
    }
}

mod with_arrow {
    use super::Employee;

    table_core::access_patterns! { //~ T095
        Office for Employee {
            all(department: &str) -> partition = Employee::partition(department);
        }
    }
}

mod without_arguments {
    use super::Employee;

    table_core::access_patterns! { //~ T095
        Office for Employee {
            all <= scan = Employee::scan("a report");
        }
    }
}

mod with_fn {
    use super::Employee;

    table_core::access_patterns! { //~ T095
        Office for Employee {
            fn all(department: &str) <= partition = Employee::partition(department);
        }
    }
}

fn main() {}
