//! Extension methods of stores, which create typed and untyped table handles.

mod refused;

use futures_core::Stream;
use table_store::Result;

use crate::bag::TableEntity;
use crate::entity::Entity;
use crate::name::TableName;
use crate::refused::refused_of_values;
use crate::set::EntitySet;
use crate::store::TableStore;
use crate::table::{Table, list_tables, request};
use refused::{HasEntities, HasTables, HasTransactions, KeepsChanges, OpensTables, RunsSql};

/// Extension methods for every [`TableStore`] that can be cloned.
///
/// ```
/// use futures_util::TryStreamExt;
/// use table_core::{TableName, TableStoreExt, embedded::Engine};
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// assert!(store.create_table_if_missing(&TableName::new("Employee")?).await?);
/// assert!(!store.create_table_if_missing(&TableName::new("employee")?).await?); // it exists: case is ignored (TBL-2)
/// let names: Vec<TableName> = store.tables("Emp").try_collect().await?;
/// assert_eq!(names[0].as_str(), "Employee");
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub trait TableStoreExt: TableStore + Clone {
    /// Returns a handle to the table named in the schema of `E`. Sends no request. An invalid name causes an error on first use.
    #[must_use]
    fn table<E: Entity>(&self) -> Table<E, Self> {
        Table::of(self.clone())
    }

    /// Returns a handle to the table of an entity set, an enum of several entity types. Writing a value of the enum stores the entity that it contains.
    ///
    /// Does not compile if a member declares indexes or a feed.
    ///
    /// ```
    /// use table_core::{Engine, Entity, EntitySet, TableEntity, TableStoreExt};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Streams")]
    /// #[partition_key(stream)]
    /// #[row_key("head")]
    /// struct Head { stream: String, version: i32 }
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Streams")]
    /// #[partition_key(stream)]
    /// #[row_key("event-", version)]
    /// struct Event { stream: String, #[digits(10, nonnegative)] version: i32, data: String }
    ///
    /// #[derive(EntitySet)]
    /// enum Row {
    ///     Head(Head),
    ///     Event(Event),
    ///     #[other]
    ///     Other(TableEntity),
    /// }
    ///
    /// # pollster::block_on(async {
    /// let rows = Engine::in_memory().set::<Row>().create_if_missing().await?;
    /// let stream = || "order-7".to_owned();
    /// let head = Row::Head(Head { stream: stream(), version: 1 });
    /// let mut append = rows.transaction(&head)?;
    /// append.insert(&head)?.insert(&Event { stream: stream(), version: 1, data: "placed".to_owned() })?;
    /// append.commit().await?;
    ///
    /// let stored = rows.store().table::<Head>().query(Head::partition("order-7")).read_as::<Row>().collect().await?;
    /// assert!(matches!(&stored[..], [Row::Event(event), Row::Head(head)] if event.version == head.version));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    fn set<E: EntitySet>(&self) -> Table<E, Self> {
        Table::of_set(self.clone())
    }

    /// Returns a handle to a table of entities of type `E` with the given name, instead of the name in the schema.
    ///
    /// # Errors
    /// Any error from [`TableName::new`].
    fn table_named<E: Entity>(&self, name: &str) -> Result<Table<E, Self>> {
        Ok(Table::new(self.clone(), TableName::new(name)?))
    }

    /// Returns a handle to a table without a schema. Its entities are [`TableEntity`] values.
    ///
    /// # Errors
    /// Any error from [`TableName::new`].
    fn untyped(&self, name: &str) -> Result<Table<TableEntity, Self>> {
        Ok(Table::new(self.clone(), TableName::new(name)?))
    }

    /// Creates a table if it does not exist. Returns `true` if it was created.
    ///
    /// # Errors
    /// `TableBeingDeleted` if an earlier table with this name is still being deleted (OPT-4).
    fn create_table_if_missing(&self, table: &TableName) -> impl Future<Output = Result<bool>> + Send {
        request::create_if_missing(self, table)
    }

    /// Streams the names of the tables that start with `prefix`, in order (OPT-5, PAGE-12).
    ///
    /// The stream omits the tables of stored schemas, outboxes and feeds: [`LAYOUTS`](crate::table::LAYOUTS), [`OUTBOXES`](crate::table::OUTBOXES) and
    /// [`FEEDS`](crate::table::FEEDS). [`TableStore::list_tables`] includes them.
    fn tables(&self, prefix: &str) -> impl Stream<Item = Result<TableName>> + Send + use<Self>
    where
        Self: Sized,
    {
        list_tables(self.clone(), prefix)
    }

    /// The method of other libraries that runs a statement in SQL. It has an associated type as its result, because a call names the type of the rows: without
    /// the bound, rustc cannot resolve the result, and reports only the call.
    #[doc(hidden)]
    fn query_as<R>(&mut self, _sql: impl Sized) -> <Self as RunsSql<R>>::Rows
    where
        Self: Sized + RunsSql<R>,
    {
        crate::refused::Refused::refuse(self)
    }

    // Other libraries define these methods on entities. No trait of `std` has a method with one of these names. If one is called on an entity, rustc therefore
    // finds only this trait, and shows the message of `OpensTables`.
    refused_of_values! {
        HasEntities: insert(_) save(_) create(_) update(_) upsert(_) delete(_) destroy(_) persist(_) put(_) patch(_) reload(_) refresh(_) query(_) scan(_)
            find_by_id(_) find_all(_) find_many(_) delete_by_id(_) delete_many(_) insert_many(_) insert_into(_) update_many(_)
            get_by_id(_) filter_by(_) get_entity(_, _) upsert_entity(_, _) add(_) add_async(_) insert_one(_) get_item(_)
            put_item(_) batch_write_item(_) query_raw(_);
        HasTables: get_table_client(_) get_table_reference(_) db_set() create_table(_) create_table_if_not_exists(_) create_table_if_not_exists_async(_)
            create_table_async(_) get_or_create_table(_) open_table(_) get_table(_) use_table(_) table_client(_) collection(_) get_collection(_)
            container(_) container_client(_) get_container_client(_) open_tree(_) tree(_) keyspace(_) database(_) db(_);
        KeepsChanges: save_changes() commit() rollback() persist_all();
        HasTransactions: begin() begin_write() begin_read() begin_transaction() start_transaction() start_session() transact(_)
            transact_write_items(_) transact_write(_) transact_get_items(_);
    }
}

impl<S: OpensTables> TableStoreExt for S {}
