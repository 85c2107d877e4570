//! The names of log blobs: service, date, hour and counter (LOG-2).

use chrono::{DateTime, Timelike, Utc};
use object_store::path::Path;
use table_core::{Error, Result};

use crate::log_blobs::fault::LogBlobFault;

/// Checks a service name. The names of all its log blobs begin with it.
pub(super) fn check_service(service: &str) -> Result<()> {
    let legal =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    if !service.is_empty() && service.chars().all(legal) {
        return Ok(());
    }
    Err(Error::of(LogBlobFault::Service(service.to_owned())))
}

/// Returns the start of the hour that contains `instant`.
pub(super) fn hour(instant: DateTime<Utc>) -> DateTime<Utc> {
    // The hour is computed from calendar fields, because chrono's rounding uses nanoseconds, which overflow in the year 2262.
    instant.date_naive().and_hms_opt(instant.hour(), 0, 0).map_or(instant, |hour| hour.and_utc())
}

/// Returns the folder for an hour's blobs, such as `queue/2014/07/31/1800`.
pub(super) fn folder(service: &str, hour: DateTime<Utc>) -> Path {
    Path::from(format!("{service}/{}", hour.format("%Y/%m/%d/%H00")))
}

/// Returns the name of the blob with the given counter in a folder, such as `000001.log` for counter 1. Counters of 1,000,000 and above have more than six
/// digits.
pub(super) fn blob(folder: &Path, counter: u64) -> Path {
    folder.clone().join(format!("{counter:06}.log"))
}

/// Returns the counter in a blob's name, or `None` if the name has a different format.
pub(super) fn counter(path: &Path) -> Option<u64> {
    let digits = path.filename()?.strip_suffix(".log")?;
    digits.parse().ok().filter(|counter| format!("{counter:06}") == digits)
}
