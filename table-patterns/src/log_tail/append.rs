//! Appends events to a log. Each event gets a unique stamp, so an insert never replaces an existing event.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use table_core::clock::Clock;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::row::{Row, RowView};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, ValueRef};
use uuid::Uuid;

use crate::copies::declared::clear_copies;
use crate::entities::{StepRecorder, read_as};
use crate::log_tail::fault::LogFault;
use crate::log_tail::{LogStamp, LogTail};

/// Generates the stamps of one writer's events.
#[derive(Debug)]
pub(super) struct Writer {
    clock: Clock,
    /// A random number that distinguishes this writer from writers in other processes.
    number: u32,
    last: Mutex<Last>,
}

/// The tick and the counter of the last generated stamp.
#[derive(Debug, Default)]
struct Last {
    ticks: u64,
    count: u32,
}

impl Writer {
    pub(super) fn new(clock: Clock) -> Self {
        let (number, ..) = Uuid::new_v4().as_fields();
        Self { clock, number, last: Mutex::default() }
    }

    #[cfg(test)]
    pub(super) fn of_number(clock: Clock, number: u32) -> Self {
        Self { number, ..Self::new(clock) }
    }

    #[cfg(test)]
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    pub(super) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns a new stamp with the given time. If `instant` is `None`, uses the current time. Stamps with the current time never decrease.
    fn stamp(&self, instant: Option<u64>) -> LogStamp {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.count = last.count.wrapping_add(1);
        let ticks = instant.unwrap_or_else(|| {
            last.ticks = self.clock.now().max(last.ticks);
            last.ticks
        });
        LogStamp::from_ticks(ticks, (u64::from(last.count) << 32) | u64::from(self.number))
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> LogTail<E, S, O> {
    /// Appends an event with the current time. `event` creates the event from its stamp. It may be called again with a different stamp.
    ///
    /// # Errors
    /// `InvalidInput` if the event does not contain its stamp; an error if the event exceeds a limit. If the error [is ambiguous](Error::is_ambiguous), the
    /// event may be stored: the response was lost, and the lookup of the event also failed.
    pub async fn append(&self, event: impl FnMut(LogStamp) -> E) -> Result<LogStamp> {
        self.insert(None, event).await
    }

    /// Appends an event with the given time, such as an imported event. Of two events with the same tick, the one appended later counts as newer.
    ///
    /// A [`LogFollower`](crate::log_tail::LogFollower) that has already read past that time does not return the event.
    ///
    /// # Errors
    /// `KeyEncoding` if the time is outside the years 1 to 9999; any error from [`append`](Self::append).
    pub async fn append_at(
        &self,
        instant: DateTime<Utc>,
        event: impl FnMut(LogStamp) -> E,
    ) -> Result<LogStamp> {
        self.insert(Some(LogStamp::new(instant, 0)?.ticks()), event).await
    }

    async fn insert(&self, instant: Option<u64>, mut event: impl FnMut(LogStamp) -> E) -> Result<LogStamp> {
        // A second stamp is needed only if two writers have the same random number, counter and tick.
        let mut race = self.table.retry().start("the rows of all stamps that were tried");
        loop {
            let stamp = self.writer.stamp(instant);
            let event = event(stamp);
            let key = event.key_of()?;
            if !Self::stamp_of_key(&key).is_ok_and(|found| found == stamp) {
                return Err(Error::of(LogFault::OtherStamp)
                    .with_table(E::SCHEMA.table)
                    .with_key(key.partition_key.as_str(), key.row_key.as_str()));
            }
            match self.table.insert(&event).await {
                Ok(_) => return Ok(stamp),
                Err(error) if error.code() == ErrorCode::EntityAlreadyExists => {
                    if self.holds(&key, &event).await? {
                        return Ok(stamp);
                    }
                    // The store may have refused another row than the event's, such as a participant's row. It would also refuse that row with a new stamp.
                    if error.key() != Some((key.partition_key.as_str(), key.row_key.as_str())) {
                        return Err(error);
                    }
                    race.retry(error).await?;
                }
                Err(error) if error.is_ambiguous() => {
                    return match self.holds(&key, &event).await {
                        Ok(true) => Ok(stamp),
                        Ok(false) | Err(_) => Err(error),
                    };
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the stamp in an event's key.
    pub(super) fn stamp_in(event: &E) -> Result<LogStamp> {
        Self::stamp_of_key(&event.key_of()?)
    }

    fn stamp_of_key(key: &EntityKey) -> Result<LogStamp> {
        key.row_key.as_str().strip_prefix(&Self::prefix()).unwrap_or_default().parse()
    }

    /// Returns `true` if this event is stored. The insert has then succeeded (CON-11).
    async fn holds(&self, key: &EntityKey, event: &E) -> Result<bool> {
        let table = self.table().name()?;
        let Some(found) = self.table().store().get(table, key, &Select::All).await? else { return Ok(false) };
        // If a row cannot be read as an event, it is not this event.
        let Ok(stored) = own_values::<E>(key, &found.row) else { return Ok(false) };
        contains(stored.view(), own_values::<E>(key, &event.to_row()?)?.view())
    }
}

/// Returns an event's row. Properties copied from other entities are omitted.
fn own_values<E: Entity>(key: &EntityKey, row: &Row) -> Result<Row> {
    let mut event = read_as::<E>(key, row)?;
    clear_copies(&mut event);
    event.to_row()
}

/// Returns `true` if the stored row contains every property of `own` with an equal value. Rows are not compared byte by byte: a store may return properties in
/// a different order, and numbers such as -0.0 in a different representation.
fn contains(stored: RowView<'_>, own: RowView<'_>) -> Result<bool> {
    let mut hint = 0;
    for property in own.properties() {
        let property = property?;
        let is_same = match (property.value, stored.find(property.name, &mut hint)?) {
            (ValueRef::Double(own), Some(ValueRef::Double(stored))) if own.is_nan() => stored.is_nan(),
            (own, stored) => Some(own) == stored,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
