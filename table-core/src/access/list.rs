//! The macro that declares access patterns.

/// Declares the queries on an entity's table, each with a name, a maximum cost and a selection.
///
/// ```
/// use table_core::query::QueryClass;
/// use table_core::selection::Copies;
/// use table_core::{Engine, Entity, TableStoreExt, access_patterns};
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", digits(6, id))]
/// #[index(ByEmail, unique, table = "Emails", row_key("email_", email))]
/// pub struct Employee {
///     department: String,
///     id: u32,
///     email: String,
/// }
///
/// access_patterns! {
///     /// Queries of the personnel office.
///     pub Personnel for Employee {
///         /// One employee.
///         by_id(department: &str, id: u32) <= point = Employee::key(department, id);
///         /// The employees with numbers below 100.
///         founders(department: &str) <= range = Employee::rows(department).id(..100);
///         /// The employee with the given e-mail address.
///         by_email(department: &str, email: &str) <= point from Copies<EmployeeByEmail> =
///             Employee::by_email(department, email);
///         /// All employees, for the yearly audit.
///         audit() <= scan = Employee::scan("the yearly audit");
///     }
/// }
///
/// let employees = Engine::in_memory().table::<Employee>();
/// assert_eq!(employees.plan(Personnel::by_id("Sales", 223))?.class, QueryClass::Point);
/// assert_eq!(employees.query(Personnel::founders("Sales")).plan()?.class, QueryClass::Range);
///
/// let [by_id, _, by_email, audit] = Personnel::PATTERNS else { panic!("four are declared") };
/// assert_eq!((by_id.name, by_id.doc, by_id.arguments), ("by_id", "One employee.", &["department", "id"][..]));
/// assert_eq!((by_email.index, by_email.table), (Some("ByEmail"), "Emails"));
/// assert_eq!((audit.entity, audit.ceiling), ("Employee", QueryClass::TableScan));
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// The macro expands to an empty enum. Each pattern becomes a function that returns the selection and has the visibility of the enum. The constant `PATTERNS`
/// describes all patterns in declaration order, each as an [`AccessPattern`](crate::access::AccessPattern).
///
/// # Ceilings
///
/// The ceilings, from cheapest to most expensive (CLS-1, [`WithinCeiling`](crate::access::WithinCeiling)):
///
/// - `point`: one lookup;
/// - `range`: a `point`, or a range of rows in one partition;
/// - `partition`: a `range`, or all rows of one partition;
/// - `partitions`: a `partition`, or a range of partitions;
/// - `fanout(n)`: a `partition`, or up to `n` partitions or ranges with at least one request each;
/// - `scan`: every selection.
///
/// A selection that costs more than its ceiling does not compile. For example, `fanout(n)` does not compile for a partition key with more than `n` buckets. A
/// fan-out built at run time may have more than `n` ranges. Using it then returns an error.
///
/// ```compile_fail
/// # use table_core::{Entity, access_patterns};
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, id: u32 }
/// access_patterns! {
///     Personnel for Employee {
///         everyone(department: &str) <= range = Employee::partition(department); // a whole partition
///     }
/// }
/// ```
///
/// A selection has the class of its ceiling even if it is cheaper. Callers therefore still compile if the pattern later becomes as expensive as declared.
///
/// A pattern that reads an index declares that index as its source: `from Copies<EmployeeByEmail>`, or `from Lists<…>`.
#[macro_export]
macro_rules! access_patterns {
    (
        $(#[$attribute:meta])*
        $vis:vis $list:ident for $entity:ty {$(
            $(#[doc = $doc:literal])*
            $name:ident($($argument:ident: $ty:ty),* $(,)?) $(<= $ceiling:ident $(($most:expr))?)? $(from $source:ty)?
                = $selection:expr;
        )*}
    ) => {
        $(#[$attribute])*
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        $vis enum $list {}

        #[allow(dead_code, reason = "generated: the list is data even if a function of it is not called")]
        impl $list {
            /// The access patterns, in declaration order.
            $vis const PATTERNS: &'static [$crate::access::AccessPattern] = &[$({
                const INDEX: ::core::option::Option<&'static $crate::schema::IndexSchema> =
                    <$crate::access_patterns!(@source $($source)?) as $crate::selection::Source>::INDEX;
                const ENTITY: &$crate::schema::EntitySchema = <$entity as $crate::Entity>::SCHEMA;
                const CEILING: $crate::query::QueryClass =
                    $crate::access_patterns!(@ceiling $name $($ceiling $($most)?)?);
                const _: () = $crate::__private::access_at!(
                    $name $crate::__private::require_fan_out(::core::stringify!($name), ENTITY, INDEX, CEILING)
                );
                $crate::access::AccessPattern {
                    name: ::core::stringify!($name),
                    doc: ::core::concat!($($doc, "\n"),*).trim_ascii(),
                    arguments: &[$(::core::stringify!($argument)),*],
                    entity: ENTITY.entity,
                    table: $crate::__private::table_name(ENTITY, INDEX),
                    ceiling: CEILING,
                    index: $crate::__private::index_name(INDEX),
                }
            }),*];

            $(
                $(#[doc = $doc])*
                $vis fn $name($($argument: $ty),*) -> $crate::selection::Selection<
                    $entity,
                    $crate::access_patterns!(@class $($ceiling)?),
                    $crate::access_patterns!(@source $($source)?),
                > {
                    let asked = $crate::access::Asked::<$entity, $crate::access_patterns!(@source $($source)?)>::of(
                        ::core::stringify!($name),
                    );
                    $crate::access_patterns!(@ask $($ceiling $ceiling $(($most))?)? asked, $selection)
                }
            )*
        }
    };

    (@source) => { $crate::selection::Primary };
    (@source $source:ty) => { $source };

    (@class point) => { $crate::selection::Point };
    (@class range) => { $crate::selection::RowRange };
    (@class partition) => { $crate::selection::Partition };
    (@class partitions) => { $crate::selection::PartitionRange };
    (@class fanout) => { $crate::selection::FanOut };
    // `Scan` is also used for an invalid or missing ceiling, which `@ceiling` reports as an error. Every selection is within the ceiling of a scan, so rustc
    // reports no second error.
    (@class) => { $crate::selection::Scan };
    (@class $other:ident) => { $crate::selection::Scan };

    // The ceiling's name is passed twice. One copy is matched, and the other is a token that keeps its position in the declaration.
    (@ask fanout $word:ident ($most:expr) $asked:ident, $selection:expr) => { $asked.$word($most, $selection) };
    (@ask point $word:ident $asked:ident, $selection:expr) => { $asked.$word($selection) };
    (@ask range $word:ident $asked:ident, $selection:expr) => { $asked.$word($selection) };
    (@ask partition $word:ident $asked:ident, $selection:expr) => { $asked.$word($selection) };
    (@ask partitions $word:ident $asked:ident, $selection:expr) => { $asked.$word($selection) };
    (@ask scan $word:ident $asked:ident, $selection:expr) => { $asked.$word($selection) };
    (@ask fanout $word:ident $asked:ident, $selection:expr) => { $asked.$word(0, $selection) };
    (@ask $asked:ident, $selection:expr) => { $asked.scan($selection) };
    (@ask $other:ident $word:ident $(($most:expr))? $asked:ident, $selection:expr) => { $asked.scan($selection) };

    (@ceiling $name:ident point) => { $crate::query::QueryClass::Point };
    (@ceiling $name:ident range) => { $crate::query::QueryClass::Range };
    (@ceiling $name:ident partition) => { $crate::query::QueryClass::PartitionScan };
    (@ceiling $name:ident partitions) => { $crate::query::QueryClass::PartitionRange };
    (@ceiling $name:ident fanout $most:expr) => { $crate::query::QueryClass::FanOut($most) };
    (@ceiling $name:ident scan) => { $crate::query::QueryClass::TableScan };
    (@ceiling $name:ident) => { $crate::__private::access_ceiling!($name) };
    (@ceiling $name:ident $other:ident $($most:expr)?) => { $crate::__private::access_ceiling!($name $other $(($most))?) };

    ($($other:tt)*) => { $crate::__private::access_list!($($other)*); };
}
