//! Types that state whether an index is strongly or eventually consistent with its entities.

use crate::reported::reported_once;

/// The consistency of a source (the entities or an index), as a type.
///
/// The trait is sealed. A source is [`StronglyConsistent`] if its rows are written in the same transaction as the entities. Otherwise, it is
/// [`EventuallyConsistent`].
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), include(age))]
/// # #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     last_name: String,
/// #     email: String,
/// #     age: i32,
/// # }
/// use table_core::index::{Consistency, EventuallyConsistent, Index, StronglyConsistent};
///
/// /// Returns the hint that a page shows for results of an index.
/// fn hint<C: Consistency>() -> &'static str
/// where
///     C: Hint,
/// {
///     C::TEXT
/// }
/// trait Hint {
///     const TEXT: &'static str;
/// }
/// impl Hint for StronglyConsistent {
///     const TEXT: &'static str = "";
/// }
/// impl Hint for EventuallyConsistent {
///     const TEXT: &'static str = "as of a moment ago";
/// }
/// assert_eq!(hint::<<EmployeeByEmail as Index>::Consistency>(), "");
/// assert_eq!(hint::<<EmployeeByLastName as Index>::Consistency>(), "as of a moment ago");
/// ```
pub trait Consistency: sealed::Sealed + 'static {}

/// The consistency of entities, and of indexes in the same partition as their entities. An entity and its rows in such an index are written in one transaction
/// (PAT-INTRA-4).
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), include(age))]
/// # #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     last_name: String,
/// #     email: String,
/// #     age: i32,
/// # }
/// use table_core::index::{Index, StronglyConsistent};
///
/// /// Accepts indexes whose rows are never stale.
/// fn answers_at_once<I: Index<Consistency = StronglyConsistent>>() {}
/// answers_at_once::<EmployeeByEmail>(); // stored in the employee's partition
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StronglyConsistent {}

/// The consistency of an index in another partition or table. Such an index is updated after the entities, and may be stale (PAT-INTER-3).
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), include(age))]
/// # #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     last_name: String,
/// #     email: String,
/// #     age: i32,
/// # }
/// use table_core::index::{EventuallyConsistent, Index};
///
/// /// Accepts indexes whose results must be verified.
/// fn wants_verification<I: Index<Consistency = EventuallyConsistent>>() {}
/// wants_verification::<EmployeeByLastName>(); // stored in another table
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventuallyConsistent {}

/// The consistency required by `get`, `query` and `get_by_index` of `table_patterns::Entities`. Only [`StronglyConsistent`] implements it.
///
/// ```
/// use table_core::index::{ReadAtOnce, StronglyConsistent};
///
/// fn is_never_stale<E, C: ReadAtOnce<E>>() -> bool {
///     true
/// }
/// assert!(is_never_stale::<(), StronglyConsistent>()); // `EventuallyConsistent` does not compile: T249
/// ```
#[diagnostic::on_unimplemented(
    message = "[T249] an index of `{E}` in another partition or table may be stale, and is read by a separate method",
    label = "write `get_eventual(…)` for one entity, or `query_eventual(…)` for several",
    note = "a projection is read by `get_eventual_as`, and an `#[index_entity(…)]` by `get_by_index_eventual`",
    note = "`get_eventual({E}::…(…)).await?` is an `Option` of an `Eventual`; `found.primary(&entities).await?` reads the entity itself"
)]
pub trait ReadAtOnce<E>: Consistency {
    /// Exists only if the consistency implements this trait, so rustc reports a violated bound only once.
    #[doc(hidden)]
    type Checked;
}

impl<E> ReadAtOnce<E> for StronglyConsistent {
    type Checked = ();
}

/// The consistency required by `get_eventual`, `query_eventual` and `get_by_index_eventual` of `table_patterns::Entities`. Only [`EventuallyConsistent`]
/// implements it.
///
/// ```
/// use table_core::index::{EventuallyConsistent, ReadLater};
///
/// fn may_be_stale<E, C: ReadLater<E>>() -> bool {
///     true
/// }
/// assert!(may_be_stale::<(), EventuallyConsistent>()); // `StronglyConsistent` does not compile: T249
/// ```
#[diagnostic::on_unimplemented(
    message = "[T249] an entity `{E}`, and an index in its partition, are never stale, and are read by `get` and `query`",
    label = "write `get(…)` for one entity, or `query(…)` for several",
    note = "a projection is read by `get_as`, and an `#[index_entity(…)]` by `get_by_index`",
    note = "`get_eventual` and `query_eventual` read indexes in other partitions and tables"
)]
pub trait ReadLater<E>: Consistency {
    /// Exists only if the consistency implements this trait, so rustc reports a violated bound only once.
    #[doc(hidden)]
    type Checked;
}

impl<E> ReadLater<E> for EventuallyConsistent {
    type Checked = ();
}

reported_once! {
    ReportedAtOnce<E>: ReadAtOnce, Checked;
    ReportedLater<E>: ReadLater, Checked;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for StronglyConsistent {}
impl sealed::Sealed for EventuallyConsistent {}
impl Consistency for StronglyConsistent {}
impl Consistency for EventuallyConsistent {}
