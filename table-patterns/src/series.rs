//! Data series: the values of a period as properties of one entity (PAT-SER).
//!
//! # Context
//! A value an hour, read by the day: messages sent, readings of a sensor. An entity a value would make 24 rows and 24 times the
//! cost of a row of what is always read together.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | whose series, `000123` | the period, `20140423` | a property a slot, `Hour00` to `Hour23`, and those that the entity itself has |
//!
//! A slot without a value is absent. The entity is declared without its slots, which [`Series`] adds.
//!
//! # Guarantee
//! - [`set`](SeriesTable::set) merges one slot and leaves the others as they are (PAT-SER-2). Of two writers the last one counts.
//! - [`increment`](SeriesTable::increment) loses no update: it reads, adds, and writes under the `ETag` it read; where another
//!   was faster it begins again, after a [back-off](table_core::retry), a bounded number of times (PAT-SER-3). A sum that its type
//!   cannot hold is an error.
//! - An increment whose answer was lost is looked up by an identifier that it stores, where the backend can lose answers: the sum
//!   comes back if it was added. Where that cannot be told, such as behind another writer's increment, it is
//!   [an ambiguous error](crate::Error::is_ambiguous) and is not repeated (CON-11).
//!
//! # Cost
//! The whole day is one request (PAT-SER-1), several days are one range query, one slot is one merge, and a read before it where the entity
//! has indexes, copies or participants. An increment is a read and a merge, and both again for each race it lost. On an account an increment also stores its identifier, as the property
//! `OperationId`: 46 bytes of the entity, and one of its 252 properties. A series that has none to spare goes without, and so does one whose
//! increment writes other rows in its transaction.
//!
//! # Bounds
//! 252 properties an entity: more slots do not compile (PAT-SER-4); [wide entities](crate::wide) take them. One entity takes
//! one write after another: where many increment at once, give each a series of its own and add them up when reading.
//!
//! # When not to
//! Where single values are looked up by something else than their place, or have properties of their own: then each is an
//! entity. Where a series is long and read as a whole: [a blob](crate::large).
//!
//! ```
//! use chrono::NaiveDate;
//! use table_patterns::series::{self, Series, SeriesTable};
//! use table_patterns::{Entity, TableStoreExt, embedded::Engine};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "MessageCounts")]
//! #[partition_key(employee)]
//! #[row_key(day)]
//! struct MessageCounts { #[digits(6)] employee: u32, day: NaiveDate }
//!
//! impl Series for MessageCounts {
//!     type Value = i32;
//!     const SLOTS: &'static [&'static str] = series::HOURS;
//! }
//!
//! # pollster::block_on(async {
//! let counts = SeriesTable::new(Engine::in_memory().table::<MessageCounts>().create_if_missing().await?);
//! let day = |day| NaiveDate::from_ymd_opt(2014, 4, day).unwrap_or_default();
//! let today = MessageCounts { employee: 123, day: day(23) };
//! counts.set(&today, 9, 40).await?;
//! assert_eq!(counts.increment(&today, 9, 2).await?, 42);
//!
//! let read = counts.get(MessageCounts::key(123, day(23))).await?.expect("just written");
//! assert_eq!((read.slot(9), read.slot(10)), (Some(&42), None));
//! let week = counts.query(MessageCounts::rows(123).day(day(21)..=day(27))).collect().await?;
//! assert_eq!(week.len(), 1);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod fault;
mod names;
mod number;
mod row;
mod table;
#[cfg(test)]
mod tests;

use table_core::column::Column;
use table_core::entity::Entity;
use table_core::limits;
use table_core::property::Property;

pub(crate) use names::is_same;
pub use names::{DAYS_OF_MONTH, HOURS, MINUTES, MONTHS};
#[doc(hidden)]
pub use names::{digits, names, texts};
pub use number::SlotNumber;
pub use row::SeriesRow;
pub use table::SeriesTable;
pub(crate) use table::{slot_name, sum_overflow, with_slots};

/// An entity that has slots beside its own properties: values of one type, one property each.
///
/// It may declare indexes, a feed, copies and whatever else an entity has: [`SeriesTable`] takes its [handle](crate::Entities), and a [unit of
/// work](crate::unit) takes rows with slots by [`put_series`](crate::unit::Unit::put_series). What is derived from the entity, as entries of
/// indexes and rows of views, is made of its own properties and holds no slots: to read a slot through an index does not compile.
pub trait Series: Entity {
    /// The type of a slot's value: `i32` for counts, `f64` for measurements. Not an `Option`: a slot without a value is absent.
    type Value: Property;
    /// The names of the slots, in order: [`HOURS`], or made by [`slot_names!`](crate::slot_names).
    const SLOTS: &'static [&'static str];

    /// A slot as a column, for filters; `None` past the end.
    ///
    /// ```
    /// # use table_patterns::{Entity, series::{self, Series}};
    /// # #[derive(Entity)]
    /// # #[partition_key(employee)]
    /// # #[row_key(day)]
    /// # struct MessageCounts { employee: u32, day: chrono::NaiveDate }
    /// # impl Series for MessageCounts {
    /// #     type Value = i32;
    /// #     const SLOTS: &'static [&'static str] = series::HOURS;
    /// # }
    /// let busy = MessageCounts::column(9).map(|nine| nine.ge(40).into_filter().to_string());
    /// assert_eq!(busy.as_deref(), Some("Hour09 ge 40"));
    /// ```
    #[must_use]
    fn column(slot: usize) -> Option<Column<Self, Option<Self::Value>>> {
        Self::SLOTS.get(slot).map(|name| Column::new(name))
    }
}

/// That slots and properties fit one entity and do not share a name: judged while it compiles (PAT-SER-4).
pub(crate) const fn check_slots<E: Entity>(slots: &[&str], more: usize) {
    let properties = E::SCHEMA.properties;
    assert!(!slots.is_empty(), "a series has slots");
    assert!(
        slots.len() + properties.len() + more <= limits::PROPERTIES,
        "an entity has at most 252 properties, slots included: take a wide entity (PAT-SER-4)"
    );
    let mut at = 0;
    while let Some((name, rest)) = slots.split_at(at).1.split_first() {
        let mut others = rest;
        while let [other, more @ ..] = others {
            assert!(!is_same(name, other), "two slots have one name");
            others = more;
        }
        let mut own = properties;
        while let [property, more @ ..] = own {
            assert!(!is_same(name, property.name), "a slot has the name of a property of the entity");
            own = more;
        }
        at += 1;
    }
}
