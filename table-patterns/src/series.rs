//! Data series: the values of one period, stored as properties of one entity (PAT-SER).
//!
//! # Context
//! This pattern is for values such as message counts or sensor readings. One value is written per hour, and the values of a day are read together. With one
//! entity per value, a day would need 24 rows, at 24 times the cost.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | the owner of the series, `000123` | the period, `20140423` | one property per slot, `Hour00` to `Hour23`, and the entity's own properties |
//!
//! A slot without a value has no property. The entity is declared without its slots, which the trait [`Series`] adds.
//!
//! # Guarantee
//! - [`set`](SeriesTable::set) merges one slot. The other slots and the entity's own properties stay unchanged (PAT-SER-2). The last writer wins.
//! - [`increment`](SeriesTable::increment) loses no update. It is a read-modify-write that is conditional on the `ETag`. If another writer commits first, it
//!   retries after a [backoff](table_core::retry), a limited number of times (PAT-SER-3). If the slot's type cannot represent the sum, the result is an error.
//! - On backends that can lose responses, an increment stores an identifier. After a lost response, it looks for this identifier. If the identifier has been
//!   stored, it returns the sum. If the outcome remains unknown, for example because another writer has also incremented, the result is [an ambiguous
//!   error](crate::Error::is_ambiguous), and the increment is not repeated (CON-11).
//!
//! # Cost
//! Reading a day takes one request (PAT-SER-1), and reading several days takes one range query. Setting a slot takes one merge, and before it a read if the
//! entity has indexes, copies or participants. If the entity has properties of its own, the first slot of a period takes an insert after the failed merge. An
//! increment takes a read and a merge, which are repeated after each conflict.
//!
//! On a cloud account, an increment also stores an identifier in the `OperationId` property. It uses 46 bytes of the entity and one of its 252 properties. The
//! identifier is omitted if the entity has no spare property, or if the increment writes other rows in its transaction.
//!
//! # Bounds
//! An entity has at most 252 properties. A series with more does not compile (PAT-SER-4); use [wide entities](crate::wide) instead. Writes to one entity happen
//! one after another. If many writers increment concurrently, give each writer its own series, and add up the series when reading.
//!
//! # When not to
//! If values are found by criteria other than their slot, or have further properties, store each value as an entity. If a long series is always read
//! completely, use [a blob](crate::large).
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
use table_core::schema::ENTITY_TYPE;

pub use names::{DAYS_OF_MONTH, HOURS, MINUTES, MONTHS};
#[doc(hidden)]
pub use names::{digits, names, texts};
pub(crate) use names::{is_same, is_sorted};
pub use number::SlotNumber;
pub use row::SeriesRow;
pub use table::SeriesTable;
pub(crate) use table::{add_to_slots, named_slots, only_slots, with_slots};

/// An entity with slots in addition to its properties. Slots are values of one type. Each is stored as one property.
///
/// Like any other entity, the entity may declare indexes, a feed and copies: [`SeriesTable`] uses its [handle](crate::Entities).
/// [`put_series`](crate::unit::UnitOfWork::put_series) adds rows with slots to a [unit of work](crate::unit). Derived rows, such as index entries and view
/// rows, contain only the entity's own properties. Reading a slot through an index does not compile.
#[diagnostic::on_unimplemented(
    message = "[T254] `{Self}` is not a series",
    label = "expected an entity with `impl Series`",
    note = "write `impl Series for {Self} {{ type Value = i32; const SLOTS: &'static [&'static str] = series::HOURS; }}`, with `use table_patterns::series::{{self, Series}};`"
)]
pub trait Series: Entity {
    /// The type of a slot's value, such as `i32` for counts or `f64` for measurements. It cannot be an `Option`, because an empty slot is not stored.
    type Value: Property;
    /// The property names of the slots, in order. Use [`HOURS`], for example, or names generated by [`slot_names!`](crate::slot_names).
    const SLOTS: &'static [&'static str];

    /// Returns the column of a slot, for filters. Returns `None` if the slot does not exist. Slots are counted from 0.
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

/// Checks at compile time that the slots and the properties fit into one entity and have different names (PAT-SER-4).
pub(crate) const fn check_slots<E: Entity>(slots: &[&str], more: usize) {
    // A chunked value is stored as several properties. The schema lists all of them.
    let properties = E::SCHEMA.properties;
    let kind = if E::SCHEMA.kind.is_some() { 1 } else { 0 };
    assert!(!slots.is_empty(), "a series has slots");
    assert!(
        slots.len() + properties.len() + kind + more <= limits::PROPERTIES,
        "an entity has at most 252 properties, including its kind and its slots: take a wide entity (PAT-SER-4)"
    );
    let mut keeps = E::SCHEMA.keeps;
    while let [kept, more @ ..] = keeps {
        assert!(
            !is_same(kept, "rest"),
            "the `rest` field of this entity would collect its slots: declare the properties, or store the rest in another entity (PAT-SER-4)"
        );
        keeps = more;
    }
    let mut at = 0;
    while let Some((name, rest)) = slots.split_at(at).1.split_first() {
        let mut reserved: &[&str] = &["PartitionKey", "RowKey", "Timestamp", ENTITY_TYPE];
        while let [other, more @ ..] = reserved {
            assert!(
                !is_same(name, other),
                "a slot has a reserved name: `PartitionKey`, `RowKey`, `Timestamp` or `EntityType`"
            );
            reserved = more;
        }
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
