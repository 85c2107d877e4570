//! Queries of typed entities have a selection, filters, a projection and limits. The module [`read`] sends the requests.

mod page;
mod read;
pub(crate) mod refused;

pub use page::{EntityPage, PageStart};

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use table_store::{Error, Result, TableName};

use crate::column::IntoCondition;
use crate::entity::{FromEntity, ProjectionOf};
use crate::filter::{Filter, Term};
use crate::query::{KeyRange, Plan, QueryClass, Select};
use crate::schema::IndexSchema;
use crate::selection::{IntoSelection, PagedOf, Primary, ReadableAs, Source};
use crate::set::SetOf;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::pages::{CheckRecord, SchemaCheck};
use crate::table::{PageSource, Paging, Table, request};

/// A builder for a query on a table of `E`.
///
/// The query reads rows of the source `F` (the entities or an index) as values of type `T`. No request is sent until the query is awaited, or until
/// [`page`](Self::page), [`stream`](Self::stream) or one of the `collect` functions is called.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// employees.insert(&ada).await?;
/// let query = employees.query(Employee::partition("Sales")).filter(Employee::AGE.ge(30)).page_size(50);
/// assert!(query.plan()?.to_string().contains("PartitionKey eq 'Sales' and Age ge 30"));
/// let page = query.page().await?;
/// assert_eq!((page.items.len(), page.continuation), (1, None));
/// assert_eq!(query.collect().await?, [ada]);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a query has no effect until its entities are requested; write `.collect().await?`, or use `first`, `page` or `stream`"]
pub struct EntityQuery<E, S, T = E, F = Primary> {
    source: PageSource<S>,
    paging: Paging,
    class: QueryClass,
    of: PhantomData<fn() -> (E, T)>,
    from: PhantomData<fn() -> F>,
}

impl<E: FromEntity, S: TableStore + Clone> Table<E, S> {
    /// Creates a query for a selection that can span several pages, such as a range, a partition, or a fan-out.
    ///
    /// To read a single entity, use [`get`](Self::get). To read the entire table, use [`scan`](Self::scan). A selection from an index reads the copies in the
    /// index's table.
    pub fn query<C: PagedOf<E>, F: Source>(
        &self,
        partition_or_rows: impl IntoSelection<E, C, F>,
    ) -> EntityQuery<E, S, E, F> {
        let selection = partition_or_rows.into_selection();
        let class = selection.class();
        self.query_ranges(selection.into_ranges(), class)
    }

    pub(crate) fn query_ranges<F: Source>(
        &self,
        ranges: Result<Vec<KeyRange>>,
        class: QueryClass,
    ) -> EntityQuery<E, S, E, F> {
        let mut paging = Paging::new(ranges);
        paging.select = E::select();
        paging.is_mixed = F::INDEX.is_none() && E::IS_MIXED;
        paging.around = E::AROUND.filter(|_| F::INDEX.is_none());
        let table = request::table_of::<F>(self.name()).map(Cow::into_owned);
        EntityQuery {
            source: PageSource::new(self.store.clone(), table),
            paging,
            class,
            of: PhantomData,
            from: PhantomData,
        }
    }

    pub(super) fn source(&self) -> PageSource<S> {
        PageSource::new(self.store.clone(), self.name.clone())
    }
}

impl<E, S: TableStore + Clone, T> EntityQuery<E, S, T> {
    /// Reads the rows as members of an entity set. The query returns all rows with the selected keys, and recognises each row by its key or kind (PAT-HET-4). A
    /// row that belongs to no member is read as a [`TableEntity`](crate::TableEntity) (PAT-HET-6).
    pub fn read_as<U: SetOf<E>>(self) -> EntityQuery<E, S, U> {
        self.reading()
    }
}

impl<E, S: TableStore + Clone, T, F: Source> EntityQuery<E, S, T, F> {
    /// Adds a condition. The query returns only entities that satisfy every condition.
    ///
    /// A filter reduces the number of results, but not the number of rows read. It therefore does not change the cost class (CLS-4).
    ///
    /// A query on an index fails with `InvalidInput` if the condition uses a property that the index does not copy.
    pub fn filter(mut self, condition: impl IntoCondition<E>) -> Self {
        let filter = condition.into_condition().into_filter();
        if let Some(error) = F::INDEX.and_then(|index| not_stored(index, &filter))
            && self.paging.ranges.is_ok()
        {
            self.paging.ranges = Err(error);
        }
        self.paging.and(filter);
        self
    }

    /// Sets the maximum number of entities in a page. It must be at least 1, and is 1,000 by default (TOP-1). Each page is one request. To limit the total
    /// number of entities, use [`limit`](Self::limit).
    pub const fn page_size(mut self, entities: usize) -> Self {
        self.paging.top = Some(entities);
        self
    }

    /// Sets the maximum number of entities in total. It must be at least 1. The limit applies to [`stream`](Self::stream) and the `collect` functions, but not
    /// to a single [`page`](Self::page).
    pub fn limit(mut self, entities: usize) -> Self {
        self.paging.limit(entities);
        self
    }

    /// Reads the entities as a different type. Only the properties of that type are requested (DQ-13).
    pub fn project<P: ProjectionOf<E>>(self) -> EntityQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        self.reading()
    }

    fn reading<P>(self) -> EntityQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        let mut paging = self.paging;
        paging.select = F::select();
        paging.is_mixed = F::IS_MIXED;
        paging.around = F::AROUND;
        EntityQuery { source: self.source, paging, class: self.class, of: PhantomData, from: PhantomData }
    }

    /// Adds a check of an entity type's stored schema, which runs before the query's first request. `table` is the table that stores this type. If the check
    /// fails, the query returns its error.
    #[doc(hidden)]
    pub fn with_schema_check(
        mut self,
        (table, entity): (TableName, &'static str),
        check: CheckRecord,
    ) -> Self {
        self.source.check = Some(SchemaCheck { table, entity, check });
        self
    }

    /// Returns the cost class of the query (CLS-1).
    #[must_use]
    pub const fn class(&self) -> QueryClass {
        self.class
    }

    /// Returns the plan of the query, computed without I/O (design promise 2).
    ///
    /// # Errors
    /// `KeyEncoding` if a value of the selection cannot be encoded in a key.
    pub fn plan(&self) -> Result<Plan> {
        Ok(request::with_index::<F>(Plan::new(self.source.table()?, self.class, &self.paging.queries()?)))
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F> {
    pub(crate) fn with_select(mut self, select: Select) -> Self {
        self.paging.select = select;
        self
    }

    pub(crate) fn with_filter(mut self, filter: Filter) -> Self {
        self.paging.and(filter);
        self
    }
}

/// Returns an error if a condition uses a property that the index does not copy. Such a condition would never match.
fn not_stored(index: &IndexSchema, filter: &Filter) -> Option<Error> {
    let names = filter.terms().iter().filter_map(|term| match term {
        Term::Compare { name, .. } | Term::Bool(name) => Some(name.as_ref()),
        Term::And | Term::Or | Term::Not => None,
    });
    let mut missing = names.filter(|name| {
        let is_stored = index.properties.iter().any(|property| property.name == *name);
        !is_stored && !matches!(*name, "PartitionKey" | "RowKey" | "Timestamp")
    });
    missing.next().map(|name| {
        let fault = TableFault::NotInIndex { index: index.name, name: name.to_owned() };
        Error::of(fault).with_property(name)
    })
}

impl<E, S: Clone, T, F> Clone for EntityQuery<E, S, T, F> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            paging: self.paging.clone(),
            class: self.class,
            of: PhantomData,
            from: PhantomData,
        }
    }
}

impl<E, S: fmt::Debug, T, F> fmt::Debug for EntityQuery<E, S, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityQuery")
            .field("source", &self.source)
            .field("paging", &self.paging)
            .field("class", &self.class)
            .finish()
    }
}
