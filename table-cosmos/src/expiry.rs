//! The time to live of containers.

use std::fmt;

use azure_data_cosmos::models;

/// The maximum time to live accepted by the service, in seconds.
const LONGEST: u32 = i32::MAX.unsigned_abs();

/// The time to live of a container's items, counted in seconds from an item's last write.
///
/// See [`Options::time_to_live`](crate::Options::time_to_live).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeToLive {
    /// Items never expire, even if they specify their own time to live.
    #[default]
    Off,
    /// Only items that specify their own time to live expire.
    PerItem,
    /// Items expire after the given number of seconds, unless they specify their own time to live.
    Seconds(u32),
}

impl TimeToLive {
    pub(crate) const fn of(found: &models::TimeToLive) -> Self {
        match found {
            models::TimeToLive::NoDefault => Self::PerItem,
            models::TimeToLive::Seconds(seconds) => Self::Seconds(*seconds),
            _ => Self::Off,
        }
    }

    /// Clamps the number of seconds to the range accepted by the service.
    pub(crate) fn clamped(self) -> Self {
        match self {
            Self::Seconds(seconds) => Self::Seconds(seconds.clamp(1, LONGEST)),
            other => other,
        }
    }
}

impl From<TimeToLive> for models::TimeToLive {
    fn from(time: TimeToLive) -> Self {
        match time {
            TimeToLive::Off => Self::Forever,
            TimeToLive::PerItem => Self::NoDefault,
            TimeToLive::Seconds(seconds) => Self::Seconds(seconds),
        }
    }
}

impl fmt::Display for TimeToLive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("items never expire"),
            Self::PerItem => f.write_str("items with a time to live expire"),
            Self::Seconds(seconds) => write!(f, "items expire after {seconds} seconds"),
        }
    }
}
