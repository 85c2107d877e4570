//! The key prefix of the library's internal rows.

/// The first character of an internal row's `RowKey`.
pub const RESERVED: char = '\u{FFFC}';
