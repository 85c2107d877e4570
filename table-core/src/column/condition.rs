//! Conditions on typed columns.

use std::marker::PhantomData;

use crate::column::{BoolColumn, Column};
use crate::filter::{Comparison, Filter};

/// A [`Filter`] on the entity `E`, built from its typed columns.
///
/// ```
/// use table_core::column::Condition;
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32, email: Option<String> }
///
/// let reachable: Condition<Employee> = Employee::AGE.ge(18).and(Employee::EMAIL.ne(""));
/// assert_eq!(reachable.into_filter().to_string(), "Age ge 18 and Email ne ''");
/// ```
#[must_use = "a condition has no effect until it is passed to a query; write `query.filter(condition)`"]
pub struct Condition<E> {
    filter: Filter,
    of: PhantomData<fn() -> E>,
}

impl<E> Condition<E> {
    /// Wraps a filter without checking that its names and types match the entity.
    pub const fn from_filter(filter: Filter) -> Self {
        Self { filter, of: PhantomData }
    }

    /// Creates a condition that matches if all conditions match. An empty list matches every entity.
    ///
    /// ```
    /// use table_core::column::{Column, Condition};
    ///
    /// struct Employee;
    /// const AGE: Column<Employee, i32> = Column::new("Age");
    /// let adults = Condition::all([AGE.ge(18), AGE.lt(65)]);
    /// assert_eq!(adults.into_filter().to_string(), "Age ge 18 and Age lt 65");
    /// ```
    pub fn all(conditions: impl IntoIterator<Item = Self>) -> Self {
        conditions.into_iter().reduce(Self::and).unwrap_or_else(|| Self::of_every_key(Comparison::Ge))
    }

    /// Creates a condition that matches if at least one of the conditions matches. An empty list matches no entity.
    pub fn any(conditions: impl IntoIterator<Item = Self>) -> Self {
        conditions.into_iter().reduce(Self::or).unwrap_or_else(|| Self::of_every_key(Comparison::Lt))
    }

    /// Returns a condition that matches all entities or none, depending on `operator`. It compares the `PartitionKey` with the empty string, which sorts before
    /// all other strings.
    fn of_every_key(operator: Comparison) -> Self {
        Self::from_filter(Filter::compare("PartitionKey", operator, ""))
    }

    /// Returns the condition as an untyped filter.
    #[must_use]
    pub fn into_filter(self) -> Filter {
        self.filter
    }

    /// Creates a condition that matches if both conditions match.
    pub fn and(self, other: impl IntoCondition<E>) -> Self {
        Self::from_filter(self.filter.and(other.into_condition().filter))
    }

    /// Creates a condition that matches if at least one of the conditions matches.
    pub fn or(self, other: impl IntoCondition<E>) -> Self {
        Self::from_filter(self.filter.or(other.into_condition().filter))
    }
}

impl<E> Clone for Condition<E> {
    fn clone(&self) -> Self {
        Self::from_filter(self.filter.clone())
    }
}

impl<E> std::fmt::Debug for Condition<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.filter.fmt(f)
    }
}

/// A value that can be passed to `filter` for an entity `E`. It is a [`Condition`], or a `bool` column that must be `true`.
///
/// ```
/// use table_core::column::{Column, IntoCondition};
///
/// /// Returns the text of a condition.
/// fn text<E>(condition: impl IntoCondition<E>) -> String {
///     condition.into_condition().into_filter().to_string()
/// }
/// struct Employee;
/// const AGE: Column<Employee, i32> = Column::new("Age");
/// const ACTIVE: Column<Employee, bool> = Column::new("Active");
/// assert_eq!(text(AGE.ge(18)), "Age ge 18");
/// assert_eq!(text(ACTIVE), "Active");
/// ```
#[diagnostic::on_unimplemented(
    message = "[T096] `{Self}` is not a condition on `{E}`: a filter runs in the store, and takes comparisons of its columns",
    label = "write a comparison of a column of `{E}`; to filter by a closure `f`, read first: `.collect().await?.into_iter().filter(f)`",
    note = "columns are constants of `{E}`, the names of its fields in capitals, with `eq`, `ne`, `gt`, `ge`, `lt`, `le`, `is_in` and `starts_with`",
    note = "conditions are combined by `&`, `|` and `!`; a `list` or an `Option` of conditions is one condition: \
            `table_patterns::Condition::all(list)`, `table_patterns::Condition::any(list)`; a column of `bool` is a condition itself",
    note = "a text in OData is parsed: `Filter::parse(text)?` is `None` for an empty text, and `Condition::from_filter` takes the filter"
)]
pub trait IntoCondition<E> {
    /// Converts the value into a condition on the entity `E`.
    fn into_condition(self) -> Condition<E>;
}

#[diagnostic::do_not_recommend]
impl<E> IntoCondition<E> for Condition<E> {
    fn into_condition(self) -> Self {
        self
    }
}

/// A `bool` column is a condition that matches if the property is `true`.
#[diagnostic::do_not_recommend]
impl<E, T: BoolColumn, K> IntoCondition<E> for Column<E, T, K> {
    fn into_condition(self) -> Condition<E> {
        self.is_true()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Matcher;
    use crate::query::EntityRef;
    use crate::row::RowWriter;

    struct Thing;

    const SIZE: Column<Thing, i32> = Column::new("Size");

    #[test]
    fn an_empty_list_of_conditions_matches_all_or_none() {
        let row = RowWriter::new().finish();
        let matches = |condition: Condition<Thing>| {
            let filter = condition.into_filter();
            ["", "p"].map(|key| Matcher::new(&filter).matches(EntityRef::new(key, "", row.view())).unwrap())
        };
        assert_eq!(matches(Condition::all([])), [true; 2]);
        assert_eq!(matches(Condition::any([])), [false; 2]);
        assert_eq!(matches(SIZE.is_in([0; 0])), [false; 2]);
    }
}
