//! Placeholders for methods that other libraries offer on columns. Calling one is a compile error that suggests the right method.

use std::cmp::Ordering;

use crate::column::forms::IsProperty;
use crate::column::{Column, Condition, KeyColumn};
use crate::refused::{Refused, refused_by_name, refused_methods};

/// Never implemented, so a call to a method such as `contains` or `ends_with` is a compile error. The message explains that a filter compares only whole values
/// and prefixes.
#[diagnostic::on_unimplemented(
    message = "[T098] a filter cannot search within texts",
    label = "the service compares whole values and prefixes",
    note = "use `starts_with`, or `eq`; for anything else read the entities and filter them, or store the searched words as keys of an index"
)]
pub trait Searchable {}

/// Declares traits that no column implements. The message of each trait suggests the comparison to write instead.
macro_rules! named_otherwise {
    ($($(#[$docs:meta])* $bound:ident: $form:literal, $note:literal;)*) => {$(
        $(#[$docs])*
        #[diagnostic::on_unimplemented(
            message = "[T197] a column of `{E}` has no comparison of this name",
            label = $form,
            note = $note
        )]
        pub trait $bound<E> {}
    )*};
}

named_otherwise! {
    /// Required by other libraries' comparison methods, such as `equals`.
    Compares: "write `eq`, `ne`, `gt`, `ge`, `lt` or `le`", "the column and the value stay the same: `{E}::….eq(…)`";
    /// Required by methods that compare with a range, such as `between`.
    Ranges: "write `{E}::….ge(…).and({E}::….le(…))`", "a range is two comparisons of the same column, with its smallest and its largest value";
    /// Required by the equivalents of `is_in` in other libraries.
    Lists: "write `is_in`", "the values stay the same: `{E}::….is_in([…])`";
    /// Required by methods that negate `is_in`.
    ListsOthers: "write `is_in([…])`, and `!` before the column", "`!{E}::….is_in([…])` matches the entities whose property is none of the values";
    /// Required by the equivalents of `starts_with` in other libraries.
    Begins: "write `starts_with`", "`{E}::….starts_with(\"…\")` matches the texts that start with a prefix";
    /// Required by methods that combine conditions, such as `and`, when called on a column.
    Combines: "write a comparison first: `{E}::….eq(…).and(…)`", "a column of `bool` is a condition itself: `{E}::… & {E}::….eq(…)`, and `!{E}::…`";
    /// Required by the equivalents of `is_absent` in other libraries.
    Absent: "write `is_absent()`", "`{E}::….is_absent()` matches the entities that lack the property";
    /// Required by methods that negate `is_absent`.
    Present: "write `is_absent()`, and `!` before the column", "`!{E}::….is_absent()` matches the entities that have the property";
}

/// Never implemented, so a call to a method such as `to_lowercase` or `year` is a compile error. The message explains that a filter compares stored values
/// without transforming them.
#[diagnostic::on_unimplemented(
    message = "[T235] a filter compares the stored values of a column of `{E}`, and computes none from them",
    label = "write the comparison of the column itself: `{E}::….eq(…)`",
    note = "a range of dates or numbers is two comparisons: `{E}::….ge(…) & {E}::….lt(…)`",
    note = "to compare a computed value, store it as a property of its own, or read the entities and filter them"
)]
pub trait ComputesValues<E>: Refused {}

macro_rules! of_key {
    ($($name:ident)*) => {
        impl<E, T> KeyColumn<E, T> {$(
            #[doc(hidden)]
            pub fn $name<V>(self, _value: V) -> Condition<E>
            where
                Self: IsProperty<E>,
            {
                Condition::any([])
            }
        )*}
    };
}

of_key! { eq ne gt ge lt le is_in starts_with }

macro_rules! searching {
    ($($name:ident)*) => {
        impl<E, T, K> Column<E, T, K> {$(
            #[doc(hidden)]
            pub fn $name<V>(self, _value: V) -> Condition<E>
            where
                Self: Searchable,
            {
                Condition::any([])
            }
        )*}
    };
}

searching! { contains icontains ends_with like ilike not_like matches regex search has endswith suffix }

macro_rules! compared {
    ($($bound:ident: $($name:ident($($value:ident: $type:ident),*))*;)*) => {
        impl<E, T, K> Column<E, T, K> {$($(
            #[doc(hidden)]
            pub fn $name<$($type),*>(self, $($value: $type),*) -> Condition<E>
            where
                Self: $bound<E>,
            {
                Condition::any([])
            }
        )*)*}
    };
}

compared! {
    Compares: equals(_value: V) not_equals(_value: V) neq(_value: V) not_eq(_value: V) not_equal(_value: V) equal(_value: V) greater_than(_value: V) gte(_value: V) less_than(_value: V) lte(_value: V);
    Absent: is_none() is_null() is_missing();
    Present: is_some() is_not_null() exists();
}

impl<E, T, K> Column<E, T, K>
where
    Self: Lists<E>,
{
    refused_by_name! { in_ in_list any_of is_any_of within eq_any_of contained_in eq_any one_of in_values in_array includes }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Compares<E>,
{
    refused_by_name! {
        equal_to is_equal_to not_equal_to greater_than_or_equal greater_than_or_equal_to greater_or_equal less_than_or_equal less_than_or_equal_to
        less_or_equal at_least at_most gteq lteq noteq after before is_greater_than is_less_than
    }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Ranges<E>,
{
    refused_by_name! { between not_between in_range is_between }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Absent<E>,
{
    refused_by_name! { attribute_not_exists not_exists is_nil }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Present<E>,
{
    refused_by_name! { attribute_exists has_value is_present is_not_none }
}

impl<E, T, K> Column<E, T, K>
where
    Self: ListsOthers<E>,
{
    refused_by_name! { not_in is_not_in not_in_ ne_all ne_any none_of }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Begins<E>,
{
    refused_by_name! { begins_with startswith has_prefix prefix begins }
}

impl<E, T, K> Column<E, T, K>
where
    Self: Combines<E>,
{
    refused_by_name! { and or is_false }
}

impl<E, T, K> Column<E, T, K> {
    refused_methods! {
        ComputesValues<E>: len();
    }
}

impl<E, T, K> Column<E, T, K>
where
    Self: ComputesValues<E>,
{
    refused_by_name! {
        as_str to_lowercase to_uppercase lower upper trim length is_empty year month day hour minute date time abs round floor ceil
        modulo concat coalesce increment avg distinct size
    }
}

/// Sorting methods with the names used by other libraries. They compile and return the column. Passing the column to a query's `order_by` is an error anyway,
/// and the message of that error is sufficient.
impl<E, T, K> Column<E, T, K> {
    #[doc(hidden)]
    #[must_use]
    pub const fn asc(self) -> Self {
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn desc(self) -> Self {
        self
    }
}

/// Implements the comparison operators for columns. They return a `bool` instead of a condition. If that `bool` is passed to `filter`, rustc reports T096.
/// Elsewhere, instantiating the comparison is a compile error.
macro_rules! by_operator {
    ($([$($parameter:ident),*] $column:ty;)*) => {$(
        #[doc(hidden)]
        impl<$($parameter,)* V> PartialEq<V> for $column {
            fn eq(&self, _: &V) -> bool {
                const { refuse_operator::<Self>() };
                false
            }
        }

        #[doc(hidden)]
        impl<$($parameter,)* V> PartialOrd<V> for $column {
            fn partial_cmp(&self, _: &V) -> Option<Ordering> {
                const { refuse_operator::<Self>() };
                None
            }
        }
    )*};
}

by_operator! {
    [E, T, K] Column<E, T, K>;
    [E, T] KeyColumn<E, T>;
}

/// Panics at compile time for every column `C`. The panic depends on the type parameter, so rustc evaluates it only if a program contains the comparison.
const fn refuse_operator<C>() {
    assert!(
        size_of::<C>() == usize::MAX,
        "[T096] a column is compared by `eq`, `ne`, `gt`, `ge`, `lt` and `le`, because an operator has a `bool` as its result"
    );
}
