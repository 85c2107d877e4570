//! The HTTP protocol of tables and queues, for clients and servers.
//!
//! The package performs no I/O and contains no HTTP client, TLS implementation or async runtime. The client `table-azure` and the server `table-server` are
//! built on it.
//!
//! - [`auth`]: account keys, strings to sign, and the creation and verification of signatures.
//! - [`sas`]: creation, parsing, verification and enforcement of shared access signatures.
//! - [`batch`]: multipart bodies of transactions and their responses.
//! - [`ErrorBody`], [`NewError`], [`error_message`](error_message()): error bodies in JSON and XML.
//! - [`acl`], [`queue`], [`ServiceProperties`], [`xml`]: policies, messages and settings in XML.
//! - [`percent`]: percent-encoding of values in URLs.
//!
//! A client signs a request, and a server verifies the signature:
//!
//! ```
//! use chrono::DateTime;
//! use http::HeaderMap;
//! use table_wire::auth::{AccountKey, Authorization, Scheme, SignedParts, print_http_date};
//!
//! let (key, now) = (AccountKey::new("contoso", "a2V5")?, DateTime::from_timestamp(1_795_161_600, 0).unwrap());
//! let mut headers = HeaderMap::new();
//! headers.insert("x-ms-date", print_http_date(now).parse()?);
//! let parts = SignedParts { method: "GET", path: "/Employee()", query: "$top=1", headers: &headers, length: 0 };
//! let header = Scheme::Table.authorization(&key, parts);
//!
//! Authorization::read(&header)?.verify(Scheme::Table, &[key], parts, now)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acl;
pub mod auth;
pub mod batch;
mod error_body;
mod error_message;
pub mod percent;
pub mod queue;
pub mod sas;
mod service_properties;
pub mod xml;

pub use error_body::{ErrorBody, NewError};
pub use error_message::error_message;
pub use service_properties::{CorsRule, Logging, Metrics, PropertiesFault, ServiceProperties};
