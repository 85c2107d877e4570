//! Pictures of keys, drawn from the declarations that the chapters show.
//!
//! Each file in this folder contains the declaration for one picture, its rows, and the rows that a query reads. The test fails if the chapter shows
//! another declaration, or if the committed picture differs.

mod alarms;
mod draw;
mod orders;
mod parts;
mod payments;
mod reviews;
mod series;

use table_patterns::EntityKey;
use table_patterns::query::KeyRange;
use table_patterns::schema::EntitySchema;

use crate::pages::{docs, hold, read};

/// A picture of rows in the order of the store.
struct Picture<'a> {
    /// The name of the file, without `.svg`.
    name: &'a str,
    /// The chapter that shows it.
    chapter: &'a str,
    /// The text of the file that declares the entity.
    source: &'a str,
    schema: &'static EntitySchema,
    keys: Vec<EntityKey>,
    read: &'a [KeyRange],
}

impl Picture<'_> {
    /// Compares the picture and the declaration with the committed ones.
    fn check(self) {
        let start = self.source.find("#[derive(Entity").expect("the file declares an entity");
        let rest = &self.source[start..];
        let declaration = &rest[..rest.find("\n}\n").expect("the struct ends") + 3];
        assert!(
            read(self.chapter).contains(declaration),
            "{} does not show the declaration of its picture {}:\n{declaration}",
            self.chapter,
            self.name
        );
        let mut keys = self.keys;
        keys.sort();
        let path = docs().join("book/images").join(self.name).with_extension("svg");
        hold(&path, &draw::svg(self.schema, &keys, self.read));
    }
}
