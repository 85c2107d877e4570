//! Wide entities: one logical entity in several rows of a partition (PAT-WIDE).
//!
//! # Context
//! More than 252 properties, or more than 1 MiB of them: a count for each of 365 days. One row cannot hold it; the whole is
//! still one thing to the program, written together and read together.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | `000123` | `2014_01` | `Office`, `Day001` … `Day250`, `WriteId` |
//! | `000123` | `2014_02` | `Day251` … `Day366`, `WriteId` |
//!
//! The parts have the key of the declaration, with `_` and the part's number behind its RowKey. Which property is in which part is
//! declared ([`Wide::PARTS`]), so that one slot is written without reading anything: [`derive(Wide)`](derive@Wide) fills each part
//! before it begins the next, or cuts where `#[part(2)]` stands.
//!
//! # Guarantee
//! - A write of several parts is one transaction (PAT-WIDE-2), with one new random `WriteId` in every part, untouched ones too.
//! - A write of one property, or of several in one part, is one merge.
//! - A reader never sees half a write (PAT-WIDE-3). It reads the parts by one range query and accepts them only if all have one
//!   `WriteId`; else it reads again, after a [back-off](table_core::retry). Why that is enough: whatever changes two parts changes
//!   the `WriteId` of all of them, so parts of one `WriteId` lie between the same two such writes, and differ only by merges
//!   that are whole in their part. It does not matter whether a page is a snapshot, or whether the parts came in one page.
//! - Merges of single parts have no order among each other for a reader whose answer took several pages: it can see the later
//!   one without the earlier.
//! - A part that is missing is an error, never a default, and so is one that the declaration does not have (PAT-WIDE-4). Where the
//!   declaration has come to another number of parts, [`resize`](WideTable::resize) brings an entity there by one transaction. A program of an
//!   older declaration, with fewer parts, is refused where it would write all parts, so that it loses none of a newer one.
//!
//! # Cost
//! The whole is one range query while it fits a page, whatever the number of parts. A slot is one merge of some hundred bytes. A
//! write of the whole is one request and one operation a part; one that does not know the versions, an insert-or-replace or a patch of several
//! parts, asks for them first.
//!
//! # Bounds
//! 99 parts, each of 251 properties and 1 MiB; 4 MiB together, because a write of the whole is one transaction (EGT-3). A part
//! that is too large is an error that names it.
//!
//! # When not to
//! For a few large values: [a blob](crate::large). For values that are never read together: rows of their own. For at most 251
//! slots: [a series](crate::series).
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

#[doc(hidden)]
pub mod derived;
mod fault;
mod fetch;
mod in_unit;
mod patch;
mod properties;
mod property;
mod resize;
mod slots;
mod table;
#[cfg(test)]
mod tests;

use table_core::entity::{Entity, FromEntity};
use table_core::error::Result;
use table_core::limits;

use crate::series::is_same;
pub use patch::WidePatch;
pub use properties::{WideReader, WideWriter};
pub use property::{WideProperty, WideSlots};
pub use slots::Slots;
pub use table::{WideStore, WideTable, WideVersion};
#[doc = include_str!("wide/derive.md")]
pub use table_derive::Wide;

/// The property that all parts of one write share.
pub const WRITE_ID: &str = "WriteId";

/// Parts of one wide entity: their numbers have two digits, and all are one transaction (EGT-2).
const MOST_PARTS: usize = 99;

/// A type that is stored as several entities of one partition: what `#[derive(Wide)]` implements.
///
/// By hand, for what is not a struct of properties and slots:
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
    /// The entity whose key the parts have, and whose own properties stand in the first part.
    ///
    /// It declares nothing else: an index copies one row, and a wide entity is in several. What is looked up, is read by a view or is copied is
    /// declared on an entity beside it, and both are written in one unit, by [`put_wide`](crate::unit::Unit::put_wide).
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
    type Header: Entity + FromEntity;
    /// The names of the properties of each part, in order. A property that is not in its part is looked for in the others, so that
    /// one can be moved; where there are more parts or fewer than when the entities were written, [`WideTable::resize`] is for each.
    const PARTS: &'static [&'static [&'static str]];

    /// The header.
    fn header(&self) -> Self::Header;

    /// Writes the properties, each under a name of [`PARTS`](Self::PARTS).
    ///
    /// # Errors
    /// Those of [`WideWriter::set`], and the type's own.
    fn write(&self, out: &mut WideWriter) -> Result<()>;

    /// Makes the type of the properties.
    ///
    /// # Errors
    /// Those of [`WideReader::get`], and the type's own.
    fn read(header: Self::Header, properties: &WideReader<'_>) -> Result<Self>;

    /// The names of all properties, part after part.
    #[must_use]
    fn names() -> impl Iterator<Item = &'static str> {
        Self::PARTS.iter().flat_map(|part| part.iter().copied())
    }
}

/// That the parts can be stored: judged while it compiles.
const fn check_parts<W: Wide>() {
    assert!(!W::PARTS.is_empty() && W::PARTS.len() <= MOST_PARTS, "a wide entity has 1 to 99 parts (EGT-2)");
    assert!(
        W::Header::INDEXES.is_empty() && !W::Header::FEED && W::Header::RELATIONS.is_none(),
        "the header of a wide entity declares no index, feed or copies, as it is in several rows: declare them on an entity beside it, and write \
         both in one unit, by `put_wide` (PAT-WIDE-1)"
    );
    let mut parts = W::PARTS;
    let mut own = W::Header::SCHEMA.properties.len();
    while let [part, rest @ ..] = parts {
        assert!(part.len() + own < limits::PROPERTIES, "a part has at most 251 properties (PAT-WIDE-1)");
        own = 0;
        let mut at = 0;
        while let Some((name, after)) = part.split_at(at).1.split_first() {
            assert!(!is_same(name, WRITE_ID), "`WriteId` is the pattern's own property");
            assert!(!occurs(name, after), "two properties of a wide entity have one name");
            let mut others = rest;
            while let [other, more @ ..] = others {
                assert!(!occurs(name, other), "two properties of a wide entity have one name");
                others = more;
            }
            at += 1;
        }
        parts = rest;
    }
}

const fn occurs(name: &str, names: &[&str]) -> bool {
    let mut names = names;
    while let [other, more @ ..] = names {
        if is_same(name, other) {
            return true;
        }
        names = more;
    }
    false
}
