//! Typed entities: the traits that `#[derive(Entity)]` implements, and the result of a read.

mod index;
mod own;
mod versioned;

pub use index::{IndexEntry, IndexOf};
pub(crate) use own::{put, read_own_again};
pub use versioned::Versioned;

use std::any::Any;

use crate::error::{Error, ErrorCode, Result};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::limits::Limits;
use crate::query::{EntityRef, Select};
use crate::row::Row;
use crate::schema::EntitySchema;

/// The relations of an entity, known to the package that keeps its copies.
#[doc(hidden)]
pub type AnyRelations = dyn Any + Send + Sync;

/// A struct with a table design. Only `#[derive(Entity)]` implements it.
#[diagnostic::on_unimplemented(
    message = "[T105] `{Self}` is not an entity",
    label = "this type does not derive `Entity`",
    note = "an entity is a struct with `#[derive(Entity)]`, `#[partition_key(…)]` and `#[row_key(…)]`"
)]
pub trait Entity: FromEntity + 'static {
    /// The design.
    const SCHEMA: &'static EntitySchema;
    /// Its indexes, in declaration order: what is to be written beside the entity.
    const INDEXES: &'static [IndexOf<Self>] = &[];
    /// Whether each change is recorded in the feed of its partition: `#[entity(feed)]`.
    const FEED: bool = false;
    /// The relations by which it gives copies to other entities, and holds copies of theirs, as the package that keeps these reads them:
    /// `#[entity(gives(…), holds(…))]`.
    #[doc(hidden)]
    const RELATIONS: Option<&'static AnyRelations> = None;
    /// The designs that may lie beside it in its table: the members of the set that `#[entity(set = …)]` names, its own among them.
    const BESIDE: &'static [&'static EntitySchema] = &[];

    /// Appends the texts of the entity's key, which saves the allocations of [`key_of`](Self::key_of) where buffers are
    /// used again.
    ///
    /// # Errors
    /// `KeyEncoding` if a field's value has no text in its place: too many digits, an illegal character. The buffers may
    /// then hold a part of the key.
    fn encode_key(&self, partition_key: &mut String, row_key: &mut String) -> Result<()>;

    /// The entity's key.
    ///
    /// # Errors
    /// Those of [`encode_key`](Self::encode_key), `PropertyValueTooLarge` if a key is over the 512 UTF-16 code units that every
    /// store takes (KEY-7), and `OutOfRangeInput` if the row would be one that patterns keep for themselves
    /// ([`RESERVED`](crate::key::text::RESERVED)).
    fn key_of(&self) -> Result<EntityKey> {
        // Room for keys of usual length: they are written part by part.
        let (mut partition_key, mut row_key) = (String::with_capacity(32), String::with_capacity(32));
        self.encode_key(&mut partition_key, &mut row_key)?;
        require_portable("PartitionKey", &partition_key)?;
        require_portable("RowKey", &row_key)?;
        EntityKey::new(partition_key, row_key)?.of_entity()
    }

    /// The entity's properties, encoded.
    ///
    /// # Errors
    /// `OutOfRangeInput` if a field's value has no place in its Edm type.
    fn to_row(&self) -> Result<Row>;

    /// The same for a merge, which cannot remove what a longer value left behind (MRG-3).
    ///
    /// # Errors
    /// Those of [`to_row`](Self::to_row); `InvalidInput` if a field is stored in [chunks](crate::property::Chunked).
    fn to_merge(&self) -> Result<Row> {
        if Self::SCHEMA.has_chunks() {
            let message = format!(
                "a merge of `{}` would leave chunks of a longer value behind: use `update`, `replace` or `insert_or_replace`",
                Self::SCHEMA.entity
            );
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("MRG-3"));
        }
        self.to_row()
    }
}

/// Refuses a key that is too long as a whole, though each of its parts is not: nothing is sent that a store would refuse.
fn require_portable(kind: &'static str, key: &str) -> Result<()> {
    Limits::PORTABLE.check_key(kind, key)
}

/// An entity that declares nothing to be kept with it, neither indexes nor a feed nor copies: [`Table`](crate::Table) may write it, because nothing is left
/// behind. The derive says which these are; it cannot be implemented by hand.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::{PlainEntity, Result, Table, TableStore, TableStoreExt};
///
/// /// Writes any entity that is all there is to write.
/// async fn save<E: PlainEntity, S: TableStore>(table: &Table<E, S>, entity: &E) -> Result<()> {
///     table.insert_or_replace(entity).await.map(|_| ())
/// }
/// # pollster::block_on(async {
/// let employees = table_core::embedded::Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// save(&employees, &Employee { department: "Sales".into(), id: 223, age: 34 }).await
/// # })?;
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T069] `{Self}` declares what is to be kept with it (an index, a feed, copies), which a plain write would leave behind",
    label = "this verb writes the entity alone",
    note = "write it through the handle of the patterns crate, which has the same verbs and keeps all that is declared: \
            `use table_patterns::EntityStore;` and `store.entities::<{Self}>()`",
    note = "reads need no such care: `get`, `query` and `scan` work on every entity"
)]
pub trait PlainEntity: Entity + DeclaresNothing {}

impl<E: DeclaresNothing> PlainEntity for E {}

/// Implemented by the derive for entities that declare nothing. Not part of the API.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T069] `{Self}` declares what is to be kept with it (an index, a feed, copies), which a plain write would leave behind",
    label = "this verb writes the entity alone",
    note = "write it through the handle of the patterns crate, which has the same verbs and keeps all that is declared: \
            `use table_patterns::EntityStore;` and `store.entities::<{Self}>()`",
    note = "reads need no such care: `get`, `query` and `scan` work on every entity"
)]
pub trait DeclaresNothing: Entity {}

/// A type of rows, with the designs that a table of it is opened with: an entity has one, a set those of its members, the bag none.
/// Derived.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::entity::Declared;
///
/// assert_eq!(Employee::DESIGNS[0].entity, "Employee");
/// ```
pub trait Declared {
    /// The designs.
    const DESIGNS: &'static [&'static EntitySchema];
}

impl<E: Entity> Declared for E {
    const DESIGNS: &'static [&'static EntitySchema] = &[E::SCHEMA];
}

/// A type whose values a [`Table`](crate::Table) writes alone: every [`PlainEntity`], and the bag.
///
/// ```
/// use table_core::{TableEntity, ToEntity};
///
/// let bag = TableEntity::new("Sales", "empid_000007")?.with("Age", 36);
/// assert_eq!(bag.entity_key()?.row_key.as_str(), "empid_000007");
/// assert_eq!(bag.entity_row()?.view().len(), 1);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T069] `{Self}` declares what is to be kept with it (an index, a feed, copies), which a plain write would leave behind",
    label = "this verb writes the entity alone",
    note = "write it through the handle of the patterns crate, which has the same verbs and keeps all that is declared: \
            `use table_patterns::EntityStore;` and `store.entities::<{Self}>()`",
    note = "reads need no such care: `get`, `query` and `scan` work on every entity",
    note = "a set is written so if each of its members may be: write one that declares more through its own handle"
)]
pub trait ToEntity {
    /// The key to write it under.
    ///
    /// # Errors
    /// Those of [`Entity::key_of`].
    fn entity_key(&self) -> Result<EntityKey>;

    /// Its properties, encoded.
    ///
    /// # Errors
    /// Those of [`Entity::to_row`].
    fn entity_row(&self) -> Result<Row>;

    /// The same for a merge.
    ///
    /// # Errors
    /// Those of [`Entity::to_merge`].
    fn merge_row(&self) -> Result<Row> {
        self.entity_row()
    }

    /// The table that its design names, if it has a design.
    #[must_use]
    fn design_table() -> Option<&'static str> {
        None
    }

    /// Receives the version that a write gave it, for entities that keep it.
    fn on_written(&mut self, _etag: &ETag, _ticks: u64) {}
}

impl<E: PlainEntity> ToEntity for E {
    fn entity_key(&self) -> Result<EntityKey> {
        self.key_of()
    }

    fn entity_row(&self) -> Result<Row> {
        self.to_row()
    }

    fn merge_row(&self) -> Result<Row> {
        self.to_merge()
    }

    fn design_table() -> Option<&'static str> {
        Some(E::SCHEMA.table)
    }
}

/// Whether a row that could not be read for this reason is one to be passed over; else the error is given back.
#[doc(hidden)]
pub type NotRead = fn(EntityRef<'_>, Error) -> Result<()>;

/// A type that a stored entity can be read as: an [`Entity`], a projection of one, a bag.
///
/// ```
/// use table_core::{BlockOn, Entity, Projection, TableStoreExt, embedded::Engine};
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", digits(6, id))]
/// struct Employee {
///     department: String,
///     id: u32,
///     first_name: String,
///     age: i32,
/// }
///
/// #[derive(Projection, Debug, PartialEq)]
/// #[projection(of = Employee)]
/// struct Age {
///     age: i32,
/// }
///
/// # async {
/// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let ada = Employee { department: "Sales".into(), id: 7, first_name: "Ada".into(), age: 36 };
/// employees.insert(&ada).await?;
/// let ages: Vec<Age> = employees.query(Employee::partition("Sales")).project().collect().await?; // `Age: FromEntity`
/// assert_eq!(ages, [Age { age: 36 }]);
/// # Ok::<(), table_core::Error>(())
/// # }.block_on().unwrap();
/// ```
pub trait FromEntity: Sized {
    /// Whether rows of declared others may lie among its rows, which [`read_own`](Self::read_own) passes over.
    const IS_MIXED: bool = false;

    /// What judges a row that cannot be read: of an entity. `None` of a type that every row is read as, or that judges before it reads.
    #[doc(hidden)]
    const NOT_READ: Option<NotRead> = None;

    /// The properties it needs (DQ-13).
    #[must_use]
    fn select() -> Select {
        Select::All
    }

    /// Reads a row of its table if it is one of its own; `None` for a row that is declared [beside it](crate::mixed).
    ///
    /// A type that is read from any row, such as a set or the bag, has no others beside it.
    ///
    /// # Errors
    /// Those of [`from_entity`](Self::from_entity), with the key; `EntityMismatch` (PAT-HET-6) for a row that no declared type explains.
    #[inline]
    fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<Self>>> {
        own::read_own(entity)
    }

    /// Reads it, straight from the encoded row.
    ///
    /// # Errors
    /// `EntityMismatch` if a property is missing or of another type, or the key is not of its design.
    fn from_entity(entity: EntityRef<'_>) -> Result<Self>;

    /// The same over the one read before it, whose memory is used again, as are its values of the `PartitionKey` where that is the same.
    /// After an error it holds parts of both.
    #[doc(hidden)]
    #[inline]
    fn read_again(&mut self, entity: EntityRef<'_>, _is_same_partition: bool) -> Result<()> {
        // Without `?`: an entity is moved once.
        match Self::from_entity(entity) {
            Ok(value) => {
                *self = value;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// A type that entities `E` can be read as in place of `E`: a projection, a set that `E` is a member of, the bag. So that
/// employees are not read as the names of airports.
///
/// Derived; for a [`FromEntity`] written by hand it is one line: `impl ProjectionOf<Employee> for NameOnly {}`. A table
/// without a design is read as anything.
///
/// ```
/// use table_core::{Entity, Projection, TableEntity, entity::ProjectionOf};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, id: u32, first_name: String }
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct NameOnly { first_name: String }
///
/// fn is_read_as<E, P: ProjectionOf<E>>() -> bool { true }
/// assert!(is_read_as::<Employee, NameOnly>() && is_read_as::<Employee, TableEntity>());
/// ```
#[diagnostic::on_unimplemented(
    message = "[T122] `{Self}` is not a projection of `{E}`",
    label = "a type that `{E}` can be read as is expected here",
    note = "a projection says which entity it is of: `#[derive(Projection)] #[projection(of = …)]`",
    note = "rows of several types are read as a set, or as `TableEntity`"
)]
pub trait ProjectionOf<E>: FromEntity {}

impl<E: Entity> ProjectionOf<E> for E {}
