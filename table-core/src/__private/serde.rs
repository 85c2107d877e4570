//! A check of whether a type derives the traits of serde.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type whose constants state whether `T` implements the traits of serde. The constants of the inherent implementations take precedence over those of
/// [`WithoutSerde`], which apply to every type.
#[derive(Debug)]
pub struct Serde<T>(PhantomData<T>);

impl<T: Serialize> Serde<T> {
    /// `true` if the type implements `Serialize`.
    pub const WRITES: bool = true;
}

impl<T: DeserializeOwned> Serde<T> {
    /// `true` if the type implements `Deserialize`.
    pub const READS: bool = true;
}

/// The constants of [`Serde`] for a type without the traits.
pub trait WithoutSerde {
    /// `false`, because the type does not implement `Serialize`.
    const WRITES: bool = false;
    /// `false`, because the type does not implement `Deserialize`.
    const READS: bool = false;
}

impl<T> WithoutSerde for Serde<T> {}

/// Fails if a declaration has attributes of serde, but implements none of its traits.
///
/// # Panics
/// Panics at compile time with the text of `message`, if `is_derived` is `false`.
pub const fn require_serde(is_derived: bool, message: &str) {
    assert!(is_derived, "{}", message);
}
