//! The keys of internal rows of the library.

/// The first character of an internal row's `RowKey`.
pub const RESERVED: char = '\u{FFFC}';
