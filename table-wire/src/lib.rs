//! The wire protocol of tables and queues, for clients and servers alike.
//!
//! The package has no connection: no HTTP client, no TLS, no runtime. `table-azure` is a client that uses it, `table-server` a server.
//!
//! - [`auth`]: account keys, strings to sign, and signatures of requests, made and verified.
//! - [`sas`]: shared access signatures, made, read, verified and enforced.
//! - [`batch`]: the multipart bodies of transactions and of their answers.
//! - [`ErrorBody`], [`NewError`], [`sentence`](sentence()): bodies of errors in JSON and XML.
//! - [`acl`], [`queue`], [`ServiceProperties`], [`xml`]: policies, messages and settings in XML.
//! - [`percent`]: values of a URL.
//!
//! A client signs, and a server verifies:
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
pub mod percent;
pub mod queue;
pub mod sas;
mod sentence;
mod service_properties;
pub mod xml;

pub use error_body::{ErrorBody, NewError};
pub use sentence::sentence;
pub use service_properties::{CorsRule, Logging, Metrics, PropertiesFault, ServiceProperties};
