//! Test support: a substitute for the network, reproducible random numbers, and injected faults. It is enabled by the feature `testing`, is
//! not part of the API, and changes without notice.
#![cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "only tests create it, but all code reads it")
)]

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use table_core::Operation;
use table_core::row::{Property, RowView};

use crate::operation_id;

/// A request sent by the client.
#[derive(Clone, Debug)]
pub struct WireRequest {
    /// The method.
    pub method: String,
    /// The complete URL.
    pub url: String,
    /// Names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl WireRequest {
    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A complete response.
#[derive(Clone, Debug, Default)]
pub struct WireAnswer {
    /// The status.
    pub status: u16,
    /// Names in lower case, with values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The reason for a missing response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection was made, and nothing was sent.
    BeforeSending,
    /// The connection broke after the request may have arrived.
    AfterSending,
}

/// A pending response.
pub type Delivery = Pin<Box<dyn Future<Output = Result<WireAnswer, Broken>> + Send>>;

/// A substitute for connections.
pub trait Wire: Debug + Send + Sync {
    /// Sends a request.
    fn send(&self, request: WireRequest) -> Delivery;
}

/// An injected fault, which a test of histories must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// An entity with equal content counts as evidence.
    EqualContent,
    /// An entity with any identifier counts as evidence.
    AnyIdentifier,
    /// A rejection after a lost response is final.
    RefusalStands,
    /// An attempt forgets that an earlier response was lost.
    ForgetsDoubt,
    /// A deletion with 404 after a lost response succeeds.
    GoneIsDeleted,
    /// A 5xx status is a definite rejection.
    FailureIsRefusal,
    /// A batch with a truncated response counts as applied.
    CutBatchIsDone,
    /// Ordinary reads may come from the secondary.
    StaleReads,
}

impl Mutant {
    /// All injected faults.
    pub const ALL: [Self; 8] = [
        Self::EqualContent,
        Self::AnyIdentifier,
        Self::RefusalStands,
        Self::ForgetsDoubt,
        Self::GoneIsDeleted,
        Self::FailureIsRefusal,
        Self::CutBatchIsDone,
        Self::StaleReads,
    ];
}

/// Settings for tests.
#[derive(Clone, Debug, Default)]
pub struct Testing {
    /// A substitute for connections.
    pub wire: Option<Arc<dyn Wire>>,
    /// The seed of random numbers.
    pub seed: Option<u64>,
    /// The injected fault.
    pub mutant: Option<Mutant>,
}

impl Testing {
    /// Returns `true` if the fault is injected. Always `false` without the feature `testing`.
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        cfg!(feature = "testing") && self.mutant == Some(mutant)
    }
}

/// Returns `true` if an entity has the properties that an operation sent, ignoring its identifier.
pub(crate) fn has_content_of(stored: RowView<'_>, sent: &Operation) -> bool {
    let same = |property: Property<'_>| {
        property.name == operation_id::PROPERTY
            || stored.find(property.name, &mut 0).is_ok_and(|found| found == Some(property.value))
    };
    sent.kind.row().is_some_and(|row| row.view().properties().flatten().all(same))
}
