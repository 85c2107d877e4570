//! Declares methods and bounds with messages that name the fields of a struct, for generated code.

/// Declares methods of row selections that cannot be called. No type satisfies an entry's bound, and the compile error shows the right method.
///
/// The bound has a lifetime parameter, because rustc rejects an unsatisfiable bound without parameters at its declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_parts {
    ($($bound:ident [$($rows:ty),+] $names:tt: $label:literal, $message:literal $(, $note:literal)?;)*) => {$(
        #[diagnostic::on_unimplemented(message = $message, label = $label $(, note = $note)?)]
        pub trait $bound<'a> {}
        $($crate::__refused_parts! { @ $bound, $rows, $names })+
    )*};
    (@ $bound:ident, $rows:ty, [$($name:ident)*]) => {
        #[doc(hidden)]
        impl $rows
        where
            for<'a> Self: $bound<'a>,
        {
            $(pub fn $name(self) {})*
        }
    };
}

/// Declares a bound on ranges that no range satisfies. The compile error shows the key that supports ranges.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_ranges {
    ($bound:ident: $message:literal, $label:literal, $note:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $bound {}
    };
}

/// Implements the traits that show the forms of an entity in messages, under bounds that no entity satisfies. The literals are the forms, and contain the names
/// of the entity's fields. `Never` has no value, so rustc reports nothing about an argument that depends on it.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_forms {
    ($of:ty: $compare:literal, $by_key:literal, $point:literal) => {
        $crate::__refused_forms! { @ $of, ShowsConditions, __Columns:
        "[T096] `{A}` is not a condition on `{Self}`: a filter compares columns", $compare }
        $crate::__refused_forms! { @ $of, ShowsKey, __ByKey:
        "[T097] a filter compares properties, and this is a field of the key of `{Self}`", $by_key }
        $crate::__refused_forms! { @ $of, ShowsPoint, __Point:
        "[T084] `{A}` is not a complete key of `{Self}`", $point }
    };
    (@ $of:ty, $shows:ident, $bound:ident: $message:literal, $label:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label)]
        pub trait $bound<A> {
            type Never: $crate::Property;
        }

        impl<A> $crate::__private::$shows<A> for $of
        where
            Self: $bound<A>,
        {
            type Never = <Self as $bound<A>>::Never;
        }
    };
}
