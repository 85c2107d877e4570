//! A public entity may have a key and a property of private types, and types of the program may have the names of known types.
#![deny(warnings)]

mod inner {
    use table_core::KeyPart;
    use table_core::key::codec::{KeyNewtype, Newtype, Padded};
    use table_core::property::Property;
    use table_core::row::RowWriter;
    use table_core::{EdmType, Entity, Result, ValueRef};

    struct Id(u32);

    impl KeyNewtype for Id {
        type Inner = u32;

        fn inner(&self) -> &u32 {
            &self.0
        }

        fn from_inner(inner: u32) -> Self {
            Self(inner)
        }
    }

    impl KeyPart for Id {
        type Codec = Newtype<Padded>;
    }

    struct Level(i32);

    impl Property for Level {
        const EDM: EdmType = EdmType::Int32;

        fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
            self.0.write_to(name, row)
        }

        fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
            i32::from_value(value).map(Self)
        }
    }

    #[derive(Entity)]
    #[partition_key(id)]
    #[row_key("")]
    pub struct Employee {
        id: Id,
        level: Level,
    }

    pub fn check() {
        let employee = Employee { id: Id(7), level: Level(1) };
        assert_eq!(employee.key_of().unwrap().partition_key.as_str(), "0000000007");
        assert_eq!(Employee::LEVEL.name(), "Level");
        let _ = Employee::partition(Id(7));
    }
}

/// Types with the names of types that cannot be a part of a key.
mod calendar {
    use table_core::KeyPart;

    #[derive(KeyPart, Clone, Debug, PartialEq)]
    pub struct NaiveDateTime(pub u32);

    #[derive(KeyPart, Clone, Debug, PartialEq)]
    pub struct Arc(pub String);

    #[derive(KeyPart, Clone, Debug, PartialEq)]
    pub struct DateTime(pub String);

    #[derive(KeyPart, Clone, Debug, PartialEq)]
    pub struct NaiveDate(pub String);
}

mod named {
    use std::marker::PhantomData;

    use serde::{Deserialize, Serialize};
    use table_core::Entity;

    use super::calendar::{self, Arc};

    #[derive(Entity)]
    #[partition_key(arc)]
    #[row_key(at)]
    pub struct Reading {
        arc: Arc,
        at: calendar::NaiveDateTime,
    }

    #[derive(Entity)]
    #[partition_key(slot)]
    #[row_key(day)]
    pub struct Visit {
        slot: calendar::DateTime,
        day: calendar::NaiveDate,
    }

    /// The identifier of a `T`, which needs no bound on `T`.
    #[derive(Serialize, Deserialize)]
    #[serde(bound = "")]
    pub struct Tag<T> {
        id: u32,
        #[serde(skip)]
        of: PhantomData<T>,
    }

    #[derive(Entity)]
    #[partition_key(owner)]
    #[row_key("note_", number)]
    pub struct Note<T> {
        owner: String,
        number: u32,
        #[property(json)]
        links: Vec<Tag<T>>,
    }

    pub fn check() {
        let visit =
            Visit { slot: calendar::DateTime("A".to_owned()), day: calendar::NaiveDate("B".to_owned()) };
        assert_eq!(visit.key_of().unwrap().row_key.as_str(), "B");
        let links = vec![Tag { id: 7, of: PhantomData }];
        let note = Note::<String> { owner: "ada".to_owned(), number: 1, links };
        assert_eq!(note.links[0].id, 7);
        assert_eq!(note.key_of().unwrap().partition_key.as_str(), "ada");
        let reading = Reading { arc: Arc("A1".to_owned()), at: calendar::NaiveDateTime(7) };
        let key = reading.key_of().unwrap();
        assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("A1", "0000000007"));
    }
}

/// Uses the declarations.
pub fn main() {
    inner::check();
    named::check();
}
