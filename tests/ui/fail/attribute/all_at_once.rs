use table_core::Entity;

#[derive(Entity)]
#[entity(tabel = "Company")]
#[partition_key(departmnt)]
#[row_key("empid/", digts(6, id))]
struct Employee {
    department: String,
    #[digits(6)]
    #[escaped]
    id: u32,
    #[property("Timestamp")]
    age: i32,
}

fn main() {
    let _ = Employee::AGE; // the columns are there, so that this is not a mistake
}
