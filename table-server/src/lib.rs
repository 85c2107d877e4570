//! Tables and queues over HTTP, with the Azure Table Storage protocol, backed by the embedded engine.
//!
//! Table and queue clients for the service and its emulator work unchanged, even with `UseDevelopmentStorage=true`:
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use table_core::Engine;
//! use table_server::{Account, Config, Server};
//!
//! let config = Config::on_loopback(Account::emulator(Engine::in_memory())?).ephemeral();
//! let server = Server::bind(config).await?;
//! println!("tables at http://{}/devstoreaccount1", server.tables());
//! server.serve_until(async {}).await; // A program waits for a signal here.
//! # Ok::<(), table_core::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine stores all data, including stored policies, queue metadata and service properties.

mod accept;
mod account;
mod answer;
mod authorize;
mod bearer;
mod body;
mod config;
mod cors;
mod cost;
mod exchange;
mod fault;
mod framing;
mod handle;
mod idle;
mod limits;
mod linger;
mod log_limit;
mod metrics;
mod negotiate;
mod observe;
mod open;
mod operation;
mod preflight;
mod queues;
mod refusal;
mod request_id;
mod route;
mod server;
mod service;
mod service_properties;
mod settings;
mod shared;
mod tables;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
mod time_limit;
#[cfg(feature = "tls")]
mod tls;
mod traffic;
mod transport;
mod turn;
mod unread;
mod unverified;
mod uploads;
mod version;

pub use account::Account;
pub use bearer::Bearer;
pub use config::Config;
pub use limits::ServerLimits;
pub use server::Server;
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use traffic::Throttle;
