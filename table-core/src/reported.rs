//! Bounds of functions that return futures, in a form that makes rustc report a violation only once.
//!
//! rustc reports a violated bound of an `async fn` three times: for the argument, for the call, and for the `.await`, because the future's type has the
//! same bound. A function that returns `K::Then<impl Future<…>>` has no such future if the bound on `K` is violated, so the call alone is reported.

/// Declares a trait for a bound, implemented for all types that satisfy the bound. These are separate traits, because the type `Then<R>` is only
/// known to be `R` for a type parameter if the parameter's own bound is another trait.
///
/// The impl names an associated type of the bound, which is unknown for a type that violates the bound. `Then<R>` is then unknown too.
macro_rules! reported_once {
    ($($name:ident: $bound:ident, $checked:ident;)*) => {$(
        /// An argument whose type is reported once if it is wrong.
        #[doc(hidden)]
        pub trait $name<E>: $bound<E> {
            /// The type `R`.
            type Then<R>;

            /// Returns `result`.
            fn then<R>(result: R) -> Self::Then<R>;
        }

        impl<E, A: $bound<E, $checked = C>, C> $name<E> for A {
            type Then<R> = <C as $crate::reported::Itself>::Result<R>;

            fn then<R>(result: R) -> Self::Then<R> {
                result
            }
        }
    )*};
}

pub(crate) use reported_once;

/// Implemented for all types, to make the type `R` depend on another type.
#[doc(hidden)]
pub trait Itself {
    /// The type `R`.
    type Result<R>;
}

impl<C> Itself for C {
    type Result<R> = R;
}
