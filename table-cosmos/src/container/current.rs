//! Detects a container that was replaced by a new one with the same name.
//!
//! The Azure SDK caches the container for each name. Any request in the process may find that a container was replaced. The SDK then refreshes its cache, and
//! sends all later requests to the new container. It does not report this.
//!
//! The store therefore compares two resource ids: the one in the SDK's cache, and the one of the container that was checked against the options.

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::options::ChangeFeedStartFrom;
use serde::de::IgnoredAny;
use table_core::{Error, ErrorCode, Result, TableName};

use crate::client::CosmosTables;
use crate::container::fault::ContainerFault;
use crate::containers::Container;
use crate::key;
use crate::token::Token;
use crate::usage::Verb;

impl Container {
    /// Returns `true` if the Azure SDK still uses the container that was checked against the options. This does not send a request.
    pub(crate) async fn is_current(&self) -> bool {
        let Some(compared) = self.incarnation else { return true };
        let Ok(key) = key::partition_key(&vec![String::new(); self.mapping.depth()]) else { return true };
        // The SDK plans a change feed for one partition key without a request. The feed's token contains the container's resource id. The feed is never read.
        let scope = FeedScope::partition(key);
        let feed = self.client.query_change_feed::<IgnoredAny>(scope, ChangeFeedStartFrom::Now, None);
        let Ok(token) = Box::pin(feed).await.and_then(|feed| feed.to_continuation_token()) else {
            return false;
        };
        Token::parse(token.as_str())
            .and_then(|token| token.incarnation())
            .is_none_or(|current| current == compared)
    }
}

impl CosmosTables {
    /// Checks the current container against the options. Called after the operation's container, `opened`, has been replaced.
    ///
    /// If the new container does not match the options, or has a different number of levels, returns an error instead of the operation's result.
    pub(crate) async fn compared_again<T>(
        &self,
        table: &TableName,
        verb: Verb,
        (opened, result): (&Container, Result<T>),
    ) -> Result<T> {
        self.containers().forget(table);
        let error = match self.container(table).await {
            Err(error) if error.code() == ErrorCode::SchemaMismatch => error,
            Ok(current) if current.mapping.depth() != opened.mapping.depth() => {
                Error::of(ContainerFault::Replaced).with_table(table.as_str())
            }
            _ => return result,
        };
        // The write may have been applied to the new container.
        let is_applied = verb == Verb::Submit && result.as_ref().map_or_else(Error::is_ambiguous, |_| true);
        Err(if is_applied { error.into_ambiguous() } else { error })
    }
}
