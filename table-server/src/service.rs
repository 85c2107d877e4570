//! The services of an account.

/// A service, which listens on a separate port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Queues,
    Blobs,
}

impl Service {
    /// Returns the name under which the service properties are stored.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Queues => "queues",
            Self::Blobs => "blobs",
        }
    }
}
