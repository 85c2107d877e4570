//! Constructors that other clients have and the engine does not. Calling one is a compile error that names the engine's corresponding constructor.

use crate::Engine;

/// A storage location other than a folder. No type implements it: the functions that require it exist only for their error messages.
#[diagnostic::on_unimplemented(
    message = "[T212] an engine has no constructor of this name: its tables are in a folder or in memory",
    label = "write `Engine::open(\"folder\")?` or `Engine::in_memory()`",
    note = "`Engine::builder()` sets options first; an account of the service is opened by `table-azure`"
)]
pub trait IsPlace {
    /// Returns a value of any type. No type implements this trait.
    fn refuse<R>(self) -> R;
}

/// Declares constructors of other clients.
macro_rules! refused_constructors {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub fn $name<P: IsPlace, R>(place: P) -> R {
            place.refuse()
        }
    )*};
}

#[expect(
    clippy::new_ret_no_self,
    reason = "no argument satisfies the bound, so none of these functions returns"
)]
impl Engine {
    refused_constructors! { new connect create from_connection_string from_path }
}
