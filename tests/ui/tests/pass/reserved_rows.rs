//! The key of an index row is refused if a value would make it a row that is reserved for patterns.

use table_core::index::Index;
use table_core::{Entity, ErrorCode};

#[derive(Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(Directory, unique, partition_key("email_", department), row_key(email))]
#[index_entity(Namesakes, at_most = 100, table = "LastNames", row_key(last_name))]
struct Employee {
    department: String,
    id: u32,
    email: String,
    last_name: String,
}

fn employee(text: &str) -> Employee {
    Employee { department: "Sales".to_owned(), id: 7, email: text.to_owned(), last_name: text.to_owned() }
}

pub fn main() {
    for text in ["ada", "\u{FFFB}guard_ada", "ada\u{FFFC}"] {
        let entity = employee(text);
        assert_eq!(EmployeeDirectory::entry(&entity).unwrap().unwrap().key.row_key.as_str(), text);
        assert_eq!(EmployeeNamesakes::entry(&entity).unwrap().unwrap().key.row_key.as_str(), text);
    }
    for text in ["\u{FFFC}", "\u{FFFC}guard_ada", "\u{FFFC}outbox_1"] {
        let entity = employee(text);
        let refused = [EmployeeDirectory::entry(&entity).err(), EmployeeNamesakes::entry(&entity).err()];
        for error in refused {
            assert_eq!(error.map(|error| error.code()), Some(ErrorCode::OutOfRangeInput), "{text:?}");
        }
    }
}
