//! Operations on queues: create, delete, list, metadata, stored policies (QUE-3).

use std::collections::BTreeMap;
use std::fmt::Write;

use http::HeaderMap;
use table_core::{Error, ErrorCode, QueueName, QueueStore};
use table_wire::acl;
use table_wire::sas::{QueuePermissions, StoredAccessPolicy};
use table_wire::xml::content;

use crate::account::Account;
use crate::answer::Answer;
use crate::exchange::{Exchange, bad_parameter};
use crate::refusal::Refusal;
use crate::settings::Kind;

/// The maximum number of queues in a page.
const PAGE: usize = 5_000;
/// A page of queues ends once it exceeds this size, in bytes. Limiting the number of queues is not enough, because metadata can be far larger than the queue
/// names.
const PAGE_BYTES: usize = 4 << 20;
/// The maximum size in bytes of a queue's metadata, including names.
const METADATA_BYTES: usize = 8 << 10;
const PREFIX: &str = "x-ms-meta-";

/// Metadata values by name. The names are in lower case, as in HTTP header maps.
type Metadata = BTreeMap<String, String>;

pub(super) async fn answer(
    account: &Account,
    queue: &QueueName,
    verb: &str,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    match (verb, exchange.query("comp").as_deref()) {
        ("PUT", None) => create(account, queue, exchange).await,
        ("DELETE", None) => delete(account, queue, exchange).await,
        ("GET" | "HEAD", Some("metadata")) => {
            let count = account.engine.approximate_count(queue).await?;
            let mut answer = Answer::new(200).header("x-ms-approximate-messages-count", count.to_string());
            let metadata = stored(account, queue).into_iter();
            answer.metadata = metadata.map(|(name, value)| (format!("{PREFIX}{name}"), value)).collect();
            Ok(answer)
        }
        ("PUT", Some("metadata")) => {
            let new = sent(&exchange.headers)?;
            let _turn = exchange.turn(account).await?;
            exists(account, queue)?;
            store(account, queue, &new).await?;
            Ok(Answer::new(204))
        }
        ("GET" | "HEAD", Some("acl")) => {
            exists(account, queue)?;
            Ok(Answer::xml(200, acl::write_response(&account.queue_policies(queue))))
        }
        ("PUT", Some("acl")) => {
            let text = exchange.text()?;
            let policies: Option<Vec<StoredAccessPolicy<QueuePermissions>>> =
                if text.trim().is_empty() { Some(Vec::new()) } else { acl::read(text) };
            let policies =
                policies.ok_or_else(|| Refusal::xml("the body is not a list of stored access policies"))?;
            StoredAccessPolicy::check(&policies).map_err(|error| Refusal::xml(error.message()))?;
            let text = (!policies.is_empty()).then(|| acl::write(&policies));
            let _turn = exchange.turn(account).await?;
            exists(account, queue)?;
            account.settings.set(Kind::QueuePolicies, queue.as_str(), text).await?;
            Ok(Answer::new(204))
        }
        (_, Some("metadata" | "acl") | None) => Err(Refusal::method(exchange.service)),
        (_, Some(_)) => Err(bad_parameter("comp")),
    }
}

/// Creates a queue. An existing queue with the same metadata is not a conflict (QUE-3).
///
/// The metadata is stored before the queue is created, and stored again afterwards with the queue as its owner. Otherwise, a crash could leave a queue without
/// its metadata, and a repeated request would cause a conflict.
async fn create(account: &Account, queue: &QueueName, exchange: &Exchange) -> Result<Answer, Refusal> {
    let new = sent(&exchange.headers)?;
    let _turn = exchange.turn(account).await?;
    let is_new = !is_there(account, queue)?;
    if is_new {
        // Policies of an earlier queue remain stored if they could not be removed when that queue was deleted.
        account.settings.set(Kind::QueuePolicies, queue.as_str(), None).await?;
        account.settings.set_for_next_queue(queue, text(&new)).await?;
    }
    let created = account.engine.create_queue(queue).await;
    if created.is_err() && is_new {
        // If this fails as well, the metadata remains until a request creates the queue, or until the server restarts.
        drop(account.settings.set(Kind::QueueMetadata, queue.as_str(), None).await);
    }
    let created = created?;
    if created || is_new {
        store(account, queue, &new).await?;
    } else {
        // An earlier creation may have failed before it stored the metadata again.
        account.settings.settle(Kind::QueueMetadata, queue.as_str()).await?;
    }
    if created {
        return Ok(Answer::new(201));
    }
    if stored(account, queue) == new {
        return Ok(Answer::new(204));
    }
    let message = "the queue exists with other metadata";
    Err(Error::new(ErrorCode::QueueAlreadyExists, message).into())
}

async fn delete(account: &Account, queue: &QueueName, exchange: &Exchange) -> Result<Answer, Refusal> {
    let _turn = exchange.turn(account).await?;
    account.engine.delete_queue(queue).await?;
    for kind in [Kind::QueuePolicies, Kind::QueueMetadata] {
        account.settings.set(kind, queue.as_str(), None).await?;
    }
    Ok(Answer::new(204))
}

/// Returns a page of queues. The query parameters `prefix`, `marker`, `maxresults` and `include=metadata` select its contents.
pub(super) fn list(account: &Account, exchange: &Exchange) -> Result<Answer, Refusal> {
    let prefix = exchange.query("prefix").unwrap_or_default();
    let marker = exchange.query("marker").unwrap_or_default();
    let most = exchange.number::<usize>("maxresults")?;
    if most == Some(0) {
        return Err(Refusal::new(400, "OutOfRangeQueryParameterValue", "`maxresults` must be at least 1"));
    }
    let with_metadata = match exchange.query("include").as_deref() {
        None | Some("") => false,
        Some("metadata") => true,
        Some(_) => return Err(bad_parameter("include")),
    };
    let page = most.unwrap_or(PAGE).min(PAGE);
    let mut queues = account.engine.list_queues(prefix.as_ref().max(&marker), page + 1)?;
    queues.retain(|queue| queue.as_str().starts_with(prefix.as_ref()));
    let mut next = queues.get(page);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"{}/\">",
        content(&exchange.base)
    );
    let mut element = |name: &str, text: &str| {
        // Writing to a `String` never fails.
        let _ = write!(xml, "<{name}>{}</{name}>", content(text));
    };
    element("Prefix", &prefix);
    element("Marker", &marker);
    if let Some(most) = most {
        element("MaxResults", &most.to_string());
    }
    xml.push_str("<Queues>");
    for queue in queues.iter().take(page) {
        if xml.len() > PAGE_BYTES {
            next = Some(queue);
            break;
        }
        let _ = write!(xml, "<Queue><Name>{queue}</Name>");
        if with_metadata {
            xml.push_str("<Metadata>");
            for (name, value) in stored(account, queue) {
                let _ = write!(xml, "<{name}>{}</{name}>", content(&value));
            }
            xml.push_str("</Metadata>");
        }
        xml.push_str("</Queue>");
    }
    xml.push_str("</Queues>");
    let next = next.map(QueueName::as_str).unwrap_or_default();
    let _ = write!(xml, "<NextMarker>{next}</NextMarker></EnumerationResults>");
    Ok(Answer::xml(200, xml))
}

/// Returns the metadata in request headers.
///
/// # Errors
/// `InvalidMetadata` if a name or value is invalid, or if a name occurs twice (QUE-17); `MetadataTooLarge` if the metadata exceeds the maximum size.
fn sent(headers: &HeaderMap) -> Result<Metadata, Refusal> {
    let mut metadata = Metadata::new();
    for (header, value) in headers {
        let Some(name) = header.as_str().strip_prefix(PREFIX) else { continue };
        let legal = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let value = value.to_str().ok().filter(|_| legal);
        let value = value.ok_or_else(|| {
            Refusal::new(400, "InvalidMetadata", format!("`{name}`: names must be identifiers, values ASCII"))
        })?;
        if metadata.insert(name.to_owned(), value.trim().to_owned()).is_some() {
            return Err(Refusal::new(
                400,
                "InvalidMetadata",
                format!("`{name}` is given twice; give each name once"),
            ));
        }
    }
    let bytes: usize = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > METADATA_BYTES {
        return Err(Refusal::new(400, "MetadataTooLarge", "the metadata of a queue has at most 8 KiB"));
    }
    Ok(metadata)
}

fn stored(account: &Account, queue: &QueueName) -> Metadata {
    let text = account.settings.get(Kind::QueueMetadata, queue.as_str());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

async fn store(account: &Account, queue: &QueueName, metadata: &Metadata) -> Result<(), Refusal> {
    Ok(account.settings.set(Kind::QueueMetadata, queue.as_str(), text(metadata)).await?)
}

/// Returns the text to store for metadata, or `None` if the metadata is empty.
fn text(metadata: &Metadata) -> Option<String> {
    (!metadata.is_empty()).then(|| serde_json::json!(metadata).to_string())
}

/// Checks that a queue exists.
///
/// # Errors
/// `QueueNotFound` if the queue does not exist.
fn exists(account: &Account, queue: &QueueName) -> Result<(), Refusal> {
    if is_there(account, queue)? {
        return Ok(());
    }
    Err(Error::new(ErrorCode::QueueNotFound, "the queue does not exist").into())
}

fn is_there(account: &Account, queue: &QueueName) -> Result<bool, Refusal> {
    Ok(account.engine.list_queues(queue.as_str(), 1)?.first() == Some(queue))
}
