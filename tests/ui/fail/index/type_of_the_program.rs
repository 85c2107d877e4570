use table_core::Entity;

#[derive(Debug)]
pub struct EmployeeByEmail {
    email: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
pub struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn main() {
    println!("{:?}", EmployeeByEmail { email: String::new() });
}
