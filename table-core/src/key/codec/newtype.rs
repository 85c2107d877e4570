//! `Newtype`: a struct with a single field, encoded like its field.

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::{Facts, Form, KeyCodec, Reversible};

/// A newtype, such as `struct EmployeeId(u32)`. `#[derive(KeyPart)]` implements this trait.
pub trait KeyNewtype: Sized {
    /// The type of the wrapped value.
    type Inner;

    /// Returns the wrapped value.
    fn inner(&self) -> &Self::Inner;

    /// Creates the newtype from its inner value.
    fn from_inner(inner: Self::Inner) -> Self;
}

/// The codec of a newtype. It has the same name, form and output as `C`, the codec of the inner value.
///
/// ```
/// use table_core::KeyPart;
/// use table_core::key::codec::{Digits, KeyCodec, KeyNewtype, Newtype};
///
/// struct EmployeeId(u32);
///
/// impl KeyNewtype for EmployeeId {
///     type Inner = u32;
///     fn inner(&self) -> &u32 {
///         &self.0
///     }
///     fn from_inner(inner: u32) -> Self {
///         Self(inner)
///     }
/// }
/// impl KeyPart for EmployeeId {
///     type Codec = Newtype<Digits<6>>;
/// }
///
/// let mut key = "empid_".to_owned();
/// <EmployeeId as KeyPart>::Codec::encode(&EmployeeId(223), &mut key)?;
/// assert_eq!(key, "empid_000223");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Newtype<C>(PhantomData<C>);

impl<T: KeyNewtype, C: KeyCodec<T::Inner>> KeyCodec<T> for Newtype<C> {
    const NAME: &'static str = C::NAME;
    const FORM: Form = C::FORM;
    // `#[derive(KeyPart)]` already reports the fault at the newtype's declaration.
    const FACTS: Facts = Facts { fault: None, ..C::FACTS };

    #[inline]
    fn encode(value: &T, out: &mut String) -> Result<()> {
        C::encode(value.inner(), out)
    }

    fn encode_hashed(value: &T, out: &mut String) -> Result<()> {
        C::encode_hashed(value.inner(), out)
    }

    #[inline]
    fn decode(text: &str) -> Result<T> {
        C::decode(text).map(T::from_inner)
    }
}

impl<T: KeyNewtype, C: Reversible<T::Inner>> Reversible<T> for Newtype<C> {
    #[inline]
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        C::encode_reversed(value.inner(), out)
    }

    #[inline]
    fn decode_reversed(text: &str) -> Result<T> {
        C::decode_reversed(text).map(T::from_inner)
    }
}
