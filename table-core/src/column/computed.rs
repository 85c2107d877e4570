//! Arithmetic with columns. The result is not a value, so using it is a compile error that suggests the right form.

use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Sub};

use crate::column::Column;
use crate::column::refused::ComputesValues;
use crate::refused::{Refused, refused_methods};

/// The result of arithmetic with a column of `E`, such as `Employee::AGE + 1`. A patch and a filter refuse it.
#[doc(hidden)]
#[derive(Debug)]
pub struct ComputedFrom<E>(PhantomData<fn() -> E>);

macro_rules! arithmetic {
    ($($operation:ident $name:ident;)*) => {$(
        #[doc(hidden)]
        impl<E, T, K, V> $operation<V> for Column<E, T, K> {
            type Output = ComputedFrom<E>;

            fn $name(self, _: V) -> ComputedFrom<E> {
                ComputedFrom(PhantomData)
            }
        }
    )*};
}

arithmetic! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl<E> Refused for ComputedFrom<E> {
    fn refuse<R>(&self) -> R {
        std::process::abort() // no call compiles
    }
}

impl<E> ComputedFrom<E> {
    refused_methods! {
        ComputesValues<E>: eq(_) ne(_) gt(_) ge(_) lt(_) le(_);
    }
}
