//! Request signatures made with an account key: creation, parsing and verification (AUTH rules).

mod account_key;
mod authorization;
mod canonical;
mod date;
mod fault;
mod scheme;

pub use account_key::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};
pub use authorization::Authorization;
pub use canonical::SignedParts;
pub use date::{parse_http_date, print_http_date};
pub use scheme::Scheme;
