//! Placeholders for methods that other libraries offer on untyped entities. Calling one is a compile error that suggests the right method.

use std::ops::Index;

use crate::bag::TableEntity;

/// Never implemented, so a call to a method such as `get_string` or `set` is a compile error that suggests `get` or `insert`.
///
/// The trait has a lifetime parameter because rustc rejects an unsatisfiable bound without generic parameters where the method is defined.
#[diagnostic::on_unimplemented(
    message = "[T272] a `TableEntity` has no access of this form: its properties are values of the type `Value`, each with a name",
    label = "write `get(\"Age\")`, `insert(\"Age\", 36)` or `remove(\"Age\")`, with the name of the property",
    note = "`if let Some(Value::Int32(age)) = entity.get(\"Age\")` reads a property of one type; `entity.iter()` returns all names and values",
    note = "the texts of the key are `entity.key().partition_key.as_str()` and `entity.key().row_key.as_str()`"
)]
pub trait HasProperties<'a> {
    /// Serves as the body of methods bounded by this trait. It is never called, because no type implements the trait.
    fn refuse<R>(&self) -> R;
}

macro_rules! refused_of_bags {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub fn $name(self) {}
    )*};
}

impl TableEntity
where
    for<'a> Self: HasProperties<'a>,
{
    refused_of_bags! {
        set_property add_property insert_property with_property property properties get_property get_value get_as get_str try_get_value
        get_string get_int32 get_int64 get_i32 get_i64 get_f64 get_double get_bool get_boolean get_date_time get_date_time_offset get_datetime get_guid
        get_uuid get_binary get_bytes contains_key has keys values partition_key row_key
    }
}

/// Methods whose names other traits also have. They take `&mut self`, so rustc shows the message of their own bound.
impl TableEntity {
    #[doc(hidden)]
    pub fn add<R>(&mut self, _name: impl Sized, _value: impl Sized) -> R
    where
        for<'a> Self: HasProperties<'a>,
    {
        self.refuse()
    }

    #[doc(hidden)]
    pub fn set<R>(&mut self, _name: impl Sized, _value: impl Sized) -> R
    where
        for<'a> Self: HasProperties<'a>,
    {
        self.refuse()
    }
}

#[doc(hidden)]
impl Index<&str> for TableEntity
where
    for<'a> Self: HasProperties<'a>,
{
    type Output = table_store::Value;

    fn index(&self, _: &str) -> &Self::Output {
        self.refuse()
    }
}
