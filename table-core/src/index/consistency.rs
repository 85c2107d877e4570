//! Consistency of an index, as a type: transactional or eventual.

/// The consistency of a source, as a type. Sealed: [`InStep`] if the source changes in the same transaction as its entities, otherwise [`Behind`].
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
/// use table_core::index::{Behind, Consistency, InStep, Index};
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
/// impl Hint for InStep {
///     const TEXT: &'static str = "";
/// }
/// impl Hint for Behind {
///     const TEXT: &'static str = "as of a moment ago";
/// }
/// assert_eq!(hint::<<EmployeeByEmail as Index>::Consistency>(), "");
/// assert_eq!(hint::<<EmployeeByLastName as Index>::Consistency>(), "as of a moment ago");
/// ```
pub trait Consistency: sealed::Sealed + 'static {}

/// Entities, and indexes in their partition: both change in one transaction (PAT-INTRA-4).
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
/// use table_core::index::{InStep, Index};
///
/// /// Accepts indexes whose rows are never stale.
/// fn answers_at_once<I: Index<Consistency = InStep>>() {}
/// answers_at_once::<EmployeeByEmail>(); // in the partition of its employee
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InStep {}

/// An index in another partition or table. Such an index is updated after the entities and may be stale (PAT-INTER-3).
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
/// use table_core::index::{Behind, Index};
///
/// /// Accepts indexes whose results must be verified.
/// fn wants_verification<I: Index<Consistency = Behind>>() {}
/// wants_verification::<EmployeeByLastName>(); // stored in another table
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for InStep {}
impl sealed::Sealed for Behind {}
impl Consistency for InStep {}
impl Consistency for Behind {}
