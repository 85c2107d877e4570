//! Authentication: the `Authorization` header of a request, for each service and credential (AUTH rules).

mod account_key;
mod canonical;
mod date;
mod scheme;

pub use account_key::AccountKey;
pub(crate) use account_key::{EMULATOR_ACCOUNT, EMULATOR_KEY};
pub(crate) use canonical::{SignedParts, shared_key, shared_key_table, shared_key_table_lite};
pub(crate) use date::{parse_http_date, print_http_date};
pub(crate) use scheme::Scheme;
