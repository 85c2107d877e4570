//! A wire in place of the network, chance that can be repeated, and faults put back on purpose. For tests of this project, by the
//! feature `testing`: it is not part of the API, and changes without notice.
#![cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "it is made by tests alone, and asked for everywhere")
)]

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use table_core::Operation;
use table_core::row::{Property, RowView};

use crate::operation_id;

/// A request on its way.
#[derive(Clone, Debug)]
pub struct WireRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl WireRequest {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// An answer that came whole.
#[derive(Clone, Debug, Default)]
pub struct WireAnswer {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why none came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// There was no connection: nothing was sent.
    BeforeSending,
    /// The connection broke when the request may have arrived.
    AfterSending,
}

/// An answer under way.
pub type Delivery = Pin<Box<dyn Future<Output = Result<WireAnswer, Broken>> + Send>>;

/// A substitute for connections.
pub trait Wire: Debug + Send + Sync {
    /// Sends a request.
    fn send(&self, request: WireRequest) -> Delivery;
}

/// One fault put back, to show that the checker of histories finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// An entity with the content that was sent counts as evidence.
    EqualContent,
    /// An entity with any identifier counts as evidence.
    AnyIdentifier,
    /// A refusal after a lost answer is what it says.
    RefusalStands,
    /// An attempt forgets that an answer was lost before it.
    ForgetsDoubt,
    /// A deletion that finds nothing after a lost answer succeeds.
    GoneIsDeleted,
    /// A 5xx is a refusal.
    FailureIsRefusal,
    /// A batch whose answer is cut off was applied.
    CutBatchIsDone,
    /// Reads of the client itself may be answered by the secondary.
    StaleReads,
}

impl Mutant {
    /// All of them.
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
    /// In place of connections.
    pub wire: Option<Arc<dyn Wire>>,
    /// Makes chance repeatable.
    pub seed: Option<u64>,
    /// The fault put back.
    pub mutant: Option<Mutant>,
}

impl Testing {
    /// Whether a fault is put back; `false` while this is compiled, where tests cannot.
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        cfg!(feature = "testing") && self.mutant == Some(mutant)
    }
}

/// Whether an entity has the properties that an operation sent, its identifier aside.
pub(crate) fn has_content_of(stored: RowView<'_>, sent: &Operation) -> bool {
    let same = |property: Property<'_>| {
        property.name == operation_id::PROPERTY
            || stored.find(property.name, &mut 0).is_ok_and(|found| found == Some(property.value))
    };
    sent.kind.row().is_some_and(|row| row.view().properties().flatten().all(same))
}
