//! Chunked properties. One value is stored as several properties of up to 64 KiB, named `Data`, `Data1`, `Data2` and so on.

use table_store::{EdmType, Error, Result, ValueRef};

use crate::chunk_name::{MOST_CHUNKS, chunk_name};
use crate::limits::Limits;
use crate::property::fault::PropertyFault;
use crate::property::{Search, mismatch};
use crate::row::{RowView, RowWriter};

/// A type that can be stored in chunks. It is `Vec<u8>`, `String`, or an `Option` of one of them. Declared by `#[property(chunks)]`.
///
/// - The first chunk has the name of the property. The names of the following chunks end with a number, starting with 1. An empty value is stored as one empty
///   chunk.
/// - A chunk contains 65,536 bytes or 32,768 UTF-16 code units (TYPE-10). All chunks except the last are full, but a text chunk is one code unit shorter if it
///   would otherwise split a character.
/// - A value has at most 16 chunks, and the entity at most 1 MiB (SIZE-1).
/// - A read fails if a chunk is missing or has the wrong size. Chunks left over from an earlier value are therefore always detected.
/// - Merges are rejected, because a merge cannot remove the chunks of a longer value (MRG-3). `update`, `replace` and `insert_or_replace` are
///   not affected.
///
/// ```
/// use table_core::property::Chunked;
/// use table_core::row::RowWriter;
///
/// let mut row = RowWriter::new();
/// vec![7_u8; 100_000].write_chunks("Data", &mut row)?;
/// let row = row.finish();
/// let names: Vec<_> = row.view().properties().flatten().map(|property| property.name).collect();
/// assert_eq!(names, ["Data", "Data1"]);
/// assert_eq!(Vec::<u8>::read_all(row.view(), "Data")?.len(), 100_000);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T173] `{Self}` cannot be stored in chunks",
    label = "only bytes and text can be chunked",
    note = "`#[property(chunks)]` is for `Vec<u8>`, `String` and `Option`s of them; other values are one property"
)]
pub trait Chunked: Sized {
    /// The Edm type of each chunk's property.
    const EDM: EdmType;
    /// `true` if the value may be absent.
    const OPTIONAL: bool = false;

    /// Appends the value to a row, as one property for each chunk.
    ///
    /// # Errors
    /// `PropertyValueTooLarge`, with the name, if the value needs more than [`MOST_CHUNKS`] chunks.
    fn write_chunks(&self, name: &str, row: &mut RowWriter) -> Result<()>;

    /// Reads the value from a row.
    ///
    /// # Errors
    /// - `EntityMismatch` if the value is absent or has a different type.
    /// - `EntityMismatch` if a chunk is missing, or if a chunk other than the last is not full.
    /// - `Corrupted` if the bytes are not a row.
    fn read_all(row: RowView<'_>, name: &str) -> Result<Self>;

    /// Reads the value for generated code. On failure, returns `None` and stores the error in `search`.
    #[doc(hidden)]
    fn read_chunks(search: &mut Search<'_>, name: &'static str) -> Option<Self> {
        let read = Self::read_all(search.view(), name).map_err(|error| error.with_property(name));
        search.keep(read)
    }
}

/// Writes the chunks as properties named `name`, `name1`, `name2` and so on.
fn write<'a>(name: &str, row: &mut RowWriter, chunks: impl Iterator<Item = ValueRef<'a>>) -> Result<()> {
    for (at, value) in chunks.enumerate() {
        if at == MOST_CHUNKS {
            return Err(Error::of(PropertyFault::TooManyChunks(MOST_CHUNKS)).with_property(name));
        }
        row.property(&chunk_name(name, at), value);
    }
    Ok(())
}

/// Returns the chunks in a row, in order. The list is empty if the value is absent.
fn read<'a>(row: RowView<'a>, name: &str) -> Result<Vec<ValueRef<'a>>> {
    let mut found = Vec::new();
    let mut hint = 0;
    for at in 0..MOST_CHUNKS {
        match row.find(&chunk_name(name, at), &mut hint)? {
            Some(_) if found.len() < at => {
                let (missing, there) = (chunk_name(name, found.len()), chunk_name(name, at));
                return Err(broken(format!("`{there}` exists but `{missing}` does not")));
            }
            Some(value) => found.push(value),
            None => {}
        }
    }
    Ok(found)
}

fn broken(how: String) -> Error {
    Error::of(PropertyFault::Chunks(how))
}

/// Returns the error for a chunk that is not full, although it is not the last one. The probable cause is that chunks of an earlier, longer value are left
/// over.
fn require_full(index: usize) -> Error {
    broken(format!("chunk {index} is not the last and not full"))
}

#[diagnostic::do_not_recommend]
impl Chunked for Vec<u8> {
    const EDM: EdmType = EdmType::Binary;

    fn write_chunks(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        let empty = self.is_empty().then_some(ValueRef::Binary(&[]));
        write(
            name,
            row,
            empty.into_iter().chain(self.chunks(Limits::PORTABLE.binary_bytes).map(ValueRef::Binary)),
        )
    }

    fn read_all(row: RowView<'_>, name: &str) -> Result<Self> {
        let chunks = read(row, name)?;
        let mut whole = Self::new();
        for (at, chunk) in chunks.iter().enumerate() {
            let ValueRef::Binary(bytes) = *chunk else { return Err(mismatch(Self::EDM, Some(*chunk))) };
            if at + 1 < chunks.len() && bytes.len() != Limits::PORTABLE.binary_bytes {
                return Err(require_full(at));
            }
            whole.extend_from_slice(bytes);
        }
        if chunks.is_empty() { Err(mismatch(Self::EDM, None)) } else { Ok(whole) }
    }
}

#[diagnostic::do_not_recommend]
impl Chunked for String {
    const EDM: EdmType = EdmType::String;

    fn write_chunks(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        let mut rest = Some(self.as_str());
        let chunks = std::iter::from_fn(|| {
            let (chunk, after) = cut(rest?);
            rest = Some(after).filter(|after| !after.is_empty());
            Some(ValueRef::String(chunk))
        });
        write(name, row, chunks)
    }

    fn read_all(row: RowView<'_>, name: &str) -> Result<Self> {
        let chunks = read(row, name)?;
        let mut whole = Self::new();
        let mut ends = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            let ValueRef::String(text) = *chunk else { return Err(mismatch(Self::EDM, Some(*chunk))) };
            whole.push_str(text);
            ends.push(whole.len());
        }
        let mut rest = whole.as_str();
        for (at, end) in ends.iter().enumerate() {
            rest = cut(rest).1;
            if whole.len() - rest.len() != *end {
                return Err(require_full(at));
            }
        }
        if chunks.is_empty() { Err(mismatch(Self::EDM, None)) } else { Ok(whole) }
    }
}

/// Splits a string into a part that fits into one chunk, and the rest.
fn cut(text: &str) -> (&str, &str) {
    let most = Limits::PORTABLE.string_units;
    // No character has more code units than bytes.
    if text.len() <= most {
        return (text, "");
    }
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > most
    });
    end.and_then(|(end, _)| text.split_at_checked(end)).unwrap_or((text, ""))
}

#[diagnostic::do_not_recommend]
impl<T: Chunked> Chunked for Option<T> {
    const EDM: EdmType = T::EDM;
    const OPTIONAL: bool = true;

    fn write_chunks(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.write_chunks(name, row))
    }

    fn read_all(row: RowView<'_>, name: &str) -> Result<Self> {
        if read(row, name)?.is_empty() { Ok(None) } else { T::read_all(row, name).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;

    use super::*;
    use crate::row::Row;
    use table_store::ErrorCode;

    fn stored(value: &impl Chunked) -> Row {
        let mut row = RowWriter::new();
        value.write_chunks("Data", &mut row).unwrap();
        row.finish()
    }

    fn round_trip<T: Chunked + PartialEq + Debug>(value: &T, chunks: usize) {
        let row = stored(value);
        assert_eq!(row.view().len(), chunks);
        Limits::PORTABLE.check_row(row.view()).unwrap();
        assert_eq!(&T::read_all(row.view(), "Data").unwrap(), value);
    }

    #[test]
    fn chunks_are_split_at_the_limits() {
        for (bytes, chunks) in [(0, 1), (1, 1), (65_536, 1), (65_537, 2), (131_072, 2), (1 << 20, 16)] {
            round_trip(&vec![7_u8; bytes], chunks);
        }
        for (units, chunks) in [(0, 1), (32_768, 1), (32_769, 2), (65_536, 2), (16 * 32_768, 16)] {
            round_trip(&"x".repeat(units), chunks);
            round_trip(&"é".repeat(units), chunks);
        }
        // A character of two code units is not split. The chunk before it therefore has 32,767 code units.
        let odd = format!("x{}", "\u{1F600}".repeat(16_384));
        round_trip(&odd, 2);
        round_trip(&None::<String>, 0);
        round_trip(&Some(String::new()), 1);
        let refused = vec![0_u8; (1 << 20) + 1].write_chunks("Data", &mut RowWriter::new()).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PropertyValueTooLarge);
        assert!(refused.to_string().contains("property `Data`"), "{refused}");
    }

    #[test]
    fn malformed_chunks_are_reported() {
        let full = vec![0_u8; 65_536];
        let code = |chunks: &[(&str, &[u8])]| {
            let mut row = RowWriter::new();
            for (name, bytes) in chunks {
                row.property(name, ValueRef::Binary(bytes));
            }
            Vec::<u8>::read_all(row.finish().view(), "Data").map_err(|error| error.to_string())
        };
        assert!(code(&[]).unwrap_err().contains("absent"));
        assert!(code(&[("Data1", &[1])]).unwrap_err().contains("`Data1` exists but `Data` does not"));
        assert!(code(&[("Data", &full), ("Data2", &[1])]).unwrap_err().contains("`Data1` does not"));
        // A merge by another program left the last chunks of a longer value in place.
        assert!(
            code(&[("Data", &[1]), ("Data1", &[2])])
                .unwrap_err()
                .contains("chunk 0 is not the last and not full")
        );
        assert!(code(&[("Data", &full), ("Data15", &[1])]).unwrap_err().contains("`Data15` exists"));
        let mut row = RowWriter::new();
        row.property("Data", ValueRef::String("text"));
        assert!(Vec::<u8>::read_all(row.finish().view(), "Data").is_err());
    }

    /// Tests that another field may be named like a seventeenth chunk. A value has at most 16 chunks, so the names do not conflict.
    #[test]
    fn a_property_with_the_name_of_a_seventeenth_chunk_is_another_property() {
        for bytes in [1, 1 << 20] {
            let value = vec![7_u8; bytes];
            let mut row = RowWriter::new();
            value.write_chunks("Data", &mut row).unwrap();
            row.property("Data16", ValueRef::Int32(1));
            assert_eq!(Vec::<u8>::read_all(row.finish().view(), "Data").unwrap(), value);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_text_round_trips(parts in prop::collection::vec(("[a\u{e9}\u{20AC}\u{1F600}]{1,3}", 1..30_000_usize), 0..4)) {
            let text: String = parts.iter().map(|(text, times)| text.repeat(*times)).collect();
            prop_assume!(text.encode_utf16().count() < 15 * 32_768);
            let row = stored(&text);
            Limits::PORTABLE.check_row(row.view()).unwrap();
            prop_assert_eq!(String::read_all(row.view(), "Data").unwrap(), text);
        }
    }
}
