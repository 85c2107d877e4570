//! Constructors of other clients that the engine does not have. Calling one is a compile error that names the engine's constructors.

use crate::Engine;

/// A storage location other than a folder. No type implements this trait: the functions that require it exist only for their error messages. The trait has a
/// lifetime parameter because rustc rejects a bound that has no generic parameters and can never be satisfied.
#[diagnostic::on_unimplemented(
    message = "[T212] an engine has no constructor of this name: its tables are in a folder or in memory",
    label = "write `Engine::open(\"folder\")?` or `Engine::in_memory()`",
    note = "`Engine::builder()` sets options first; an account of the service is opened by `table-azure`"
)]
pub trait IsPlace<'a> {}

/// Declares constructors of other clients. The bound of the `impl` is checked before the arguments, so rustc shows the bound's message for any arguments.
macro_rules! refused_constructors {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub fn $name() {}
    )*};
}

#[expect(
    clippy::new_ret_no_self,
    reason = "the bound is not satisfied, so none of these functions can be called"
)]
impl Engine
where
    for<'a> Self: IsPlace<'a>,
{
    refused_constructors! { new connect create from_connection_string from_path }
}
