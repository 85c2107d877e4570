//! The services of an account.

/// What a port serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Tables,
    Queues,
    Blobs,
}

impl Service {
    /// The word for it in settings and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Queues => "queues",
            Self::Blobs => "blobs",
        }
    }
}
