//! Wide entities: one logical entity that is stored in several rows of a partition, called its parts (PAT-WIDE).
//!
//! # Context
//! This pattern is for entities with more than 252 properties or more than 1 MiB, such as an entity with one count for each day of a year. A single row cannot
//! contain such an entity, but the program still writes and reads it as one.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | `000123` | `2014_01` | `Office`, `Day001` … `Day250`, `WriteId` |
//! | `000123` | `2014_02` | `Day251` … `Day366`, `WriteId` |
//!
//! Each part has the declared key; its RowKey ends with `_` and the part number. The declaration assigns each property to a part ([`Wide::PARTS`]), so one slot
//! can be written without a read. [`derive(Wide)`](derive@Wide) fills each part before it begins the next one. `#[part(2)]` begins a new part.
//!
//! # Guarantee
//! - A write of several parts is one transaction (PAT-WIDE-2). It sets a new random `WriteId` in every part, even in unchanged parts.
//! - A write of properties in a single part is one merge.
//! - A reader never sees a partial write (PAT-WIDE-3). It reads the parts with one range query, and accepts them only if all have the same `WriteId`.
//!   Otherwise, it reads them again after a [backoff](table_core::retry). This is sufficient, because every write of two or more parts changes the `WriteId` of
//!   all parts. Parts with the same `WriteId` therefore come from the same write, possibly with later merges into single parts. This is true even if the result
//!   takes several pages, and the pages are not snapshots.
//! - If the result takes several pages, a reader may see merges of different parts out of order: the later merge without the earlier one.
//! - A missing or undeclared part is an error. It never results in default values (PAT-WIDE-4). If the declared number of parts has changed,
//!   [`resize`](WideTable::resize) converts an entity in one transaction. If a program's older declaration has fewer parts, it cannot write all parts of a
//!   newer entity. Its writes are refused, so no data is lost.
//! - Programs with different declarations may write a property into different parts. If two parts contain different values of a property, a read fails, because
//!   either value may be the later one (PAT-WIDE-4).
//! - All slot numbers of a field have as many digits as the last one. A longer range can therefore rename its slots: `#[slots("Day", 1..=99)]` stores `Day01`,
//!   and `1..=366` stores `Day001`. Names that differ only in leading zeros of their final number refer to the same property, unless both are declared. A
//!   property under such a name is read and converted like a property in a different part.
//! - [`resize`](WideTable::resize) keeps undeclared properties, and so does an [update](WideTable::update).
//!
//! # Cost
//! If the entity fits into a page, reading it takes one range query, regardless of the number of parts. The query also returns rows of other entities whose
//! `RowKey`s lie between those of the parts, such as `2014_01_07`. Store such entities under keys outside this range. Writing a slot takes one merge of a few
//! hundred bytes. Writing all parts takes one request with one operation per part. An insert-or-replace first reads the versions of the parts, and so does a
//! patch that changes several parts.
//!
//! # Bounds
//! An entity has at most 99 parts, each with up to 251 properties and 1 MiB, and at most 4 MiB in total, because one transaction writes all parts (EGT-3). If a
//! part is too large, the error contains its name.
//!
//! A client that stores an identifier with each write (`Options::operation_ids` of `table-azure`) needs one more property in each part. For such a client, a
//! write of a part with 251 properties fails (`TooManyProperties`), so begin a new part after at most 250 properties, with `#[part(…)]`.
//!
//! # When not to
//! For a few large values, use [a blob](crate::large). If the values are never read together, use separate rows. For at most 251 slots, use [a
//! series](crate::series).
//!
//! ```
//! use table_patterns::embedded::Engine;
//! use table_patterns::wide::{Wide, WideStore, WideTable};
//!
//! #[derive(Wide, Debug, PartialEq)]
//! #[entity(table = "MessageCounts")]
//! #[partition_key(employee)]
//! #[row_key(year)]
//! struct YearOfCounts {
//!     #[digits(6)]
//!     employee: u32,
//!     #[digits(4)]
//!     year: u16,
//!     office: Option<String>,
//!     #[slots("Day", 1..=366)]
//!     days: [Option<i32>; 366],
//! }
//!
//! # pollster::block_on(async {
//! let counts: WideTable<YearOfCounts, _> = Engine::in_memory().wide().create_if_missing().await?;
//! counts.insert(&YearOfCounts { employee: 123, year: 2014, office: None, days: [Some(7); 366] }).await?;
//! counts.set(YearOfCounts::key(123, 2014), YearOfCounts::DAYS.at(200), 8).await?;
//!
//! let (read, _) = counts.get(YearOfCounts::key(123, 2014)).await?.expect("just inserted");
//! assert_eq!((read.days[0], read.days[199]), (Some(7), Some(8)));
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod check;
#[doc(hidden)]
pub mod derived;
mod fault;
mod fetch;
mod in_unit;
mod patch;
mod places;
mod properties;
mod property;
mod resize;
mod slots;
mod table;
#[cfg(test)]
mod tests;

use table_core::Result;
use table_core::entity::{Entity, FromEntity};

pub use patch::WidePatch;
pub use properties::{WideReader, WideWriter};
pub use property::{WideProperty, WideSlots};
pub use slots::Slots;
pub use table::{WideStore, WideTable, WideVersion};
#[doc = include_str!("wide/derive.md")]
pub use table_derive::Wide;

/// The property that identifies a write of several parts. All parts that are written together contain the same value.
pub const WRITE_ID: &str = "WriteId";

/// The maximum number of parts. Part numbers have two digits, and one transaction writes all parts (EGT-2).
const MOST_PARTS: usize = 99;

/// A type that is stored in several rows of one partition. `#[derive(Wide)]` implements it.
///
/// A manual implementation is needed only for types that are not structs with properties and slots:
///
/// ```
/// use table_patterns::wide::{Wide, WideReader, WideWriter};
/// use table_patterns::{Entity, Result, slot_names};
///
/// #[derive(Entity, Clone)]
/// #[entity(table = "MessageCounts")]
/// #[partition_key(employee)]
/// #[row_key(year)]
/// struct Year { #[digits(6)] employee: u32, #[digits(4)] year: u16 }
///
/// struct YearOfCounts { year: Year, days: Vec<Option<i32>> }
///
/// impl Wide for YearOfCounts {
///     type Header = Year;
///     const PARTS: &'static [&'static [&'static str]] = &[slot_names!("Day", 1, 183), slot_names!("Day", 184, 183)];
///
///     fn header(&self) -> Year {
///         self.year.clone()
///     }
///
///     fn write(&self, out: &mut WideWriter) -> Result<()> {
///         Self::names().zip(&self.days).try_for_each(|(name, count)| out.set(name, count))
///     }
///
///     fn read(year: Year, properties: &WideReader<'_>) -> Result<Self> {
///         Ok(Self { year, days: Self::names().map(|name| properties.get(name)).collect::<Result<_>>()? })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T150] `{Self}` is not a wide entity",
    label = "a type that is stored in parts is expected here",
    note = "derive it: `#[derive(Wide)]` with `#[partition_key(…)]` and `#[row_key(…)]`, in place of `#[derive(Entity)]`"
)]
pub trait Wide: Sized {
    /// The entity type that defines the parts' key. Its properties are stored in the first part.
    ///
    /// The header cannot declare an index, a feed or copies. These patterns work on a single row, and a wide entity has several. `#[derive(Wide)]` reports such
    /// declarations (T159). A separately declared header with one of them does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use table_patterns::wide::{Wide, WideReader, WideStore, WideWriter};
    /// # use table_patterns::{Engine, Entity, Result, slot_names};
    /// #[derive(Entity, Clone)]
    /// #[entity(feed)]
    /// #[partition_key(employee)]
    /// #[row_key(year)]
    /// struct Year { employee: u32, year: u16 }
    ///
    /// # struct YearOfCounts { year: Year }
    /// # impl Wide for YearOfCounts {
    /// #     const PARTS: &'static [&'static [&'static str]] = &[slot_names!("Day", 1, 183)];
    /// #     fn header(&self) -> Year { self.year.clone() }
    /// #     fn write(&self, _: &mut WideWriter) -> Result<()> { Ok(()) }
    /// #     fn read(year: Year, _: &WideReader<'_>) -> Result<Self> { Ok(Self { year }) }
    ///     type Header = Year;
    /// # }
    /// let counts = Engine::in_memory().wide::<YearOfCounts>();
    /// ```
    ///
    /// Declare the index, feed or copies on another entity, and write both entities in one unit with [`put_wide`](crate::unit::UnitOfWork::put_wide).
    type Header: Entity + FromEntity;
    /// The names of the properties in each part, in order. Reads also find a property that is stored in a different part.
    ///
    /// Before you change the number of parts, or move a property to another part, stop all programs with the earlier declaration. They would write the property
    /// into its old part. Then convert each stored entity with [`WideTable::resize`] before any program sets the property. If two parts contain different
    /// values of a property, reading it fails.
    const PARTS: &'static [&'static [&'static str]];
    /// `true` if the derive macro has checked that the names are distinct. Otherwise, the compiler compares them, which takes too long if there are thousands
    /// of names.
    #[doc(hidden)]
    const ARE_NAMES_CHECKED: bool = false;

    /// Returns the entity that contains the wide entity's key.
    fn header(&self) -> Self::Header;

    /// Writes the properties, each under its name in [`PARTS`](Self::PARTS).
    ///
    /// # Errors
    /// Any error from [`WideWriter::set`] or the type itself.
    fn write(&self, out: &mut WideWriter) -> Result<()>;

    /// Creates the wide entity from its header and its properties.
    ///
    /// # Errors
    /// Any error from [`WideReader::get`] or the type itself.
    fn read(header: Self::Header, properties: &WideReader<'_>) -> Result<Self>;

    /// Returns the names of all properties, in the order of the parts.
    #[must_use]
    fn names() -> impl Iterator<Item = &'static str> {
        Self::PARTS.iter().flat_map(|part| part.iter().copied())
    }
}
