//! An entity compiles if it uses the library under a different path and is declared inside a function.
#![deny(warnings)]

mod tables {
    pub use table_core as runtime;
}

/// Uses the declarations.
pub fn main() {
    #[derive(tables::runtime::Entity)]
    #[entity(table = "Company", crate = crate::crate_path::tables::runtime)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
    }

    use tables::runtime::Entity;
    let employee = Employee { department: "Sales".to_owned(), id: 223 };
    assert_eq!(Employee::SCHEMA.table, "Company");
    assert_eq!(employee.key_of().unwrap(), Employee::key(&employee.department, &employee.id).key().unwrap());
}
