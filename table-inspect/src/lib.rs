//! Inspection of tables through their stored schemas.
//!
//! The package splits keys into parts, classifies rows, converts values to text, and infers declarations from rows.
//!
//! ```
//! use table_core::EntityKey;
//! use table_core::schema::StoredSchema;
//! use table_inspect::keys;
//!
//! let schema: StoredSchema = "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
//!     RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\n"
//!     .parse()?;
//! let parts = keys::decode(&schema, &EntityKey::new("Sales", "empid_000223")?).unwrap();
//! assert_eq!((parts[1].name.as_str(), parts[1].value.as_str()), ("id", "223"));
//! # Ok::<(), table_core::Error>(())
//! ```

pub mod csv;
pub mod derived;
pub mod error;
pub mod infer;
pub mod keys;
pub mod kind;
pub mod lines;
pub mod load;
mod patterns;
pub mod record;
mod reserved;
mod type_selection;
pub mod value;

pub use error::{Error, Result};
pub use patterns::Patterns;
pub use type_selection::TypeSelection;
