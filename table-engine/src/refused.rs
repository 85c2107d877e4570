//! Constructors with names from other clients. Calling one is a compile error whose message suggests the engine's constructors.

use crate::Engine;

/// A trait that no type implements. Constructors with names from other clients require this trait, so a call of such a constructor fails to compile with this
/// message.
///
/// The trait has a lifetime parameter because rustc rejects an unsatisfiable bound without generic parameters where the function is defined.
#[diagnostic::on_unimplemented(
    message = "[T212] an engine has no constructor of this name: its tables are in a folder or in memory",
    label = "write `Engine::open(\"folder\")?` or `Engine::in_memory()`",
    note = "`Engine::builder()` sets options first; an account of the service is opened by `table-azure`"
)]
pub trait IsPlace<'a> {}

/// Declares constructors with names from other clients. Rustc checks the bound of the `impl` before the arguments, so it shows the message of the bound
/// whatever the arguments are.
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
