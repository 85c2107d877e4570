//! Parsers for attributes. They store tokens in slots (values that can be set at most once) and do not interpret them.

pub(crate) mod allow;
mod computed;
pub(crate) mod container;
pub(crate) mod field;
pub(crate) mod foreign;
pub(crate) mod foreign_keys;
pub(crate) mod format;
pub(crate) mod index;
pub(crate) mod key_part;
pub(crate) mod keyed;
pub(crate) mod large;
pub(crate) mod member;
pub(crate) mod piece;
pub(crate) mod projection;
mod proposed;
pub(crate) mod relations;
pub(crate) mod settings;
mod slot;
pub(crate) mod stored;
mod suggested;
pub(crate) mod wide;

pub(crate) use slot::Slot;
