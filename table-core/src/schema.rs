//! Schemas of entity types, as constants.

mod alphabet;
mod description;
mod evolution;
mod fault;
mod fingerprint;
mod layout;
mod removed;
mod shape;
mod stored;
mod text;
pub(crate) mod token;

pub(crate) use evolution::compare_with_removed;
pub use evolution::{Change, Compatibility, EVOLUTION_RULES, Evolution, Rule, compare_schemas};
pub use fingerprint::Fingerprint;
pub use stored::{Source, StoredIndex, StoredPiece, StoredProperty, StoredSchema};
use table_store::EdmType;

use crate::key::codec::Form;
use crate::key::codec::compound::Piece;

#[doc(hidden)]
pub use layout::is_same_text;
pub use layout::{begins, disjoint, fits, same};
pub(crate) use removed::RemovedProperties;
#[doc(hidden)]
pub use shape::Shape;

/// A property that marks a copy in an index. A repair deletes marked copies. No field can have this name, and reads of the copy ignore the property.
pub const UNCLAIMED: &str = "_unclaimed";

/// The property that contains the [`kind`](EntitySchema::kind) of an entity (PAT-HET-1).
pub const ENTITY_TYPE: &str = "EntityType";

/// The entry in [`keeps`](EntitySchema::keeps) for a field that collects undeclared properties.
pub(crate) const REST: &str = "rest";

/// The schema of one entity type.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::EntitySchema;
///
/// #[derive(Entity, Clone)]
/// #[entity(table = "Employee")]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     id: u32,
///     age: i32,
/// }
///
/// let schema: &EntitySchema = Employee::SCHEMA;
/// assert_eq!((schema.table, schema.properties.len()), ("Employee", 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntitySchema {
    /// The name of the schema. This is the name of the Rust type, or the name set with `schema_name`.
    pub entity: &'static str,
    /// The table that stores the entities.
    pub table: &'static str,
    /// The value of the `EntityType` property, or `None` if the type has no kind (PAT-HET-1). The value distinguishes this type from other types in the table.
    pub kind: Option<&'static str>,
    /// The pieces of the `PartitionKey`.
    pub partition_key: &'static [KeyPiece],
    /// The pieces of the `RowKey`.
    pub row_key: &'static [KeyPiece],
    /// The properties, in declaration order.
    pub properties: &'static [PropertySchema],
    /// The indexes, in declaration order.
    pub indexes: &'static [IndexSchema],
    /// The derived rows other than indexes. These are `feed`, and relations with copies, such as `copied_by Manager` and `copies_from Manager`. Contains `rest`
    /// if a field collects the undeclared properties. The stored schema omits this entry.
    pub keeps: &'static [&'static str],
}

impl EntitySchema {
    /// An empty schema, used by the derive for invalid declarations.
    #[doc(hidden)]
    pub const NONE: Self = Self {
        entity: "",
        table: "",
        kind: None,
        partition_key: &[],
        row_key: &[],
        properties: &[],
        indexes: &[],
        keeps: &[],
    };
}

/// One piece of a key.
///
/// ```
/// use table_core::schema::KeyPiece;
///
/// /// Formats a key, such as `empid_{id}`.
/// fn pattern(pieces: &[KeyPiece]) -> String {
///     let text = |piece: &KeyPiece| match piece {
///         KeyPiece::Literal(literal) => (*literal).to_owned(),
///         KeyPiece::Field { field, .. } => format!("{{{field}}}"),
///     };
///     pieces.iter().map(text).collect()
/// }
/// assert_eq!(pattern(&[KeyPiece::Literal("empid_")]), "empid_");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPiece {
    /// A constant string between the fields of a key.
    Literal(&'static str),
    /// A field and its codec.
    Field {
        /// The name of the field.
        field: &'static str,
        /// The codec's [`KeyCodec::NAME`](crate::key::codec::KeyCodec::NAME).
        codec: &'static str,
        /// The form of the encoded field: its length, order and characters.
        form: Form,
    },
}

impl KeyPiece {
    /// Returns the piece without the field name and the codec name.
    #[must_use]
    pub const fn piece(&self) -> Piece {
        match *self {
            Self::Literal(literal) => Piece::Literal(literal),
            Self::Field { form, .. } => Piece::Part(form),
        }
    }
}

/// A stored property of an entity type.
///
/// ```
/// use table_core::EdmType;
/// use table_core::schema::PropertySchema;
///
/// let age = PropertySchema { name: "Age", field: "age", edm: EdmType::Int32, optional: true };
/// assert_eq!((age.name, age.edm.name()), ("Age", "Edm.Int32"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertySchema {
    /// The name of the property in the store.
    pub name: &'static str,
    /// The name of the field stored as the property.
    pub field: &'static str,
    /// The type of the property in the store.
    pub edm: EdmType,
    /// `true` if the property may be absent.
    pub optional: bool,
}

/// The schema of a secondary index. The index rows are copies of entities (PAT-INTRA, PAT-INTER) or lists of keys (PAT-IX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSchema {
    /// The name of the index.
    pub name: &'static str,
    /// The kind of row in the index, which is either a copy of an entity or a list of keys.
    pub kind: IndexKind,
    /// `true` if a second entity with the same value is rejected (PAT-INTRA-5).
    pub unique: bool,
    /// The declared maximum number of keys in a list (PAT-IX-4), or `None` if the index stores copies.
    pub at_most: Option<u32>,
    /// `true` if some entities may be absent from the index. Either `when` excludes them, or they have no value for the index's key.
    pub sparse: bool,
    /// The path of the function that selects the indexed entities. `None` if every entity with a value for the key is indexed.
    pub when: Option<&'static str>,
    /// The table of the index rows, or `None` for the entity's table.
    pub table: Option<&'static str>,
    /// The pieces of the index rows' `PartitionKey`, or `None` for the entity's `PartitionKey` (PAT-INTRA).
    pub partition_key: Option<&'static [KeyPiece]>,
    /// The pieces of the index rows' `RowKey`.
    pub row_key: &'static [KeyPiece],
    /// The properties that copies are declared to include. `None` if copies include all properties (PAT-INTRA-6).
    pub include: Option<&'static [&'static str]>,
    /// The properties stored in a copy or list entry. The entity's key fields missing from the row's key come first, as strings encoded as in the key. The
    /// included properties follow.
    pub properties: &'static [PropertySchema],
}

impl IndexSchema {
    /// An empty schema, used by the derive for invalid index declarations.
    #[doc(hidden)]
    pub const NONE: Self = Self {
        name: "",
        kind: IndexKind::Copies,
        unique: false,
        at_most: None,
        sparse: false,
        when: None,
        table: None,
        partition_key: None,
        row_key: &[],
        include: None,
        properties: &[],
    };

    /// Returns `true` if index rows are in the same partition as their entity. One transaction then writes both (PAT-INTRA-4). Other indexes are eventually
    /// consistent (PAT-INTER-3).
    ///
    /// ```
    /// # use table_core::Entity;
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByEmail, unique, row_key("email_", email))]
    /// # #[index(Directory, unique, table = "Directory", row_key(email))]
    /// # struct Employee { department: String, id: u32, email: String }
    /// let [by_email, directory] = Employee::SCHEMA.indexes else { panic!("two are declared") };
    /// assert!(by_email.is_same_partition() && !directory.is_same_partition());
    /// ```
    #[must_use]
    pub const fn is_same_partition(&self) -> bool {
        self.table.is_none() && self.partition_key.is_none()
    }
}

/// The kind of an index.
///
/// ```
/// use table_core::schema::IndexKind;
///
/// /// Returns the number of requests for a lookup that finds one entity.
/// const fn requests(kind: IndexKind) -> u32 {
///     match kind {
///         IndexKind::Copies => 1,
///         IndexKind::List => 2,
///     }
/// }
/// assert_eq!(requests(IndexKind::List), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// The index stores one copy of each entity (PAT-INTRA, PAT-INTER).
    Copies,
    /// The index stores one row for each value, with the keys of all entities with that value (PAT-IX).
    List,
}
