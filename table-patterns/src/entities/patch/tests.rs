use pollster::block_on;
use table_core::{Engine, Entity, Projection};

use crate::EntityStore;

/// An entity with an index whose `when` function reads `active` and `note`. The index rows contain neither property.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(crate = table_core)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByName, row_key("name_", escaped(last_name), "!", id), include(email), when = Employee::is_listed)]
#[index_entity(Listed, at_most = 9, row_key("listed_", last_name), when = Employee::is_listed)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    email: String,
    active: bool,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Projection)]
#[projection(of = Employee, crate = table_core)]
struct Email {
    email: String,
}

impl Employee {
    fn is_listed(&self) -> bool {
        self.active && self.note.is_none()
    }
}

#[test]
fn a_patch_of_a_property_that_only_the_function_of_an_index_reads_adds_and_removes_the_index_rows() {
    block_on(async {
        let table = Engine::in_memory().entities::<Employee>().create_if_missing().await.unwrap();
        let mut ada = Employee {
            department: "Sales".to_owned(),
            id: 223,
            last_name: "King".to_owned(),
            email: "ada@contoso.com".to_owned(),
            active: true,
            note: None,
        };
        table.insert(&ada).await.unwrap();
        let key = || Employee::key("Sales", 223_u32);
        let notes = [None, Some("on leave"), None];
        for (active, note) in [true, false, true].into_iter().flat_map(|it| notes.map(|note| (it, note))) {
            table.patch(key()).set(Employee::ACTIVE, active).send().await.unwrap();
            table.patch(key()).set(Employee::NOTE, note.map(str::to_owned)).send().await.unwrap();
            (ada.active, ada.note) = (active, note.map(str::to_owned));
            let copies = table.query(Employee::by_name("Sales", "King")).project::<Email>();
            let copies = copies.collect().await.unwrap();
            let listed = table.get_by_index(Employee::listed("Sales", "King")).await.unwrap();
            let expected = usize::from(ada.is_listed());
            assert_eq!((copies.len(), listed.len()), (expected, expected), "{active} {note:?}");
            assert_eq!(table.get(key()).await.unwrap().as_deref(), Some(&ada));
        }
    });
}
