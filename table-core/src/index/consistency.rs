//! Consistency of an index, as a type: in step with its entities, or eventual.

/// Whether what a source holds changes together with the entities, as a type. Sealed: [`InStep`] or [`Behind`].
pub trait Consistency: sealed::Sealed + 'static {}

/// Entities, and what an index holds of them in their own partition: both change in one transaction (PAT-INTRA-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InStep {}

/// An index in another partition or table: it follows the entities, and can be behind for a while (PAT-INTER-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for InStep {}
impl sealed::Sealed for Behind {}
impl Consistency for InStep {}
impl Consistency for Behind {}
