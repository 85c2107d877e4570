//! Methods with names from other libraries. No type satisfies their bounds, so a call does not compile, and the error message contains a hint.

/// The supertrait of bounds that no type satisfies. A method with this bound has a generic return type, so rustc reports only the call to the method itself. It
/// does not report calls on the method's result.
pub trait Refused {
    /// Returns a value of any type. Serves as the body of methods that cannot be called.
    fn refuse<R>(&self) -> R;
}

/// Declares methods inside an `impl`. Each entry lists a bound and its methods, with a placeholder for each argument.
///
/// The methods take `&mut self`. If one of the program's traits has a method with the same name that takes `self` or `&self`, rustc therefore calls that method
/// instead.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_methods {
    ($($bound:path: $($name:ident($($value:tt),*))*;)*) => {$($(
        #[doc(hidden)]
        #[allow(clippy::should_implement_trait, reason = "a query has no `next`, and the message says so")]
        pub fn $name<R>(&mut self $(, $value: impl Sized)*) -> R
        where
            Self: $bound,
        {
            $crate::__private::Refused::refuse(self)
        }
    )*)*};
}
pub(crate) use __refused_methods as refused_methods;

/// Declares methods with names from other libraries, in an `impl` with a bound that no type satisfies. rustc checks the bound of an `impl` before the arguments
/// of a call, so it shows the bound's message whatever the arguments are.
///
/// Do not use this macro for a name that `Iterator` or [`refused_of_values`] also uses. In that case, rustc would find several unsatisfied bounds and show no
/// message.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_by_name {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[allow(clippy::iter_not_returning_iterator, reason = "a call does not compile")]
        pub fn $name(self) {}
    )*};
}
pub(crate) use __refused_by_name as refused_by_name;

/// Declares methods with names from other libraries in a trait for stores or entities. Calling such a method is a compile error that contains a hint.
///
/// The methods take `&mut self`. If one of the program's traits has a method with the same name that takes `self` or `&self`, rustc therefore calls that method
/// instead.
macro_rules! refused_of_values {
    ($($bound:path: $($name:ident($($value:tt),*))*;)*) => {$($(
        #[doc(hidden)]
        fn $name<R>(&mut self $(, $value: impl Sized)*) -> R
        where
            Self: Sized + $bound,
        {
            $crate::refused::Refused::refuse(self)
        }
    )*)*};
}
pub(crate) use refused_of_values;
