use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

access_patterns! {
    /// What the office asks.
    Office for Employee {
        by_email(department: &str, email: &str) <= point = Employee::by_email(department, email);
    }
}

fn main() {}
