//! Owned schemas, in the form that a table or a layout file stores.

use table_store::EdmType;

use crate::key::codec::Form;
use crate::schema::{EntitySchema, IndexKind, IndexSchema, KeyPiece, PropertySchema, REST};

/// An owned form of [`EntitySchema`], which can be formatted as text and parsed.
///
/// - Properties and indexes are sorted by name, because stored data does not depend on the declaration order.
/// - Rust names are only labels. They reveal swapped key parts, but do not affect the [fingerprint](Self::fingerprint).
/// - The text format has one fact on each line, so differences are easy to read. `to_string` writes it, `parse` reads it, and serde uses the same form.
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
    /// The name of the schema. This is the name of the Rust type, or the name set with `schema_name`.
    pub entity: String,
    /// The table that stores the entities.
    pub table: String,
    /// The value of the `EntityType` property, or `None` if the entities have no kind (PAT-HET-1).
    pub kind: Option<String>,
    /// The pieces of the `PartitionKey`. Adjacent literals are joined.
    pub partition_key: Vec<StoredPiece>,
    /// The pieces of the `RowKey`. Adjacent literals are joined.
    pub row_key: Vec<StoredPiece>,
    /// The properties, sorted by name.
    pub properties: Vec<StoredProperty>,
    /// The indexes, sorted by name.
    pub indexes: Vec<StoredIndex>,
    /// The derived rows other than indexes. These are `feed`, and relations with copies, such as `copied_by Manager` and `copies_from Manager`.
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
    /// A constant string between the fields of a key.
    Literal(String),
    /// A field's value, encoded with a codec.
    Part {
        /// The field or property that provides the value.
        source: Source,
        /// The codec's [`NAME`](crate::key::codec::KeyCodec::NAME).
        codec: String,
        /// The form of the encoded value.
        form: Form,
    },
}

/// The source of a key part's value.
///
/// ```
/// use table_core::schema::Source;
///
/// /// Returns the name for a report of changes.
/// fn name(source: &Source) -> &str {
///     match source {
///         Source::Property(name) | Source::Key(name) => name,
///     }
/// }
/// assert_eq!(name(&Source::Key("id".to_owned())), "id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The stored property with this name.
    Property(String),
    /// A field stored only in the entity's key, identified by its Rust name.
    Key(String),
}

/// A property in a stored schema.
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
    /// The name of the property in the store.
    pub name: String,
    /// The type of the property in the store.
    pub edm: EdmType,
    /// `true` if the property may be absent.
    pub optional: bool,
}

/// A secondary index in a stored schema.
///
/// ```
/// use table_core::schema::{StoredIndex, StoredSchema};
///
/// /// Returns the names of the indexes in other partitions or tables, which are updated through an outbox.
/// fn elsewhere(schema: &StoredSchema) -> Vec<&str> {
///     let is_elsewhere = |index: &&StoredIndex| index.table.is_some() || index.partition_key.is_some();
///     schema.indexes.iter().filter(is_elsewhere).map(|index| index.name.as_str()).collect()
/// }
/// # let _ = elsewhere;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIndex {
    /// The name of the index.
    pub name: String,
    /// The kind of row in the index, which is either a copy of an entity or a list of keys.
    pub kind: IndexKind,
    /// `true` if a second entity with the same value is rejected.
    pub unique: bool,
    /// `true` if some entities may be absent from the index.
    pub sparse: bool,
    /// The path of the function that selects the indexed entities. `None` if every entity with a value for the key is indexed.
    pub when: Option<String>,
    /// The table of the index rows, or `None` for the entity's table.
    pub table: Option<String>,
    /// The pieces of the index rows' `PartitionKey`, or `None` for the entity's partition.
    pub partition_key: Option<Vec<StoredPiece>>,
    /// The pieces of the index rows' `RowKey`.
    pub row_key: Vec<StoredPiece>,
    /// The properties that copies include, sorted by name. `None` if copies include all properties.
    pub include: Option<Vec<String>>,
    /// The properties stored in a copy, sorted by name. These are the entity's key fields missing from the copy's key, and the included properties.
    pub properties: Vec<StoredProperty>,
}

impl StoredSchema {
    /// Returns the stored schema of a declaration.
    ///
    /// ```
    /// # use table_core::{Entity, schema::{StoredSchema, Compatibility, compare_schemas}};
    /// # #[derive(Entity)]
    /// # #[entity(feed)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// let design = StoredSchema::of(Employee::SCHEMA);
    /// assert_eq!(design.keeps, ["feed"]);
    /// // A program without the feed must not replace the schema of one that has it.
    /// let mut without = design.clone();
    /// without.keeps.clear();
    /// assert_eq!(compare_schemas(&design, &without).compatibility(), Compatibility::NeedsAcceptance);
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
            keeps: schema.keeps.iter().filter(|word| **word != REST).map(|&word| word.to_owned()).collect(),
        }
        .normal()
    }

    /// Returns the schema with a different table name. Used for tables opened by name.
    ///
    /// ```
    /// # use table_core::{Entity, schema::{StoredSchema, compare_schemas}};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// let design = StoredSchema::of(Employee::SCHEMA);
    /// assert_eq!(design.clone().in_table("Archive").table, "Archive");
    /// assert!(!compare_schemas(&design, &design.clone().in_table("Archive")).is_same());
    /// ```
    #[must_use]
    pub fn in_table(mut self, table: &str) -> Self {
        table.clone_into(&mut self.table);
        self
    }

    /// Returns the normal form, in which adjacent literals are joined, and properties and indexes are sorted by name.
    pub(super) fn normal(mut self) -> Self {
        join_literals(&mut self.partition_key);
        join_literals(&mut self.row_key);
        for index in &mut self.indexes {
            index.partition_key.iter_mut().for_each(join_literals);
            join_literals(&mut index.row_key);
            index.include.iter_mut().for_each(|keep| keep.sort());
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
            include: index.include.map(|keep| keep.iter().map(|name| (*name).to_owned()).collect()),
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
