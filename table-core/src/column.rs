//! Typed columns represent the properties of an entity, with their names and types. Conditions compare them with values.

mod computed;
mod condition;
mod forms;
mod key;
mod operand;
mod operators;
mod refused;
mod role;

use std::marker::PhantomData;

use table_store::fnv::fnv1a64;

use crate::filter::{Comparison, Filter};
use crate::key::order;
pub use condition::{Condition, IntoCondition};
#[doc(hidden)]
pub use forms::{ShowsConditions, ShowsKey};
pub use key::KeyColumn;
pub use operand::{BoolColumn, Operand, Operands, Text};
#[doc(hidden)]
pub use operand::{Itself, WithoutOption};
pub use role::{Indexed, IsType, OfKey, OutsideKey, Patchable, Plain, Projected, Settable};

/// A property of type `T` in the entity `E`, such as `Employee::AGE`. `#[derive(Entity)]` creates a constant for each property.
///
/// Constants in conditions have the Edm type of the column (FIL-15, FIL-16). A comparison does not compile if the types can never match.
///
/// ```
/// use table_core::Column;
///
/// struct Employee;
/// const AGE: Column<Employee, i32> = Column::new("Age");
/// const BADGE: Column<Employee, i64> = Column::new("Badge");
/// const LAST_NAME: Column<Employee, Option<String>> = Column::new("LastName");
///
/// let condition = AGE.ge(30).and(LAST_NAME.starts_with("Jo")).and(!BADGE.eq(7));
/// let text = "Age ge 30 and (LastName ge 'Jo' and LastName lt 'Jp') and not (Badge eq 7L)";
/// assert_eq!(condition.into_filter().to_string(), text);
/// ```
///
/// The marker `K` depends on the role of the property. It is [`OfKey`] if the key depends on the property, [`Indexed`] if an index may depend on it, and
/// otherwise [`Plain`]. A patch of a [`Table`](crate::Table) can set plain columns only.
pub struct Column<E, T, K = Plain> {
    name: &'static str,
    of: PhantomData<Of<E, T, K>>,
}

/// The type parameters of a column, which are the entity, the value and the marker. They form a function type for `PhantomData`.
type Of<E, T, K> = fn() -> (E, T, K);

impl<E, T, K> Column<E, T, K> {
    /// Creates a column with this property name. Only generated code calls this function, because the name and the type must match the entity.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, of: PhantomData }
    }

    /// Returns a hash of the property's name. It identifies the property in const generic arguments. Called by generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn number(&self) -> u64 {
        fnv1a64(self.name.as_bytes())
    }

    /// Returns `false`, because this column is not a key field. Called by generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_of_key(&self) -> bool {
        false
    }

    /// Returns the name of the property.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    fn compare<As>(self, operator: Comparison, value: impl Operand<T, As>) -> Condition<E> {
        Condition::from_filter(value.into_filter(self.name, operator))
    }

    /// Matches entities whose property equals the value.
    pub fn eq<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Eq, value)
    }

    /// Matches entities whose property differs from the value, including a property stored as a different type (FIL-16).
    ///
    /// An entity without the property does not match (FIL-11). To include such entities, write `!column.eq(value)` (FIL-12).
    pub fn ne<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Ne, value)
    }

    /// Matches entities whose property is greater than the value. Stores may order UUIDs differently, so the result for a `Uuid` depends on the store (FIL-14).
    ///
    /// IP addresses and enums are compared as stored text, which may sort differently from the values. For example, `10.0.0.9` is greater than `10.0.0.10`. The
    /// same applies to [`ge`](Self::ge), [`lt`](Self::lt) and [`le`](Self::le).
    pub fn gt<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Gt, value)
    }

    /// Matches entities whose property is greater than or equal to the value. For a `Uuid`, the result depends on the store (FIL-14).
    pub fn ge<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Ge, value)
    }

    /// Matches entities whose property is less than the value, or has a different type (FIL-16). For a `Uuid`, the result depends on the store (FIL-14).
    pub fn lt<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Lt, value)
    }

    /// Matches entities whose property is less than or equal to the value, or has a different type (FIL-16). For a `Uuid`, the result depends on the store
    /// (FIL-14).
    pub fn le<As>(self, value: impl Operand<T, As>) -> Condition<E> {
        self.compare(Comparison::Le, value)
    }

    /// Matches entities whose property equals one of the values. An empty list matches no entity. According to its documentation, the service allows
    /// at most 15 comparisons in a filter (FIL-7).
    ///
    /// ```
    /// use table_core::Column;
    ///
    /// struct Employee;
    /// const AGE: Column<Employee, i32> = Column::new("Age");
    /// assert_eq!(AGE.is_in([30, 40]).into_filter().to_string(), "Age eq 30 or Age eq 40");
    /// ```
    pub fn is_in<As>(self, values: impl Operands<T, As>) -> Condition<E> {
        Condition::any(values.into_operands().map(|value| self.eq(value)))
    }

    /// Matches entities that lack the property (FIL-12). `!column.is_absent()` matches entities that have the property, whatever its type.
    ///
    /// ```
    /// use table_core::Column;
    ///
    /// struct Employee;
    /// const EMAIL: Column<Employee, Option<String>> = Column::new("Email");
    /// assert_eq!(EMAIL.is_absent().into_filter().to_string(), "not (Email ne '') and not (Email eq '')");
    /// ```
    pub fn is_absent(self) -> Condition<E> {
        let with = |operator| Filter::compare(self.name, operator, "");
        Condition::from_filter((!with(Comparison::Ne)).and(!with(Comparison::Eq)))
    }
}

// The bounds are on the methods, not on the `impl`, so rustc prints the message and error number of each bound.
impl<E, T, K> Column<E, T, K> {
    /// Matches entities whose property is `true` (FIL-13). `!column.is_true()` also matches entities that lack the property.
    pub fn is_true(self) -> Condition<E>
    where
        T: BoolColumn,
    {
        Condition::from_filter(Filter::flag(self.name))
    }

    /// Matches entities whose property starts with the prefix (FIL-19). The comparison is case-sensitive. An empty prefix matches any text.
    pub fn starts_with(self, prefix: &str) -> Condition<E>
    where
        T: Text,
    {
        let from = Filter::compare(self.name, Comparison::Ge, prefix);
        Condition::from_filter(match order::after_prefix(prefix) {
            Some(end) => from.and(Filter::compare(self.name, Comparison::Lt, end)),
            None => from,
        })
    }
}

impl<E, T, K> Clone for Column<E, T, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, T, K> Copy for Column<E, T, K> {}

impl<E, T, K> std::fmt::Debug for Column<E, T, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Column({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
    use uuid::Uuid;

    use super::*;
    use crate::property::Property;
    use table_store::EdmType;

    struct Thing;

    fn text(condition: Condition<Thing>) -> String {
        let filter = condition.into_filter();
        let text = filter.to_string();
        assert_eq!(Filter::parse(&text).unwrap(), Some(filter));
        text
    }

    const fn column<T: Property>() -> Column<Thing, T> {
        Column::new("P")
    }

    #[test]
    fn fil_15_the_constant_has_the_type_of_the_column() {
        let instant: DateTime<Utc> = "2014-08-22T00:50:32.123456789Z".parse().unwrap();
        assert_eq!(text(column::<String>().eq("O'Neil")), "P eq 'O''Neil'");
        assert_eq!(text(column::<String>().ne(String::from("a"))), "P ne 'a'");
        assert_eq!(text(column::<i32>().gt(30)), "P gt 30");
        assert_eq!(text(column::<i64>().ge(30)), "P ge 30L");
        assert_eq!(text(column::<i64>().ge(30_i64)), "P ge 30L");
        assert_eq!(text(column::<u32>().lt(u32::MAX)), "P lt 4294967295L");
        assert_eq!(text(column::<u8>().le(255)), "P le 255");
        assert_eq!(text(column::<f64>().lt(2.5)), "P lt 2.5");
        assert_eq!(text(column::<f64>().lt(2)), "P lt 2.0");
        assert_eq!(text(column::<f32>().lt(0.5_f32)), "P lt 0.5");
        assert_eq!(text(column::<bool>().eq(false)), "P eq false");
        assert_eq!(
            text(column::<DateTime<Utc>>().ge(instant)),
            "P ge datetime'2014-08-22T00:50:32.1234567Z'"
        );
        assert_eq!(
            text(column::<Uuid>().eq(Uuid::from_u128(5))),
            "P eq guid'00000000-0000-0000-0000-000000000005'"
        );
        assert_eq!(text(column::<Vec<u8>>().eq(vec![1, 255])), "P eq X'01ff'");
        assert_eq!(text(column::<Vec<u8>>().eq([1, 255].as_slice())), "P eq X'01ff'");
        assert_eq!(text(column::<Option<i64>>().eq(1)), "P eq 1L");
        assert_eq!(text(column::<Option<String>>().eq("a")), "P eq 'a'");
    }

    #[test]
    fn a_value_outside_the_property_type_is_compared_by_its_order() {
        let large = i64::MAX.cast_unsigned() + 1;
        assert_eq!(text(column::<u64>().eq(7)), "P eq 7L");
        assert_eq!(text(column::<u64>().le(large - 1)), "P le 9223372036854775807L");
        for condition in [column::<u64>().eq(large), column::<u64>().gt(large), column::<u64>().ge(large)] {
            assert_eq!(text(condition), "P gt 9223372036854775807L");
        }
        for condition in [column::<u64>().ne(large), column::<u64>().lt(large), column::<u64>().le(large)] {
            assert_eq!(text(condition), "P le 9223372036854775807L");
        }
        assert_eq!(text(column::<Option<u64>>().eq(large)), "P gt 9223372036854775807L");
        let second = Duration::from_secs(1);
        assert_eq!(text(column::<Duration>().ge(second)), "P ge 1000000000L");
        assert_eq!(text(column::<Duration>().lt(Duration::MAX)), "P le 9223372036854775807L");
        assert_eq!(text(column::<TimeDelta>().eq(TimeDelta::nanoseconds(-7))), "P eq -7L");
        assert_eq!(text(column::<TimeDelta>().eq(TimeDelta::MAX)), "P gt 9223372036854775807L");
        assert_eq!(text(column::<TimeDelta>().eq(TimeDelta::MIN)), "P lt -9223372036854775808L");
        assert_eq!(text(column::<TimeDelta>().ne(TimeDelta::MIN)), "P ge -9223372036854775808L");
        assert_eq!(text(column::<u128>().gt(7)), format!("P gt '{:039}'", 7));
        assert_eq!(text(column::<NaiveDate>().gt(NaiveDate::MIN)), "P gt ''");
        assert_eq!(text(column::<NaiveDate>().gt(NaiveDate::MAX)), "P gt '~'");
        let leap = NaiveTime::from_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap();
        assert_eq!(text(column::<NaiveTime>().lt(leap)), "P lt '23:59:59.999999999~'");
    }

    #[test]
    fn fil_13_and_19_booleans_and_prefixes() {
        assert_eq!(text(!column::<bool>().is_true()), "not P");
        assert_eq!(text(column::<Option<bool>>().is_true()), "P");
        assert_eq!(text(column::<String>().starts_with("ab")), "P ge 'ab' and P lt 'ac'");
        assert_eq!(text(column::<String>().starts_with("")), "P ge ''");
        assert_eq!(text(column::<String>().starts_with("\u{FFFF}")), "P ge '\u{FFFF}'");
    }

    /// Tests that a type has the same Edm type as a filter operand and as a property. `Operand` and `Property` are implemented for separate lists of types.
    #[test]
    fn operands_have_the_edm_type_of_their_property() {
        fn same<T: Property + Operand<T>>(value: T, edm: EdmType) {
            assert_eq!((T::EDM, value.into_value().edm_type()), (edm, edm));
        }
        same(String::new(), EdmType::String);
        same(1_i8, EdmType::Int32);
        same(1_i16, EdmType::Int32);
        same(1_i32, EdmType::Int32);
        same(1_u8, EdmType::Int32);
        same(1_u16, EdmType::Int32);
        same(1_u32, EdmType::Int64);
        same(1_i64, EdmType::Int64);
        same(1_u64, EdmType::Int64);
        same(NaiveDate::default(), EdmType::String);
        same(NaiveTime::default(), EdmType::String);
        same(IpAddr::from([127, 0, 0, 1]), EdmType::String);
        same(Ipv4Addr::LOCALHOST, EdmType::String);
        same(Ipv6Addr::LOCALHOST, EdmType::String);
        same(1_u128, EdmType::String);
        same(Duration::ZERO, EdmType::Int64);
        same(TimeDelta::zero(), EdmType::Int64);
        same(1_f32, EdmType::Double);
        same(1_f64, EdmType::Double);
        same(true, EdmType::Boolean);
        same(Uuid::nil(), EdmType::Guid);
        same(Vec::new(), EdmType::Binary);
        same(DateTime::<Utc>::UNIX_EPOCH, EdmType::DateTime);
    }
}
