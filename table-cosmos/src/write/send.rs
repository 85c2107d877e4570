//! Sends planned requests as a point operation or as a batch.

use std::time::Duration;

use azure_data_cosmos::options::{
    BatchDeleteOptions, BatchOptions, BatchReplaceOptions, ItemWriteOptions, OperationOptions,
    OperationOptionsBuilder, Precondition, ThrottlingRetryOptionsBuilder,
};
use azure_data_cosmos::{CosmosError, PartitionKey, TransactionalBatch};
use serde_json::Value as Json;
use table_core::store::{Committed, WriteLease};
use table_core::{ETag, Error, ErrorCode};
use tokio::time::timeout;

use crate::client::CosmosTables;
use crate::failure::Effect;
use crate::write::Target;
use crate::write::planned::{Planned, Verb};
use crate::{failure, item, key, usage};

/// The status of an operation that failed because another operation in its batch failed.
const FAILED_DEPENDENCY: u16 = 424;

/// The acknowledgement of planned requests.
#[derive(Debug)]
pub(super) struct Acknowledged {
    pub(super) committed: Committed,
    /// `true` if the Azure SDK sent the request more than once because a response was lost.
    pub(super) repeated: bool,
}

/// The reason planned requests were not acknowledged.
#[derive(Debug)]
pub(super) enum Refused {
    /// The operation at index `at` failed. `repeated` is `true` if the Azure SDK had sent the request before without receiving a response.
    At { at: usize, status: (u16, u16), repeated: bool, cause: Option<CosmosError> },
    /// The entire request failed.
    Whole(CosmosError),
    /// No request was sent.
    Before(Error),
    /// The response reports success, but its results cannot be parsed.
    Acknowledged(Error),
    /// No response arrived within the grace period after the end of the lease.
    Late(Error),
}

impl Refused {
    /// Returns `true` if the request had no effect and may succeed later (MAP-12).
    ///
    /// The Azure SDK backs off if a whole request is throttled, but not if only one operation in a batch is throttled.
    fn is_temporary(&self) -> bool {
        match self {
            Self::At { status: (status, _), repeated, .. } => {
                !repeated && failure::effect(*status) == Effect::Busy
            }
            Self::Whole(error) => failure::is_moving(error) && !failure::is_repeated(error),
            Self::Before(_) | Self::Acknowledged(_) | Self::Late(_) => false,
        }
    }
}

fn late() -> Error {
    let message =
        "the service has not acknowledged the write in the time in which it may take effect; read the entity";
    Error::new(ErrorCode::OperationTimedOut, message).with_rule("EVO-3")
}

/// Returns the options for writes. With them, the Azure SDK does not retry a request that received no response.
///
/// The SDK still retries after 429, 449 and 403/3, because the service did not apply those requests. Before the retries after 429, it waits for at most
/// `throttled`, or 30 seconds by default.
fn once(throttled: Option<Duration>) -> OperationOptions {
    let once = OperationOptionsBuilder::new().with_max_failover_retry_count(0);
    let Some(throttled) = throttled else { return once.build() };
    let retries = ThrottlingRetryOptionsBuilder::new().with_max_retry_wait_time(throttled).build();
    once.with_throttling_retry_options(retries).build()
}

impl CosmosTables {
    /// Sends the planned requests, and retries them after temporary failures until the lease ends.
    pub(super) async fn send(
        &self,
        target: &Target<'_>,
        planned: &[Planned],
        lease: Option<&WriteLease>,
    ) -> Result<Acknowledged, Refused> {
        let key = key::partition_key(target.levels).map_err(Refused::Before)?;
        let send_now = |throttled: Option<Duration>| {
            let key = &key;
            async move {
                match planned {
                    [only] => self.send_one(target, key, only, once(throttled)).await,
                    all => self.send_batch(target, key, all, once(throttled)).await,
                }
            }
        };
        let send = || async {
            let Some(lease) = lease else { return send_now(None).await };
            let Some(remaining) = lease.remaining() else {
                return Err(Refused::Before(WriteLease::ended(None)));
            };
            // The timeout uses Tokio's timer, as the Azure SDK's own limits do. The runtime in the options may need a thread for each sleep, and that thread
            // would outlive the request.
            match timeout(remaining + WriteLease::ATTEMPT, send_now(Some(remaining))).await {
                // If the Azure SDK had already sent the request before, a throttled response does not prove that nothing was applied.
                Ok(Err(Refused::Whole(throttled)))
                    if failure::status(&throttled).0 == 429
                        && failure::verdict(&throttled) == failure::Verdict::Refused =>
                {
                    let error = failure::error("write", throttled);
                    Err(Refused::Before(WriteLease::ended(Some(error))))
                }
                Ok(answer) => answer,
                Err(_) => Err(Refused::Late(late())),
            }
        };
        self.options().while_busy(send, Refused::is_temporary).await
    }

    async fn send_one(
        &self,
        target: &Target<'_>,
        key: &PartitionKey,
        planned: &Planned,
        once: OperationOptions,
    ) -> Result<Acknowledged, Refused> {
        let (id, body) = (&*key::id(&planned.row_key), planned.body.as_ref());
        let nothing = Json::Null;
        let body = body.unwrap_or(&nothing);
        let mut options = ItemWriteOptions::default().with_operation_options(once);
        if let Some(tag) = &planned.if_match {
            options = options.with_precondition(Precondition::if_match(tag.clone()));
        }
        let client = &target.container.client;
        let (key, options) = (key.clone(), Some(options));
        let answer = match planned.verb {
            Verb::Create => client.create_item(key, id, body, options).await,
            Verb::Replace => client.replace_item(key, id, body, options).await,
            Verb::Upsert => client.upsert_item(key, id, body, options).await,
            Verb::Delete => client.delete_item(key, id, options).await,
        };
        let answer = answer.inspect_err(usage::charge_failed).map_err(refused)?;
        usage::charge(&answer.diagnostics());
        if answer.headers().activity_id().is_none() {
            return Err(Refused::Acknowledged(failure::not_from_service("read the entity")));
        }
        let tag = answer.headers().etag().map(ToString::to_string);
        let committed = match planned.verb {
            Verb::Delete => None,
            _ => Some(tag_of(tag.as_deref())?),
        };
        Ok(Acknowledged {
            committed: vec![committed],
            repeated: failure::was_repeated(&answer.diagnostics()),
        })
    }

    async fn send_batch(
        &self,
        target: &Target<'_>,
        key: &PartitionKey,
        planned: &[Planned],
        once: OperationOptions,
    ) -> Result<Acknowledged, Refused> {
        let batch = batch(key, planned).map_err(Refused::Whole)?;
        let options = BatchOptions::default().with_operation_options(once);
        let client = &target.container.client;
        let answer = client.execute_transactional_batch(batch, Some(options)).await;
        let answer = answer.inspect_err(usage::charge_failed).map_err(Refused::Whole)?;
        usage::charge(&answer.diagnostics());
        let repeated = failure::was_repeated(&answer.diagnostics());
        if answer.headers().activity_id().is_none() {
            return Err(Refused::Acknowledged(failure::not_from_service("read the entity")));
        }
        let results = answer.into_model().map_err(unreadable)?;
        let results = results.results();
        // A batch that was rolled back has the status 207. The operation that caused the rollback has its own status. All others have 424.
        let failed = results
            .iter()
            .position(|result| !result.is_success() && result.status_code() != FAILED_DEPENDENCY);
        if let Some((at, result)) = failed.and_then(|at| results.get(at).map(|result| (at, result))) {
            let sub = result.substatus_code().and_then(|sub| u16::try_from(sub).ok());
            let status = (result.status_code(), sub.unwrap_or_default());
            return Err(Refused::At { at, status, repeated, cause: None });
        }
        if results.len() != planned.len() || results.iter().any(|result| !result.is_success()) {
            let message = format!("the batch of {} operations has {} results", planned.len(), results.len());
            return Err(Refused::Acknowledged(Error::new(ErrorCode::InternalError, message)));
        }
        let tags = planned.iter().zip(results).map(|(plan, result)| match plan.verb {
            Verb::Delete => Ok(None),
            _ => tag_of(result.etag()).map(Some),
        });
        Ok(Acknowledged { committed: tags.collect::<Result<_, Refused>>()?, repeated })
    }
}

/// Returns the planned requests as a transactional batch.
fn batch(key: &PartitionKey, planned: &[Planned]) -> Result<TransactionalBatch, CosmosError> {
    let mut batch = TransactionalBatch::new(key.clone());
    for plan in planned {
        let condition = || plan.if_match.clone().map(Precondition::if_match);
        let (id, body) = (key::id(&plan.row_key).into_owned(), plan.body.as_ref());
        batch = match (plan.verb, body) {
            (Verb::Create, Some(body)) => batch.create_item(body)?,
            (Verb::Upsert, Some(body)) => batch.upsert_item(body, None)?,
            (Verb::Replace, Some(body)) => {
                let options = condition().map(|tag| BatchReplaceOptions::default().with_precondition(tag));
                batch.replace_item(id, body, options)?
            }
            _ => {
                let options = condition().map(|tag| BatchDeleteOptions::default().with_precondition(tag));
                batch.delete_item(id, options)
            }
        };
    }
    Ok(batch)
}

fn refused(error: CosmosError) -> Refused {
    let status = failure::status(&error);
    let reports_item = failure::is_absent(&error) || matches!(status.0, 409 | 412);
    let is_plain = reports_item && failure::is_from_service(&error) || status.0 == 413;
    if is_plain && error.is_from_wire() {
        Refused::At { at: 0, status, repeated: failure::is_repeated(&error), cause: Some(error) }
    } else {
        Refused::Whole(error)
    }
}

/// Returns the failure for an acknowledged write whose results cannot be parsed.
fn unreadable(error: CosmosError) -> Refused {
    Refused::Acknowledged(failure::error("read the results of the batch", error))
}

/// Returns the `ETag` in the response to an acknowledged write.
fn tag_of(text: Option<&str>) -> Result<ETag, Refused> {
    let message = "the service acknowledged the write without an ETag; read the entity";
    let missing = || Error::new(ErrorCode::InternalError, message).with_rule("ETAG-3");
    text.and_then(|text| item::etag(text).ok()).ok_or_else(|| Refused::Acknowledged(missing()))
}
