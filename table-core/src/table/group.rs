//! Groups of related entities, read by one range query (PAT-CK-1).

use futures_util::TryStreamExt;
use table_store::Result;

use crate::entity::Entity;
use crate::group::GroupOf;
use crate::group::sealed::Sealed as _;
use crate::query::{KeyRange, Plan, Query, QueryClass};
use crate::selection::Selection;
use crate::store::TableStore;
use crate::table::{Paging, Table};

impl<E: Entity, S: TableStore + Clone> Table<E, S> {
    /// Reads a group of entities into the fields of `G`. The group consists of all rows whose keys start with the owner's key, or of all rows in the owner's
    /// partition.
    ///
    /// The function sends one range query, whose bounds are derived from the types. A row in the range that belongs to no field causes an error (PAT-HET-6). A
    /// group that spans several pages is not a snapshot (CON-9).
    ///
    /// If the owner's RowKey is empty, a second query is sent at the same time. The rows of the partition may sort both before and after the keys reserved for
    /// patterns ([`RESERVED`](crate::key::text::RESERVED)), and the second query reads the rows after these keys.
    ///
    /// ```
    /// # use table_core::{Entity, EntityGroup, Table, TableStoreExt, embedded::Engine};
    /// # use table_core::group::{Many, One};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Company")]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Company")]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", employee, "_", year)]
    /// # struct Review { department: String, #[digits(6)] employee: u32, #[digits(4)] year: u16, rating: i32 }
    /// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
    /// # let review = Review { department: "Sales".into(), employee: 223, year: 2012, rating: 5 };
    /// #[derive(EntityGroup)]
    /// #[entity_group(under = Employee)]
    /// struct EmployeeWithReviews {
    ///     employee: One<Employee>,
    ///     reviews: Many<Review>,
    /// }
    ///
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// let mut both = employees.transaction(&ada)?;
    /// both.insert(&ada)?.insert(&review)?; // both rows or none (PAT-CK-3)
    /// both.commit().await?;
    /// let group: EmployeeWithReviews = employees.read_group(Employee::key("Sales", 223)).await?;
    /// assert_eq!((group.employee.age, group.reviews.len()), (36, 1));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from [`EntityGroup::from_rows`](crate::group::EntityGroup::from_rows) or from a query.
    pub async fn read_group<G: GroupOf<E>>(&self, named: Selection<E, G::Named>) -> Result<G> {
        let ranges =
            named.into_ranges().map(|ranges| ranges.into_iter().flat_map(G::Named::ranges).collect());
        let pages: Vec<_> = self.source().pages(&Paging::new(ranges)).try_collect().await?;
        let rows = pages.iter().flat_map(|page| page.rows.iter());
        G::from_rows(rows).map_err(|error| self.in_table(error))
    }

    /// Returns the plan for [reading a group](Self::read_group), computed without I/O (design promise 2).
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn plan_group<G: GroupOf<E>>(&self, named: Selection<E, G::Named>) -> Result<Plan> {
        let queries: Vec<Query> =
            named.into_ranges()?.into_iter().flat_map(G::Named::ranges).map(Query::new).collect();
        let class = queries.first().map_or(QueryClass::Range, |query| KeyRange::class(&query.keys));
        Ok(Plan::new(self.name()?, class, &queries))
    }
}
