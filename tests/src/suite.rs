//! The behaviour suite, which tests the requirements for every backend. Each scenario is an async function. Its name contains the rules that it demonstrates.
//!
//! A scenario works with any [`TableStore`](table_core::TableStore) and creates its own tables. Scenarios can therefore run concurrently, and repeatedly on a
//! persistent store. A scenario panics if the backend violates a rule. [`for_each_scenario!`](crate::for_each_scenario) lists all scenarios.

#![expect(missing_docs, reason = "the name of a scenario describes it")]
#![expect(clippy::missing_panics_doc, reason = "a scenario panics if the backend violates the rule")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a scenario panics if the backend violates the rule"
)]

pub mod concurrency;
pub mod delete;
pub mod etag;
pub mod filters;
pub mod get;
pub mod if_match;
pub mod insert;
pub mod keys;
pub mod limits;
pub mod merge;
pub mod paging;
pub mod properties;
pub mod queries;
pub mod queues;
mod registry;
pub mod scene;
pub mod select;
pub mod tables;
pub mod top;
pub mod transactions;
pub mod update;
pub mod upsert;
