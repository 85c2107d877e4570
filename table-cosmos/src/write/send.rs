//! Requests of writes: a point operation, or a batch whose refused operation is found in its results.

use azure_data_cosmos::options::{BatchDeleteOptions, BatchReplaceOptions, ItemWriteOptions, Precondition};
use azure_data_cosmos::{CosmosError, PartitionKey, TransactionalBatch};
use serde_json::Value as Json;
use table_core::store::Committed;
use table_core::{ETag, Error, ErrorCode, Result};

use crate::client::CosmosTables;
use crate::container::Container;
use crate::write::Refused;
use crate::write::planned::{Planned, Verb};
use crate::{failure, item, key};

/// Failed because another operation of the batch did.
const FAILED_DEPENDENCY: u16 = 424;

impl CosmosTables {
    pub(crate) async fn send(
        &self,
        container: &Container,
        levels: &[String],
        planned: &[Planned],
    ) -> Result<Committed, Refused> {
        let key = key::partition_key(levels).map_err(Refused::Before)?;
        match planned {
            [only] => self.send_one(container, &key, only).await.map(|etag| vec![etag]),
            all => self.send_batch(container, &key, all).await,
        }
    }

    async fn send_one(
        &self,
        container: &Container,
        key: &PartitionKey,
        planned: &Planned,
    ) -> Result<Option<ETag>, Refused> {
        let (id, body) = (&*key::id(&planned.row_key), planned.body.as_ref());
        let nothing = Json::Null;
        let body = body.unwrap_or(&nothing);
        let mut options = ItemWriteOptions::default();
        if let Some(tag) = &planned.if_match {
            options = options.with_precondition(Precondition::if_match(tag.clone()));
        }
        let client = &container.client;
        let send = || async {
            let options = Some(options.clone());
            match planned.verb {
                Verb::Create => client.create_item(key.clone(), id, body, options).await,
                Verb::Replace => client.replace_item(key.clone(), id, body, options).await,
                Verb::Upsert => client.upsert_item(key.clone(), id, body, options).await,
                Verb::Delete => client.delete_item(key.clone(), id, options).await,
            }
        };
        let answer = self.options().while_moving(send).await.map_err(refused)?;
        if planned.verb == Verb::Delete {
            return Ok(None);
        }
        let tag = answer.headers().etag().map(ToString::to_string);
        tag_of(tag.as_deref()).map(Some)
    }

    async fn send_batch(
        &self,
        container: &Container,
        key: &PartitionKey,
        planned: &[Planned],
    ) -> Result<Committed, Refused> {
        let mut batch = TransactionalBatch::new(key.clone());
        for plan in planned {
            let condition = || plan.if_match.clone().map(Precondition::if_match);
            let (id, body) = (key::id(&plan.row_key).into_owned(), plan.body.as_ref());
            batch = match (plan.verb, body) {
                (Verb::Create, Some(body)) => batch.create_item(body),
                (Verb::Upsert, Some(body)) => batch.upsert_item(body, None),
                (Verb::Replace, Some(body)) => {
                    let options =
                        condition().map(|tag| BatchReplaceOptions::default().with_precondition(tag));
                    batch.replace_item(id, body, options)
                }
                _ => {
                    let options = condition().map(|tag| BatchDeleteOptions::default().with_precondition(tag));
                    Ok(batch.delete_item(id, options))
                }
            }
            .map_err(Refused::Whole)?;
        }
        let send = || container.client.execute_transactional_batch(batch.clone(), None);
        let answer = self.options().while_moving(send).await.map_err(Refused::Whole)?;
        let repeated = failure::was_repeated(&answer.diagnostics());
        let results = answer.into_model().map_err(Refused::Whole)?;
        let results = results.results();
        // A batch that was rolled back is an answer like any other: 207, and all but one of its operations failed with it.
        let failed = results
            .iter()
            .position(|result| !result.is_success() && result.status_code() != FAILED_DEPENDENCY);
        if let Some((at, result)) = failed.and_then(|at| results.get(at).map(|result| (at, result))) {
            let status = result.status_code();
            return Err(Refused::At { at, status, repeated, cause: None });
        }
        if results.len() != planned.len() || results.iter().any(|result| !result.is_success()) {
            let message = format!("the batch of {} operations has {} results", planned.len(), results.len());
            return Err(Refused::Before(Error::new(ErrorCode::InternalError, message).into_ambiguous()));
        }
        let tags = planned.iter().zip(results).map(|(plan, result)| match plan.verb {
            Verb::Delete => Ok(None),
            _ => tag_of(result.etag()).map(Some),
        });
        tags.collect()
    }
}

fn refused(error: CosmosError) -> Refused {
    let (status, _) = failure::status(&error);
    let is_plain = failure::is_absent(&error) || matches!(status, 409 | 412 | 413);
    if is_plain && error.is_from_wire() {
        let repeated = error.diagnostics().is_some_and(|diagnostics| failure::was_repeated(&diagnostics));
        Refused::At { at: 0, status, repeated, cause: Some(error) }
    } else {
        Refused::Whole(error)
    }
}

/// The tag of a write that was acknowledged: without one, it is done, and its version is only to be read.
fn tag_of(text: Option<&str>) -> Result<ETag, Refused> {
    let message = "the write was acknowledged without the ETag it must give: read the entity";
    let missing = || Error::new(ErrorCode::InternalError, message).with_rule("ETAG-3").into_ambiguous();
    text.and_then(|text| item::etag(text).ok()).ok_or_else(|| Refused::Before(missing()))
}
