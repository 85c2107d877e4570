//! Sends queue and message requests (QUE-3).

use std::time::Duration;

use reqwest::Method;
use table_core::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, TimeToLive, check};
use table_core::{Error, ErrorCode, Result};
use table_wire::queue::{lease, message, read_list, write_text};

use super::client::AzureQueues;
use super::failure::{no_message, of_answer, of_holder, of_request};
use crate::ascii;
use crate::auth::parse_http_date;
use crate::http::{Answer, Request, encode};
use crate::target::Target;
use crate::xml::{self, Element};

const XML: &str = "application/xml";

/// Returns the path of a queue's messages.
fn all(queue: &QueueName) -> String {
    format!("/{queue}/messages")
}

/// Returns the path of a message.
///
/// # Errors
/// `MessageNotFound` if the identifier is empty, `.` or `..`. No message has such an identifier, and the path would address the queue or all its messages
/// instead (QUE-3).
fn one(queue: &QueueName, id: &MessageId) -> Result<String> {
    match id.as_str() {
        "" | "." | ".." => Err(no_message(queue, id)),
        id => Ok(format!("/{queue}/messages/{}", encode(id))),
    }
}

/// Returns the request body for putting or updating a message (QUE-4).
fn body(target: Target, queue: &QueueName, text: &str) -> Result<String> {
    check::text(queue, text)?;
    if let Some(illegal) = xml::first_illegal(text) {
        let message = format!(
            "queue `{queue}`: the message contains {}, which the service cannot store; encode the message, for example in base64",
            illegal.escape_unicode()
        );
        return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("QUE-4"));
    }
    let body = write_text(text);
    Ok(if target == Target::Emulator { ascii::xml(body) } else { body })
}

/// Reads the messages in a response.
///
/// # Errors
/// `InternalError` if the response is not a list of messages.
fn read<T>(
    queue: &QueueName,
    operation: &str,
    answer: &Answer,
    one: impl Fn(&Element) -> Option<T>,
) -> Result<Vec<T>> {
    let text = std::str::from_utf8(&answer.body).ok();
    text.and_then(|text| read_list(text, one)).ok_or_else(|| of_answer(queue, operation))
}

impl AzureQueues {
    async fn send(&self, queue: &QueueName, request: Request) -> Result<Answer> {
        let reads = request.reads();
        self.pipeline().send(&request).await.map_err(|failure| of_request(queue, failure, reads))
    }

    /// Sends a delete request. A 404 after a lost response counts as success, because the queue or message no longer exists.
    async fn send_deletion(&self, queue: &QueueName, request: Request) -> Result<()> {
        match self.pipeline().send(&request.acknowledged_by(&[204])).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.status == Some(404) && failure.known && failure.into_ambiguous => Ok(()),
            Err(failure) => Err(of_holder(queue, failure)),
        }
    }

    pub(super) async fn create(&self, queue: &QueueName) -> Result<bool> {
        let request =
            Request::new("create queue", Method::PUT, format!("/{queue}")).acknowledged_by(&[201, 204]);
        match self.pipeline().send(&request).await {
            // After a lost response, it is unknown which attempt created the queue. The queue exists in any case.
            Ok(answer) => Ok(answer.status == 201),
            // The queue already exists with different metadata.
            Err(failure) if failure.known && failure.error.code() == ErrorCode::QueueAlreadyExists => {
                Ok(false)
            }
            Err(failure) => Err(of_request(queue, failure, false)),
        }
    }

    pub(super) async fn remove(&self, queue: &QueueName) -> Result<()> {
        self.send_deletion(queue, Request::new("delete queue", Method::DELETE, format!("/{queue}"))).await
    }

    pub(super) async fn count(&self, queue: &QueueName) -> Result<u64> {
        const OPERATION: &str = "get queue metadata";
        let request = Request::new(OPERATION, Method::GET, format!("/{queue}")).query("comp", "metadata");
        let answer = self.send(queue, request).await?;
        let count = answer.header("x-ms-approximate-messages-count").parse();
        count.map_err(|_| of_answer(queue, OPERATION))
    }

    pub(super) async fn put_message(&self, queue: &QueueName, put: PutMessage) -> Result<Lease> {
        const OPERATION: &str = "put message";
        check::message(queue, &put)?;
        let life = match put.time_to_live {
            TimeToLive::For(time) => time.as_secs().to_string(),
            TimeToLive::Never => "-1".to_owned(),
        };
        let request = Request::new(OPERATION, Method::POST, all(queue))
            .query("visibilitytimeout", &put.hidden.as_secs().to_string())
            .query("messagettl", &life)
            .acknowledged_by(&[201])
            .body(XML, body(self.target(), queue, &put.text)?);
        let answer = self.send(queue, request).await?;
        // The message has been put, even if the receipt in the response cannot be read.
        let put = read(queue, OPERATION, &answer, |record| lease(record, Some(&put.text)))
            .and_then(|put| put.into_iter().next().ok_or_else(|| of_answer(queue, OPERATION)));
        put.map_err(Error::into_ambiguous)
    }

    pub(super) async fn receive_messages(
        &self,
        queue: &QueueName,
        count: usize,
        hidden: Duration,
    ) -> Result<Vec<Lease>> {
        const OPERATION: &str = "get messages";
        check::count(queue, count)?;
        check::hidden(queue, hidden, Duration::from_secs(1))?;
        let request = Request::new(OPERATION, Method::GET, all(queue))
            .query("numofmessages", &count.to_string())
            .query("visibilitytimeout", &hidden.as_secs().to_string());
        let answer = self.send(queue, request).await?;
        read(queue, OPERATION, &answer, |record| lease(record, None))
    }

    pub(super) async fn peek_messages(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        const OPERATION: &str = "peek messages";
        check::count(queue, count)?;
        let request = Request::new(OPERATION, Method::GET, all(queue))
            .query("peekonly", "true")
            .query("numofmessages", &count.to_string());
        let answer = self.send(queue, request).await?;
        read(queue, OPERATION, &answer, |record| message(record, None))
    }

    pub(super) async fn update_message(
        &self,
        queue: &QueueName,
        lease: Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<Lease> {
        const OPERATION: &str = "update message";
        check::hidden(queue, hidden, Duration::ZERO)?;
        let mut request = Request::new(OPERATION, Method::PUT, one(queue, &lease.message.id)?)
            .acknowledged_by(&[204])
            .query("popreceipt", lease.receipt.as_str())
            .query("visibilitytimeout", &hidden.as_secs().to_string());
        if let Some(text) = &text {
            request = request.body(XML, body(self.target(), queue, text)?);
        }
        let sent = self.pipeline().send(&request).await;
        let answer = sent.map_err(|failure| of_holder(queue, failure))?;
        let receipt = answer.header("x-ms-popreceipt");
        let visible = parse_http_date(answer.header("x-ms-time-next-visible"));
        let Some(visible) = visible.filter(|_| !receipt.is_empty()) else {
            return Err(of_answer(queue, OPERATION).into_ambiguous());
        };
        let mut message = lease.message;
        message.text = text.unwrap_or(message.text);
        Ok(Lease::new(message, PopReceipt::new(receipt), visible))
    }

    pub(super) async fn delete_message(
        &self,
        queue: &QueueName,
        id: &MessageId,
        receipt: &PopReceipt,
    ) -> Result<()> {
        let request = Request::new("delete message", Method::DELETE, one(queue, id)?);
        self.send_deletion(queue, request.query("popreceipt", receipt.as_str())).await
    }

    pub(super) async fn clear_messages(&self, queue: &QueueName) -> Result<()> {
        let request = Request::new("clear messages", Method::DELETE, all(queue)).acknowledged_by(&[204]);
        self.send(queue, request).await.map(|_| ())
    }
}
