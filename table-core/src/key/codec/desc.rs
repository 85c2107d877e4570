//! `Desc`: a fixed-width codec in reverse order. Each codec implements its reverse encoding in [`Reversible`].

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::name::{Name, named};
use crate::key::codec::{Facts, Form, KeyCodec, Reversible};

/// A codec that writes the values of `C` in descending order. For example, the newest timestamp (inverted ticks, TICK-5) or the highest score comes first.
///
/// The form is that of `C`, but [`Facts::descending`](crate::key::codec::Facts::descending) is set. Law K3 therefore holds in reverse order, and queries swap
/// the ends of a range.
///
/// ```
/// use table_core::key::codec::{Desc, Digits, KeyCodec};
///
/// let mut key = String::new();
/// Desc::<Digits<4>>::encode(&2012u16, &mut key)?;
/// assert_eq!(key, "7987");
/// assert_eq!(<Desc<Digits<4>> as KeyCodec<u16>>::decode("7987")?, 2012);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Desc<C>(PhantomData<C>);

struct Named<C, T>(PhantomData<(C, T)>);

impl<T, C: Reversible<T>> Named<C, T> {
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        Name::EMPTY.with("desc(").with(C::NAME).with(")")
    }

    named!();
}

impl<T, C: Reversible<T>> KeyCodec<T> for Desc<C> {
    const NAME: &'static str = Named::<C, T>::NAMED;
    const FORM: Form = C::FORM;
    const FACTS: Facts = Facts {
        descending: !C::FACTS.descending,
        fault: match C::FACTS.fault {
            None if !C::FORM.is_fixed() => Some("[T031] only a part of fixed width can be reversed"),
            fault => fault,
        },
        verbatim: false,
        ..C::FACTS
    };

    #[inline]
    fn encode(value: &T, out: &mut String) -> Result<()> {
        C::encode_reversed(value, out)
    }

    #[inline]
    fn decode(text: &str) -> Result<T> {
        C::decode_reversed(text)
    }
}
