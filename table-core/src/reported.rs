//! Bounds of functions that return futures, in a form that makes rustc report a violation only once.
//!
//! rustc reports a violated bound of an `async fn` three times: for the argument, for the call, and for the `.await`, because the type of the future has
//! the same bound. If a function returns `K::Then<impl Future<…>>` instead, no such future exists when the bound on `K` is violated, and rustc reports
//! the call alone.

/// Declares a trait for a bound, implemented for all types that satisfy the bound. Each bound needs a separate trait, because rustc knows that the type
/// `Then<R>` is `R` for a type parameter only if the parameter's own bound is a different trait.
///
/// The impl names an associated type of the bound. For a type that violates the bound, rustc can resolve neither this associated type nor `Then<R>`, so it
/// reports only the violated bound.
macro_rules! reported_once {
    ($($name:ident: $bound:ident, $checked:ident;)*) => {$(
        /// An argument type. rustc reports a wrong type only once.
        #[doc(hidden)]
        pub trait $name<E>: $bound<E> {
            /// The type `R`, if the argument's type is correct.
            type Then<R>;

            /// Returns `result`, which has the type `R` only for a correct argument.
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

/// Makes the type `R` depend on another type. Implemented for all types.
#[doc(hidden)]
pub trait Itself {
    /// The type `R`, written so that it depends on the implementing type.
    type Result<R>;
}

impl<C> Itself for C {
    type Result<R> = R;
}
