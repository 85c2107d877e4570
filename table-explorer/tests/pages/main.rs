//! Tests of the pages over HTTP, without a browser. They cover the content of pages, their requests to the store, and their protection from other sites.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod bulk;
mod change;
mod content;
mod counting;
mod counting_store;
mod growth;
mod hostile;
mod load;
mod notes;
mod parts;
mod recipes;
mod safety;
mod selections;
mod work;
