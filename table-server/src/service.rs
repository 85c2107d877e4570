//! The services of an account.

/// The service that listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Queues,
    Blobs,
}

impl Service {
    /// Returns the name used in settings and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Queues => "queues",
            Self::Blobs => "blobs",
        }
    }
}
