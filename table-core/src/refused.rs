//! Methods of other libraries that exist only for the error message of their bound.

/// A bound that no type satisfies. A method with such a bound returns any type, so rustc reports the method and nothing that is called on its result.
pub trait Refused {
    /// Returns a value of any type. No type implements this trait.
    fn refuse<R>(&self) -> R;
}

/// Declares methods that take an owned receiver, in an `impl`: the bound, and the methods with a placeholder for each argument.
macro_rules! refused_methods {
    ($($bound:path: $($name:ident($($value:tt),*))*;)*) => {$($(
        #[doc(hidden)]
        pub fn $name<R>(self $(, $value: impl Sized)*) -> R
        where
            Self: $bound,
        {
            $crate::refused::Refused::refuse(&self)
        }
    )*)*};
}
pub(crate) use refused_methods;

/// Declares methods of other libraries in an `impl` with a bound that no type satisfies. The message of the bound is shown for calls with any arguments,
/// because rustc looks at the bound of an `impl` before it looks at the arguments. This is impossible for names of a method of `Iterator` or of
/// [`refused_of_stores`]: rustc would see several missing bounds, and show no message.
macro_rules! refused_by_name {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub fn $name(self) {}
    )*};
}
pub(crate) use refused_by_name;

/// Declares, in a trait of stores, methods that other libraries have. A call of such a method is refused with a hint. The methods take `&mut self`, so a method of the same name in a trait of the program, which takes
/// `&self` or `self`, is found first.
macro_rules! refused_of_stores {
    ($bound:path: $($name:ident($($value:tt),*))*) => {$(
        #[doc(hidden)]
        fn $name<R>(&mut self $(, $value: impl Sized)*) -> R
        where
            Self: Sized + $bound,
        {
            $crate::refused::Refused::refuse(self)
        }
    )*};
}
pub(crate) use refused_of_stores;
