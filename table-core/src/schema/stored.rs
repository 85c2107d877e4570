//! Stored design: an owned schema that is kept in a store or a lock file.

use crate::key::codec::Form;
use crate::schema::{EntitySchema, IndexKind, IndexSchema, KeyPiece, PropertySchema};
use crate::value::EdmType;

/// An [`EntitySchema`] as owned data, readable back from its text.
///
/// - Properties and indexes are in the order of their names: the order of declaration means nothing to a store.
/// - Names of Rust are labels only: they help to see that two parts of a key changed places, and are not part of the
///   [fingerprint](Self::fingerprint).
/// - Its text has one line a fact, so that a difference in review is a line. `to_string` writes it, `parse` reads it; serde
///   carries the same text.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::StoredSchema;
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     id: u32,
///     age: i32,
/// }
///
/// let stored = StoredSchema::of(Employee::SCHEMA);
/// assert!(stored.to_string().contains("RowKey id digits(6) 6 ordered [0-9]\nproperty Age Edm.Int32\n"));
/// assert_eq!(stored.to_string().parse::<StoredSchema>()?, stored);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct StoredSchema {
    /// The name of the Rust type.
    pub entity: String,
    /// The table it lives in.
    pub table: String,
    /// The value of the property `EntityType` that marks its entities, if any does (PAT-HET-1).
    pub kind: Option<String>,
    /// The pieces of its `PartitionKey`; no two literals are adjacent.
    pub partition_key: Vec<StoredPiece>,
    /// The pieces of its `RowKey`.
    pub row_key: Vec<StoredPiece>,
    /// By name.
    pub properties: Vec<StoredProperty>,
    /// By name.
    pub indexes: Vec<StoredIndex>,
    /// What is kept with each change beside indexes: `copies`, `feed`.
    pub keeps: Vec<String>,
}

/// One piece of a key.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::{StoredPiece, StoredSchema};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee { department: String, #[digits(6)] id: u32 }
///
/// let pieces = StoredSchema::of(Employee::SCHEMA).row_key;
/// assert_eq!(pieces.first(), Some(&StoredPiece::Literal("empid_".to_owned())));
/// assert!(matches!(pieces.get(1), Some(StoredPiece::Part { codec, .. }) if codec.starts_with("digits")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredPiece {
    /// A text that is always there.
    Literal(String),
    /// A value, written by a codec.
    Part {
        /// The source of the value.
        source: Source,
        /// The codec's [`NAME`](crate::key::KeyCodec::NAME).
        codec: String,
        /// The form of its text.
        form: Form,
    },
}

/// The source of the value of a part of a key.
///
/// ```
/// use table_core::schema::Source;
///
/// /// The name that a report of changes shows.
/// fn name(source: &Source) -> &str {
///     match source {
///         Source::Property(name) | Source::Key(name) => name,
///     }
/// }
/// assert_eq!(name(&Source::Key("id".to_owned())), "id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A property of this name.
    Property(String),
    /// A field that lives in the entity's key alone, under its name in Rust.
    Key(String),
}

/// One property.
///
/// ```
/// use table_core::EdmType;
/// use table_core::schema::StoredProperty;
///
/// let age = StoredProperty { name: "Age".to_owned(), edm: EdmType::Int32, optional: false };
/// assert_ne!(age, StoredProperty { optional: true, ..age.clone() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProperty {
    /// The name in the store.
    pub name: String,
    /// The type in the store.
    pub edm: EdmType,
    /// Whether it can be absent.
    pub optional: bool,
}

/// One look-up beside the key.
///
/// ```
/// use table_core::schema::{StoredIndex, StoredSchema};
///
/// /// The indexes that are in other partitions or tables, and follow by an outbox.
/// fn elsewhere(schema: &StoredSchema) -> Vec<&str> {
///     let is_elsewhere = |index: &&StoredIndex| index.table.is_some() || index.partition_key.is_some();
///     schema.indexes.iter().filter(is_elsewhere).map(|index| index.name.as_str()).collect()
/// }
/// # let _ = elsewhere;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIndex {
    /// The name.
    pub name: String,
    /// Copies, or a list of keys.
    pub kind: IndexKind,
    /// Whether a second entity with the same value is refused.
    pub unique: bool,
    /// Whether entities can be left out.
    pub sparse: bool,
    /// The function that says which entities are indexed, as it is written.
    pub when: Option<String>,
    /// The table that the copies live in; `None` is the entity's own.
    pub table: Option<String>,
    /// The pieces of the copies' `PartitionKey`; `None` is the entity's own partition.
    pub partition_key: Option<Vec<StoredPiece>>,
    /// The pieces of the copies' `RowKey`.
    pub row_key: Vec<StoredPiece>,
    /// The properties kept in each copy, by name; `None` keeps all.
    pub keep: Option<Vec<String>>,
    /// The properties that a copy stores, by name: parts of the entity's own key that the copy's key does not say, and what
    /// is kept.
    pub properties: Vec<StoredProperty>,
}

impl StoredSchema {
    /// The design of a program.
    ///
    /// ```
    /// # use table_core::{Entity, schema::{StoredSchema, Verdict, evolve}};
    /// # #[derive(Entity)]
    /// # #[entity(feed)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// let design = StoredSchema::of(Employee::SCHEMA);
    /// assert_eq!(design.keeps, ["feed"]);
    /// // A program without the feed is not let in beside it.
    /// let mut without = design.clone();
    /// without.keeps.clear();
    /// assert_eq!(evolve(&design, &without).verdict(), Verdict::NeedsAcceptance);
    /// ```
    #[must_use]
    pub fn of(schema: &EntitySchema) -> Self {
        let indexes = schema.indexes.iter().map(|index| StoredIndex::of(index, schema.properties));
        Self {
            entity: schema.entity.to_owned(),
            table: schema.table.to_owned(),
            kind: schema.kind.map(str::to_owned),
            partition_key: pieces(schema.partition_key, schema.properties),
            row_key: pieces(schema.row_key, schema.properties),
            properties: schema.properties.iter().map(StoredProperty::of).collect(),
            indexes: indexes.collect(),
            keeps: schema.keeps.iter().map(|&word| word.to_owned()).collect(),
        }
        .normal()
    }

    /// The same design in a table of another name, as a program may open it.
    ///
    /// ```
    /// # use table_core::{Entity, schema::{StoredSchema, evolve}};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// let design = StoredSchema::of(Employee::SCHEMA);
    /// assert_eq!(design.clone().in_table("Archive").table, "Archive");
    /// assert!(!evolve(&design, &design.clone().in_table("Archive")).is_same());
    /// ```
    #[must_use]
    pub fn in_table(mut self, table: &str) -> Self {
        table.clone_into(&mut self.table);
        self
    }

    /// The one way to say it: literals joined, the rest in the order of names.
    pub(super) fn normal(mut self) -> Self {
        join_literals(&mut self.partition_key);
        join_literals(&mut self.row_key);
        for index in &mut self.indexes {
            index.partition_key.iter_mut().for_each(join_literals);
            join_literals(&mut index.row_key);
            index.keep.iter_mut().for_each(|keep| keep.sort());
            index.properties.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.properties.sort_by(|a, b| a.name.cmp(&b.name));
        self.indexes.sort_by(|a, b| a.name.cmp(&b.name));
        self.keeps.sort();
        self
    }
}

impl StoredProperty {
    fn of(property: &PropertySchema) -> Self {
        Self { name: property.name.to_owned(), edm: property.edm, optional: property.optional }
    }
}

impl StoredIndex {
    fn of(index: &IndexSchema, properties: &[PropertySchema]) -> Self {
        Self {
            name: index.name.to_owned(),
            kind: index.kind,
            unique: index.unique,
            sparse: index.sparse,
            when: index.when.map(str::to_owned),
            table: index.table.map(str::to_owned),
            partition_key: index.partition_key.map(|key| pieces(key, properties)),
            row_key: pieces(index.row_key, properties),
            keep: index.keep.map(|keep| keep.iter().map(|name| (*name).to_owned()).collect()),
            properties: index.properties.iter().map(StoredProperty::of).collect(),
        }
    }
}

fn pieces(key: &[KeyPiece], properties: &[PropertySchema]) -> Vec<StoredPiece> {
    let piece = |piece: &KeyPiece| match *piece {
        KeyPiece::Literal(text) => StoredPiece::Literal(text.to_owned()),
        KeyPiece::Field { field, codec, form } => {
            let property = properties.iter().find(|property| property.field == field);
            let source = property.map_or_else(
                || Source::Key(field.to_owned()),
                |found| Source::Property(found.name.to_owned()),
            );
            StoredPiece::Part { source, codec: codec.to_owned(), form }
        }
    };
    key.iter().map(piece).collect()
}

fn join_literals(key: &mut Vec<StoredPiece>) {
    let mut joined: Vec<StoredPiece> = Vec::with_capacity(key.len());
    for piece in key.drain(..) {
        match (joined.last_mut(), piece) {
            (Some(StoredPiece::Literal(before)), StoredPiece::Literal(text)) => before.push_str(&text),
            (_, StoredPiece::Literal(text)) if text.is_empty() => {}
            (_, piece) => joined.push(piece),
        }
    }
    *key = joined;
}
