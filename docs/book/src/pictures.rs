//! Draws pictures of keys from the declarations that the chapters show, and tests them.
//!
//! Each file in this folder contains the declaration for one picture, its rows, and the rows that a query reads. The test fails if the chapter shows a
//! different declaration or if the committed picture differs from the drawn one.

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

/// A picture that shows rows in key order.
struct Picture<'a> {
    /// The name of the picture's file, without the extension `.svg`.
    name: &'a str,
    /// The path of the chapter that shows the picture.
    chapter: &'a str,
    /// The text of the source file that declares the entity.
    source: &'a str,
    schema: &'static EntitySchema,
    keys: Vec<EntityKey>,
    read: &'a [KeyRange],
}

impl Picture<'_> {
    /// Checks that the chapter shows the declaration and that the committed picture equals the drawn one.
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
