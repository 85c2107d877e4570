//! Placeholders for methods that other libraries offer on patches. Calling one is a compile error that suggests the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::patch::{Patch, PatchTarget};

/// Never implemented, so a call to a method such as `increment` or `append` is a compile error. The message explains that a patch only sets properties to given
/// values.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch of `{E}` has no method of this name: it sets properties to values, without reading the stored ones",
    label = "write `table.update({E}::key(…), |entity| …)` to compute a value from the stored one",
    note = "`set({E}::…, …)` sets a property to a value that is known"
)]
pub trait Computes<E>: Refused {}

/// Never implemented, so a call to a method such as `remove` or `unset` is a compile error that suggests setting the property to `None`.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch of `{E}` has no method of this name: an optional property is set to `None`",
    label = "write `set({E}::…, None)`",
    note = "a property that is not optional cannot be removed; an entity is deleted by `table.delete({E}::key(…), etag)`"
)]
pub trait RemovesBy<E>: Refused {}

/// Never implemented, so a call to a method such as `execute` or `commit` is a compile error that suggests `send`.
#[diagnostic::on_unimplemented(
    message = "[T210] a patch has no method of this name: `send` applies it and returns the new version",
    label = "write `send()`",
    note = "`table.patch({E}::key(…)).set({E}::…, …).send().await?`"
)]
pub trait SendsBy<E>: Refused {}

/// Never implemented, so a call to a method such as `condition_expression` is a compile error that suggests `if_match`.
#[diagnostic::on_unimplemented(
    message = "[T210] a patch of `{E}` has no method of this name: its condition is a version of the entity",
    label = "write `if_match(etag)`",
    note = "`let found = table.get({E}::key(…)).await?` reads the entity, and `found.etag()` is its version",
    note = "for a condition on its properties, write `table.try_update({E}::key(…), |entity| …)`, whose closure may return an error"
)]
pub trait ConditionsBy<E>: Refused {}

/// Never implemented, so a call to a method such as `values` is a compile error that suggests `set`.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch of `{E}` has no method of this name: it sets one property at a time",
    label = "write `set({E}::…, value)` for each property",
    note = "`table.merge(&entity, etag)` writes all properties of an entity whose fields are not `None`"
)]
pub trait SetsBy<E>: Refused {}

impl<T: PatchTarget> Patch<'_, T>
where
    Self: ConditionsBy<T::Entity>,
{
    refused_by_name! {
        condition where_ only_if if_exists when expect if_not_exists if_absent if_equals with_etag etag if_none_match if_version version match_etag
    }
}

impl<T: PatchTarget> Patch<'_, T>
where
    Self: SetsBy<T::Entity>,
{
    refused_by_name! {
        values data set_all set_many update_expression with assign properties set_if set_some set_opt set_value set_field set_property value field update_set
    }
}

impl<T: PatchTarget> Patch<'_, T>
where
    Self: Computes<T::Entity>,
{
    refused_by_name! {
        inc push add_to_set pull increment_by list_append set_if_not_exists set_expr multiply decr decrement dec incr mul prepend set_on_insert current_date
    }
}

impl<T: PatchTarget> Patch<'_, T>
where
    Self: RemovesBy<T::Entity>,
{
    refused_by_name! { clear set_null set_none remove_property unset_field }
}

impl<T: PatchTarget> Patch<'_, T>
where
    Self: SendsBy<T::Entity>,
{
    refused_by_name! { build finish done run send_async submit send_all returning return_new }
}

impl<T: PatchTarget> Patch<'_, T> {
    refused_methods! {
        Computes<T::Entity>: add(_, _) increment(_, _) append(_, _) subtract(_, _);
        RemovesBy<T::Entity>: remove(_) unset(_) delete(_);
        ConditionsBy<T::Entity>: condition_expression(_);
        SendsBy<T::Entity>: go() exec(_) execute() save() commit() save_changes();
    }
}
