//! Typed entities. This module contains the traits that `#[derive(Entity)]` implements, and the results of reads.

pub(crate) mod index;
mod own;
mod refused;
mod round_trip;
mod same_table;
mod versioned;

use index::IndexOf;
pub(crate) use own::{put, read_own_again};
use refused::{KeepsKey, KeepsVersion};
pub use round_trip::check_round_trip;
pub use same_table::{AnyTable, SharesTable};
#[doc(hidden)]
pub use same_table::{NamedTable, SameTable, table_number};
pub use versioned::Versioned;

use std::any::Any;

use table_store::{Error, ErrorCode, Result};

use crate::etag::ETag;
use crate::key::EntityKey;
use crate::limits::Limits;
use crate::query::{EntityRef, KeyRange, Select};
use crate::refused::refused_of_values;
use crate::row::Row;
use crate::schema::EntitySchema;

/// The relations of an entity, without their concrete type. They connect the entity with the entities it copies properties from or to. Only the package that
/// maintains the copies knows the concrete type.
#[doc(hidden)]
pub type AnyRelations = dyn Any + Send + Sync;

/// A struct with a table schema. Only `#[derive(Entity)]` implements this trait.
#[diagnostic::on_unimplemented(
    message = "[T105] `{Self}` is not an entity",
    label = "this type does not derive `Entity`",
    note = "an entity is a struct with `#[derive(Entity)]`, `#[partition_key(…)]` and `#[row_key(…)]`"
)]
pub trait Entity: FromEntity + 'static {
    /// The schema of the entity.
    const SCHEMA: &'static EntitySchema;
    /// The entity's indexes, in declaration order. A write of an entity also writes its index rows.
    const INDEXES: &'static [IndexOf<Self>] = &[];
    /// `true` if each change is recorded in the feed of its partition, as declared with `#[entity(feed)]`.
    const FEED: bool = false;
    /// The entities that copy properties from this entity, and the entities that it copies properties from. They are declared with `#[entity(copied_by(…),
    /// copies_from(…))]`. The package that maintains the copies reads this constant.
    #[doc(hidden)]
    const RELATIONS: Option<&'static AnyRelations> = None;
    /// The schemas of all members of the set in `#[entity(set = …)]`, including this type.
    const SET_SCHEMAS: &'static [&'static EntitySchema] = &[];

    /// Appends the entity's `PartitionKey` and `RowKey` to two buffers. Reusing the buffers avoids the allocations made by [`key_of`](Self::key_of).
    ///
    /// # Errors
    /// `KeyEncoding` if a field's value cannot be written into a key, for example because it has too many digits or an illegal character. The buffers
    /// may then contain part of the key.
    fn encode_key(&self, partition_key: &mut String, row_key: &mut String) -> Result<()>;

    /// Returns the entity's key.
    ///
    /// # Errors
    /// - `KeyEncoding` if a field's value cannot be written into a key.
    /// - `PropertyValueTooLarge` if a key exceeds the 512 UTF-16 code units that every store accepts (KEY-7).
    /// - `OutOfRangeInput` if the key is reserved for pattern rows ([`RESERVED`](crate::key::text::RESERVED)).
    fn key_of(&self) -> Result<EntityKey> {
        // The keys are written part by part. The initial capacity is enough for typical keys.
        let (mut partition_key, mut row_key) = (String::with_capacity(32), String::with_capacity(32));
        self.encode_key(&mut partition_key, &mut row_key)?;
        require_portable("PartitionKey", &partition_key)?;
        require_portable("RowKey", &row_key)?;
        EntityKey::new(partition_key, row_key)?.of_entity()
    }

    /// Encodes the entity's properties.
    ///
    /// # Errors
    /// `OutOfRangeInput` if a field's value is not in the range of its Edm type.
    fn to_row(&self) -> Result<Row>;

    /// Encodes the entity's properties for a merge.
    ///
    /// A chunked value cannot be merged. If the old value were longer, its surplus chunks would remain (MRG-3).
    ///
    /// # Errors
    /// `OutOfRangeInput` as in [`to_row`](Self::to_row); `InvalidInput` if a field is stored in [chunks](crate::property::Chunked).
    fn to_merge(&self) -> Result<Row> {
        if Self::SCHEMA.has_chunks() {
            let message = format!(
                "a merge of `{}` would keep chunks of a longer value; use `update`, `replace` or `insert_or_replace`",
                Self::SCHEMA.entity
            );
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("MRG-3"));
        }
        self.to_row()
    }

    refused_of_values! {
        KeepsKey: key() partition_key() row_key();
        KeepsVersion: etag() timestamp() version();
    }
}

/// Returns an error if the key exceeds the maximum length that every store accepts. Sends no request.
fn require_portable(kind: &'static str, key: &str) -> Result<()> {
    Limits::PORTABLE.check_key(kind, key)
}

/// An entity without derived rows, which a [`Table`](crate::Table) can write.
///
/// Such an entity declares no indexes, no feed and no copies. Only `#[derive(Entity)]` implements this trait. Generic functions that write entities require `E:
/// PlainEntity`.
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
/// /// Writes any entity without derived rows.
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
    message = "[T069] `{Self}` declares an index, a feed or copies, which `Table` would not update, or is a type parameter without the bound `PlainEntity`",
    label = "this method writes the entity only",
    note = "write it with `table_patterns`, whose `Entities` has the same methods and maintains everything declared: \
            `use table_patterns::EntityStore;` and `store.entities::<{Self}>()`",
    note = "reads are not affected: `get`, `query` and `scan` work for every entity",
    note = "a generic function that writes has the bound `E: PlainEntity`"
)]
pub trait PlainEntity: Entity {
    /// The type that represents the table named in the schema. Generated by the derive.
    #[doc(hidden)]
    type Table: SameTable<Self::Table> + SameTable<AnyTable>;
}

/// An entity whose changes are recorded in the feed of its partition: `#[entity(feed)]`. Only `#[derive(Entity)]` implements this trait.
///
/// ```
/// use table_core::Entity;
/// use table_core::entity::FeedEntity;
///
/// #[derive(Entity)]
/// #[entity(table = "Company", feed)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// /// Returns the table whose feeds a reader of `E` follows.
/// fn followed<E: FeedEntity>() -> &'static str {
///     E::SCHEMA.table
/// }
/// assert_eq!(followed::<Employee>(), "Company"); // without `feed`, it does not compile: T269
/// ```
#[diagnostic::on_unimplemented(
    message = "[T269] `{Self}` does not declare a feed, so a view would never see its changes",
    label = "add `feed` to the attribute above `{Self}`: `#[entity(feed)]`, or `#[entity(table = \"…\", feed)]` if it names a table",
    note = "handles of `{Self}` with an older declaration record no changes: run `backfill_feed` and `rebuild` after the last of them has stopped",
    note = "if `{Self}` is a type parameter, add the bound `table_patterns::entity::FeedEntity`"
)]
pub trait FeedEntity: Entity {}

/// A row type that declares the schemas used to open its table.
///
/// An entity has one schema, a set has the schemas of all members, and [`TableEntity`](crate::TableEntity) has none. The derives implement this trait.
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
/// assert_eq!(Employee::SCHEMAS[0].entity, "Employee");
/// ```
pub trait Declared {
    /// The schemas used to open the table.
    const SCHEMAS: &'static [&'static EntitySchema];
}

impl<E: Entity> Declared for E {
    const SCHEMAS: &'static [&'static EntitySchema] = &[E::SCHEMA];
}

/// A type whose values a [`Table`](crate::Table) can write. Implemented by every [`PlainEntity`], and by [`TableEntity`](crate::TableEntity).
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
    message = "[T069] `{Self}` declares an index, a feed or copies, which `Table` would not update, or is a type parameter without the bound `PlainEntity`",
    label = "this method writes the entity only",
    note = "write it with `table_patterns`, whose `Entities` has the same methods and maintains everything declared: \
            `use table_patterns::EntityStore;` and `store.entities::<{Self}>()`",
    note = "reads are not affected: `get`, `query` and `scan` work for every entity",
    note = "a generic function that writes has the bound `E: PlainEntity`",
    note = "a set can be written if each of its members can; write the others with `Entities`"
)]
pub trait ToEntity {
    /// The type that represents the table named in the schema, or [`AnyTable`] for a type without a schema.
    type Table: SameTable<Self::Table> + SameTable<AnyTable>;

    /// Returns the key of the value.
    ///
    /// # Errors
    /// `KeyEncoding`, `PropertyValueTooLarge` or `OutOfRangeInput`, as in [`Entity::key_of`].
    fn entity_key(&self) -> Result<EntityKey>;

    /// Encodes the properties of the value.
    ///
    /// # Errors
    /// `OutOfRangeInput`, as in [`Entity::to_row`].
    fn entity_row(&self) -> Result<Row>;

    /// Encodes the properties of the value for a merge.
    ///
    /// # Errors
    /// `OutOfRangeInput` or `InvalidInput`, as in [`Entity::to_merge`].
    fn merge_row(&self) -> Result<Row> {
        self.entity_row()
    }

    /// Returns the schema's table name, or `None` for a type without a schema.
    #[must_use]
    fn schema_table() -> Option<&'static str> {
        None
    }

    /// Returns the schemas of all entity types that this type represents. The slice is empty for a type without a schema.
    #[doc(hidden)]
    #[must_use]
    fn schemas() -> &'static [&'static EntitySchema] {
        &[]
    }

    /// Returns the schema of the entity type that this value represents. The slice is empty for a value without a schema.
    #[doc(hidden)]
    #[must_use]
    fn own_schema(&self) -> &'static [&'static EntitySchema] {
        Self::schemas()
    }

    /// Stores the version assigned by a write. The default does nothing. A type that contains its version overrides this function.
    fn on_written(&mut self, _etag: &ETag, _ticks: u64) {}
}

impl<E: PlainEntity> ToEntity for E {
    type Table = <E as PlainEntity>::Table;

    fn entity_key(&self) -> Result<EntityKey> {
        self.key_of()
    }

    fn entity_row(&self) -> Result<Row> {
        self.to_row()
    }

    fn merge_row(&self) -> Result<Row> {
        self.to_merge()
    }

    fn schema_table() -> Option<&'static str> {
        Some(E::SCHEMA.table)
    }

    fn schemas() -> &'static [&'static EntitySchema] {
        const { &[E::SCHEMA] }
    }
}

/// A function that decides whether to skip a row that could not be read. It returns `Ok(())` to skip the row, and the error otherwise.
#[doc(hidden)]
pub type NotRead = fn(EntityRef<'_>, Error) -> Result<()>;

/// A function that excludes index partitions from key ranges that span several partitions.
#[doc(hidden)]
pub type Around = fn(Vec<KeyRange>) -> Vec<KeyRange>;

/// A type that a stored entity can be read as, such as an [`Entity`], a projection of an entity, or [`TableEntity`](crate::TableEntity).
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
#[diagnostic::on_unimplemented(
    message = "[T122] no stored entity can be read as `{Self}`",
    label = "an entity, a projection of one, a set or `TableEntity` is expected here",
    note = "some of the properties are read as a struct: `#[derive(Projection)] #[projection(of = …)]`, with a field for each of them"
)]
pub trait FromEntity: Sized {
    /// `true` if the type's table may contain rows of other declared types, which [`read_own`](Self::read_own) skips.
    const IS_MIXED: bool = false;

    /// A function that excludes index partitions from the ranges of a query or a scan. Rows in these partitions could be mistaken for this type. `None` if the
    /// type has no such indexes, or can be read from any row.
    #[doc(hidden)]
    const AROUND: Option<Around> = None;

    /// A function that classifies a row that could not be read as this type. `None` for types that can be read from any row, and for types that classify a row
    /// before they read it.
    #[doc(hidden)]
    const NOT_READ: Option<NotRead> = None;

    /// Returns the properties required to read this type (DQ-13).
    #[must_use]
    fn select() -> Select {
        Select::All
    }

    /// Reads a row from the type's table. Returns `None` for a row of another [declared type](crate::mixed).
    ///
    /// For a type that can be read from any row, such as a set or [`TableEntity`](crate::TableEntity), the function never returns `None`.
    ///
    /// # Errors
    /// Any error from [`from_entity`](Self::from_entity), with the key; `EntityMismatch` (PAT-HET-6) if the row belongs to no declared type.
    #[inline]
    fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<Self>>> {
        own::read_own(entity)
    }

    /// Reads a value from the encoded row.
    ///
    /// # Errors
    /// `EntityMismatch` if a property is missing or has a different type, or the key does not match the schema.
    fn from_entity(entity: EntityRef<'_>) -> Result<Self>;

    /// Reads a row into this value, and reuses its memory. If `_is_same_partition` is `true`, the fields of the `PartitionKey` are kept. After an error, this
    /// value may contain fields of both the previous and the new entity.
    #[doc(hidden)]
    #[inline]
    fn read_again(&mut self, entity: EntityRef<'_>, _is_same_partition: bool) -> Result<()> {
        // A `match` instead of `?` moves the entity only once.
        match Self::from_entity(entity) {
            Ok(value) => {
                *self = value;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// A type that entities of type `E` can be read as, such as a projection, a set with `E` as a member, or [`TableEntity`](crate::TableEntity).
///
/// The bound prevents mistakes such as reading employees as a projection of another entity.
///
/// The derives implement this trait. If you implement [`FromEntity`] by hand, add a line such as `impl ProjectionOf<Employee> for NameOnly {}`. Rows of a table
/// without a schema can be read as any type.
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
    note = "a projection names its entity: `#[derive(Projection)] #[projection(of = …)]`",
    note = "read rows of several types as an entity set, or as `TableEntity`"
)]
pub trait ProjectionOf<E>: FromEntity {}

impl<E: Entity> ProjectionOf<E> for E {}

/// A bound that no entity satisfies. Its error message is shown for a projection field that the entity lacks.
///
/// Generated code refers to the entity's constant for the field. If the entity has no such constant, the name resolves to a fallback constant, which requires
/// this bound.
#[diagnostic::on_unimplemented(
    message = "[T123] `{Self}` has no field of this name",
    label = "write the name of a field of `{Self}`, or remove this field",
    note = "a projection has the names and types of fields of its entity; a stored name does not matter: `#[property(\"…\")]` is only on the entity"
)]
#[doc(hidden)]
pub trait HasField {}
