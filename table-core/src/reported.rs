//! Bounds on functions that return futures, written so that rustc reports a violation only once.
//!
//! If an `async fn` has a bound, rustc reports a violation for the argument, for the call, and for the `.await`, because the future's type has the same bound.
//!
//! The functions in this library return `K::Then<impl Future<…>>` instead. If the bound on `K` is violated, no such future exists, and rustc reports only the
//! call.

/// Declares a trait for a bound, and implements it for all types that satisfy the bound. Each bound needs its own trait. rustc can resolve `Then<R>` to `R` for
/// a type parameter only if the bound on the parameter is a different trait from the one that declares `Then`.
///
/// The impl refers to an associated type of the bound. For a type that violates the bound, rustc can resolve neither this associated type nor `Then<R>`. It
/// therefore reports only the violated bound.
macro_rules! reported_once {
    ($($name:ident<$($parameter:ident),*>: $bound:ident, $checked:ident;)*) => {$(
        /// The bound on an argument's type. rustc reports a type that violates it only once.
        #[doc(hidden)]
        pub trait $name<$($parameter),*>: $bound<$($parameter),*> {
            /// The type `R`, if the argument's type is correct.
            type Then<R>;

            /// Returns `result`, which has the type `R` only for a correct argument.
            fn then<R>(result: R) -> Self::Then<R>;
        }

        impl<$($parameter,)* A: $bound<$($parameter,)* $checked = C>, C> $name<$($parameter),*> for A {
            type Then<R> = <C as $crate::reported::Itself>::Result<R>;

            fn then<R>(result: R) -> Self::Then<R> {
                result
            }
        }
    )*};
}

pub(crate) use reported_once;

/// Expresses the type `R` in terms of the implementing type. rustc cannot resolve `R` if the implementing type is unknown. Implemented for all types.
#[doc(hidden)]
pub trait Itself {
    /// The type `R`, written so that it depends on the implementing type.
    type Result<R>;
}

impl<C> Itself for C {
    type Result<R> = R;
}
