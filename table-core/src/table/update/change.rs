//! Closures passed to updates, and their return values.

use table_store::Result;

/// A closure that changes an entity of type `E` in place and returns an `R`. Implemented for every such closure and function.
///
/// ```
/// use table_core::table::EntityChange;
///
/// /// Returns `value` after the change.
/// fn changed<E>(mut value: E, mut change: impl EntityChange<E, ()>) -> E {
///     change(&mut value);
///     value
/// }
/// assert_eq!(changed(36, |age| *age += 1), 37); // `changed(36, 37)` does not compile: T243
/// ```
#[diagnostic::on_unimplemented(
    message = "[T243] the change of an update is a closure that takes `&mut {E}`, not `{Self}`",
    label = "write a closure that assigns: `|entity| entity.field = value`",
    note = "`update` changes the stored entity, and keeps what it does not assign",
    note = "`replace(&entity, &etag)` writes a whole entity instead of the version with this `ETag`"
)]
pub trait EntityChange<E, R>: FnMut(&mut E) -> R {
    #[doc(hidden)]
    type Checked;
}

#[diagnostic::do_not_recommend]
impl<E, R, F: FnMut(&mut E) -> R> EntityChange<E, R> for F {
    type Checked = ();
}

/// The return type of a change: `()`, or a `Result` if the change may fail.
#[doc(hidden)]
pub trait ChangeResult {
    /// Converts the value to a `Result`. If the change failed, the result is its error.
    ///
    /// # Errors
    /// The error from the change, if it failed.
    fn into_result(self) -> Result<()>;
}

impl ChangeResult for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl ChangeResult for Result<()> {
    fn into_result(self) -> Result<()> {
        self
    }
}

impl ChangeResult for Never {
    fn into_result(self) -> Result<()> {
        self
    }
}

/// The return type of a change in place. It is `()`, or the type of an expression that does not return, such as `panic!()`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T244] the closure of `update` changes the entity in place and returns nothing, but this one returns `{Self}`",
    label = "assign in the closure: `|entity| entity.field = value`, or write `;` after the last expression",
    note = "`|entity| {{ entity.first = 1; entity.second = 2; }}` assigns fields; `|entity| *entity = value` assigns the whole entity",
    note = "a closure that may fail is passed to `try_update`, and returns a `Result<()>`",
    note = "the closure is not `async`, because it may run several times: await a value before the update, and assign it in the closure"
)]
pub trait InPlace<E>: ChangeResult {}

#[diagnostic::do_not_recommend]
impl<E> InPlace<E> for () {}

#[diagnostic::do_not_recommend]
impl<E> InPlace<E> for Never {}

/// Never implemented, so a change that returns a `Result` is a compile error that suggests `try_update`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T244] the closure of `update` returns nothing, but this one returns a `Result`",
    label = "write `try_update`: its closure may fail, and returns a `table_patterns::Result<()>`",
    note = "an error of the closure of `try_update` is returned, and nothing is written; the last expression is `Ok(())`"
)]
pub trait MayFail<E> {}

impl<E, T, X> InPlace<E> for Result<T, X>
where
    Self: ChangeResult,
    E: MayFail<Result<T, X>>,
{
}

/// The type `!`, obtained as the return type of `fn() -> !`. rustc does not yet accept the name `!` in other positions.
type Never = <fn() -> ! as Returns>::Output;

/// The type of a function without arguments.
pub trait Returns {
    /// The return type of the function.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}
