//! Implementations of `Clone` and `Debug` for generic handles. `#[derive]` would also require both traits of the entity type.

/// Implements `Clone` for a type by cloning all of its fields, for example `clone_fields!([E, S: Clone] Handle[E, S] { store, retry });`.
macro_rules! clone_fields {
    ([$($bounds:tt)*] $type:ident[$($of:tt)*] { $($field:ident),* }) => {
        impl<$($bounds)*> Clone for $type<$($of)*> {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),* }
            }
        }
    };
}

/// Implements `Debug` for a type by formatting the given fields, for example `debug_fields!([E, S: fmt::Debug] Handle[E, S] { store, .. });`. Two dots indicate
/// that the type has other fields.
macro_rules! debug_fields {
    ([$($bounds:tt)*] $type:ident[$($of:tt)*] { $($field:ident),* }) => {
        debug_fields! { [$($bounds)*] $type[$($of)*] $($field)*, finish }
    };
    ([$($bounds:tt)*] $type:ident[$($of:tt)*] { $($field:ident),*, .. }) => {
        debug_fields! { [$($bounds)*] $type[$($of)*] $($field)*, finish_non_exhaustive }
    };
    ([$($bounds:tt)*] $type:ident[$($of:tt)*] $($field:ident)*, $finish:ident) => {
        impl<$($bounds)*> ::std::fmt::Debug for $type<$($of)*> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &self.$field))*.$finish()
            }
        }
    };
}
