//! Tests tables with two types whose keys have the same form, one of them without a kind. Each command must select only rows of the requested type.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{block_on, refused, shown, tables};
use table_core::{Engine, Entity, EntitySet, TableEntity, TableStoreExt};
use table_patterns::EntityStore as _;
use tables_cli::Exit;

/// An employee without a kind, as declared by the first release of a program.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Company", set = Staff)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
}

/// A manager. Its keys have the same form as an employee's.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Company", kind = "Manager", set = Staff)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Manager {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
}

#[derive(Clone, Debug, EntitySet)]
enum Staff {
    Employee(Employee),
    Manager(Manager),
    #[other]
    Unknown(TableEntity),
}

#[test]
fn a_type_without_a_kind_does_not_take_the_rows_of_a_type_with_equal_keys() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let staff = engine.set::<Staff>().create_if_missing().await.unwrap();
        let department = || "Sales".to_owned();
        let employee = Employee { department: department(), id: 1, name: "Ada".to_owned() };
        let manager = Manager { department: department(), id: 2, name: "Ben".to_owned() };
        let robot = TableEntity::new("Sales", "empid_003").unwrap().with("EntityType", "Robot");
        for row in [Staff::Employee(employee), Staff::Manager(manager), Staff::Unknown(robot)] {
            staff.insert(&row).await.unwrap();
        }
        engine.close().await.unwrap();
    });
    for (entity, row) in [("Employee", "empid_001"), ("Manager", "empid_002")] {
        let count = format!("count Company --entity {entity} --store DB -o csv");
        assert_eq!(shown(at, &count), "rows\n1\n", "{entity}");
        let text = shown(at, &format!("query Company --entity {entity} --store DB -o csv"));
        assert!(text.lines().count() == 2 && text.contains(row), "{entity}: {text}");
    }
    let text = shown(at, "query Company --partition Sales --store DB");
    assert!(text.contains("empid_003") && !text.contains("empid_002"), "{text}");
    let text = shown(at, "copy Company --entity Employee --store DB --to DIR/employees");
    assert!(text.starts_with("copied Company to Company: 1 row"), "{text}");
    let text = shown(at, "audit Company --store DB");
    assert!(
        text.contains("no declared type explains")
            && text.contains("empid_003")
            && !text.contains("empid_002"),
        "{text}"
    );
    assert_eq!(shown(at, "delete Company --entity Employee --yes --store DB"), "deleted 1 row\n");
    let text = shown(at, "query Company --store DB -o csv");
    assert!(text.contains("empid_002") && text.contains("empid_003"), "{text}");
    assert_eq!(shown(at, "delete Company --entity Manager --yes --store DB"), "deleted 1 row\n");
    assert_eq!(shown(at, "count Company --store DB -o csv"), "rows\n1\n");
}

mod indexed {
    //! Tests the check and the repair of an index in a table with two types whose keys have the same form.

    use super::*;

    #[derive(Clone, Debug, Entity)]
    #[entity(table = "Desk", set = Desk)]
    #[partition_key(department)]
    #[row_key("id_", id)]
    #[index(ByName, row_key("name_", name, "_", id))]
    struct Clerk {
        department: String,
        #[digits(3)]
        id: u32,
        #[without('_')]
        name: String,
    }

    #[derive(Clone, Debug, Entity)]
    #[entity(table = "Desk", kind = "Chief", set = Desk)]
    #[partition_key(department)]
    #[row_key("id_", id)]
    struct Chief {
        department: String,
        #[digits(3)]
        id: u32,
        name: String,
    }

    #[derive(Clone, Debug, EntitySet)]
    enum Desk {
        Clerk(Clerk),
        Chief(Chief),
        #[other]
        Unknown(TableEntity),
    }

    /// An entity written by another program. Its row keys also match the index of [`Clerk`].
    #[derive(Clone, Debug, Entity)]
    #[entity(table = "Desk", kind = "Label")]
    #[partition_key(department)]
    #[row_key("name_", name)]
    struct Label {
        department: String,
        name: String,
    }

    #[test]
    fn an_index_is_compared_with_the_entities_of_its_type_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        block_on(async {
            let engine = Engine::open(at.join("db")).unwrap();
            let department = || "Sales".to_owned();
            let clerks = engine.entities::<Clerk>().create_if_missing().await.unwrap();
            clerks.insert(&Clerk { department: department(), id: 1, name: "Ada".into() }).await.unwrap();
            let chiefs = engine.table::<Chief>().create_if_missing().await.unwrap();
            chiefs.insert(&Chief { department: department(), id: 2, name: "Ben".into() }).await.unwrap();
            let labels = engine.table::<Label>().create_if_missing().await.unwrap();
            labels.insert(&Label { department: department(), name: "Cy_004".into() }).await.unwrap();
            engine.close().await.unwrap();
        });
        let text = shown(at, "check Desk --store DB -o csv");
        assert!(text.contains(",index ByName,ok,\"1 entities, 1 index row\""), "{text}");
        assert!(matches!(tables(at, "repair Desk --store DB").0, Ok(Exit::Nothing)));

        // An index row is replaced with a row of another type under the same key. The new row is kept.
        shown(at, "delete Desk --row name_Ada_001 --bypass-derived --store DB");
        let label = "put Desk Sales name_Ada_001 EntityType=Label --bypass-derived --store DB";
        shown(at, label);
        assert!(refused(at, "repair Desk --store DB").1.contains("not repaired"));
        shown(at, "delete Desk --row name_Ada_001 --bypass-derived --store DB");
        assert!(matches!(tables(at, "repair Desk --store DB").0, Ok(Exit::Done)));

        // An index row whose entity became a row of another type is an orphan. If that type is unknown, the row is kept.
        shown(at, "put Desk Sales id_001 EntityType=Robot Name=Ada --bypass-derived --store DB");
        assert!(refused(at, "repair Desk --store DB").1.contains("not repaired"));
        shown(at, "put Desk Sales id_001 EntityType=Chief Name=Ada --bypass-derived --store DB");
        assert!(matches!(tables(at, "repair Desk --store DB").0, Ok(Exit::Done)));
        let text = shown(at, "query Desk --store DB -o csv");
        assert!(!text.contains("name_Ada_001") && text.contains("name_Cy_004"), "{text}");
    }

    #[derive(Clone, Debug, Entity)]
    #[entity(table = "Desk")]
    #[partition_key(department)]
    #[row_key("guest_", id)]
    #[index(OfGuests, row_key("name_", name, "_", id))]
    struct Guest {
        department: String,
        #[digits(3)]
        id: u32,
        #[without('_')]
        name: String,
    }

    #[test]
    fn indexes_with_keys_of_the_same_form_are_not_checked() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        block_on(async {
            let engine = Engine::open(at.join("db")).unwrap();
            let clerks = engine.entities::<Clerk>().create_if_missing().await.unwrap();
            clerks.insert(&Clerk { department: "Sales".into(), id: 1, name: "Ada".into() }).await.unwrap();
            let guests = engine.entities::<Guest>().create_if_missing().await.unwrap();
            guests.insert(&Guest { department: "Sales".into(), id: 2, name: "Ada".into() }).await.unwrap();
            engine.close().await.unwrap();
        });
        let text = shown(at, "check Desk --store DB -o csv");
        for reason in ["those of the index `OfGuests` of `Guest`", "those of the index `ByName` of `Clerk`"] {
            assert!(
                text.contains(&format!("not checked,only the program distinguishes its rows from {reason}")),
                "{text}"
            );
        }
        assert!(refused(at, "repair Desk --store DB").1.contains("2 items not repaired"));
        assert_eq!(shown(at, "count Desk --store DB -o csv"), "rows\n4\n");
    }
}
