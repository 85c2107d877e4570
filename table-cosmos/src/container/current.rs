//! Detects that a container was replaced by another one with the same name.
//!
//! The Azure SDK caches the container for each name. If any request of the process notices that a container was replaced, the Azure SDK refreshes its cache, sends
//! all later requests to the new container, and reports nothing. Therefore, the number of the compared container is compared with that of the cached one.

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
    /// Returns `true` if the Azure SDK sends requests for the container's name to the container that was compared with the options. Sends no request.
    pub(crate) async fn is_current(&self) -> bool {
        let Some(compared) = self.incarnation else { return true };
        let Ok(key) = key::partition_key(&vec![String::new(); self.mapping.depth()]) else { return true };
        // The change feed of a single partition key is planned without a request, and its token contains the resource id of the container. It is never read.
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
    /// Compares the current container with the options after another container has replaced the one that an operation opened. If it does not match the options,
    /// or has other levels, returns an error instead of the result of the operation.
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
