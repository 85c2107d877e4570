use table_core::Entity;

#[derive(Entity)]
#[entity(table = "my-company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

fn main() {
    let _ = Employee::key("Sales", 223);
    let _ = Employee::rows("Sales").id(100..);
    let _ = Employee::AGE;
}
