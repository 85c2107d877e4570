//! A web interface for any store that returns rows in key order. It shows schemas, keys with their parts, entities, queries with their plans, and pending work.
//!
//! Pages are rendered on the server. Names and values are escaped, scripts and styles are never inline, and nothing is loaded from another origin. A session
//! starts with a single-use token, each request's `Host` header is checked, and each form contains a session token.
//!
//! ```
//! use table_core::{DynTableStore, Engine};
//! use table_explorer::{Explorer, Server, Source};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let engine = Engine::in_memory();
//! let source = Source::new(DynTableStore::new(engine.clone()), "memory:").with_engine(engine);
//! let server = Server::bind(([127, 0, 0, 1], 0).into(), Explorer::new(source)).await?;
//! println!("open {}", server.url());
//! server.serve_until(async {}).await; // A program waits for a signal here.
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod assets;
mod catalog;
mod chart;
mod columns;
#[cfg(feature = "demo")]
pub mod demo;
mod design;
mod explorer;
mod failure;
mod form_text;
mod frame;
mod grid;
mod growth;
mod index_state;
mod internal;
mod json_file;
mod json_text;
mod keyed;
mod link;
mod mark;
mod notebook;
mod pages;
mod reader;
mod request;
mod response;
mod route;
mod selection;
mod server;
mod session;
mod show;
mod state;
mod store_names;
mod tree;

pub use explorer::Explorer;
pub use response::Body;
pub use server::Server;
pub use state::Source;
