//! The text format of layout files, which consist of sections.

use std::fmt::Write;

use table_store::{Error, Result};

use crate::layout_file::fault::{HEAD, LayoutFileFault};
use crate::layout_file::golden::{Golden, Layout};
use crate::schema::token::{Tokens, token};
use crate::schema::{RemovedProperties, StoredSchema};

/// The number of row bytes per line.
const BYTES: usize = 32;

/// A section of a layout file, which describes one entity type.
pub(super) struct Section {
    pub(super) schema: StoredSchema,
    /// Properties that were removed from the schema, but that older rows may still contain.
    pub(super) removed: RemovedProperties,
    pub(super) golden: Vec<Golden>,
    pub(super) text: String,
}

impl Section {
    /// Creates the updated section for a layout. `before` is the existing section for the entity type, or `None` if the file has none.
    pub(super) fn following(before: Option<&Self>, layout: &Layout) -> Result<Self> {
        let Layout { schema, golden, .. } = layout;
        let removed = before.map(|before| before.removed.clone().after(&before.schema, schema));
        let removed = removed.unwrap_or_default();
        let mut text = format!("layout {} {}\n{schema}", token(&schema.entity), schema.fingerprint());
        text.extend(removed.lines().map(|line| format!("removed {line}\n")));
        for sample in golden {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "sample {} {}", token(&sample.partition_key), token(&sample.row_key));
            for bytes in sample.row.chunks(BYTES) {
                text.push_str("row");
                for byte in bytes {
                    let _ = write!(text, " {byte:02x}");
                }
                text.push('\n');
            }
            for line in sample.json()?.lines() {
                let _ = writeln!(text, "json {line}");
            }
        }
        Ok(Self { schema: schema.clone(), removed, golden: golden.clone(), text })
    }
}

pub(super) fn write(sections: &[Section]) -> String {
    let head = format!("# The layout of stored entities, checked by `assert_layout!`: {HEAD}.\n");
    sections.iter().fold(head, |text, section| text + "\n" + &section.text)
}

/// Parses the text of a layout file into its sections.
///
/// # Errors
/// `Corrupted` if the text is not a layout file; any error from parsing a schema.
pub(super) fn read(text: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with("<<<<<<< ") {
            return Err(Error::of(LayoutFileFault::Conflict));
        }
        if line.starts_with("layout ") {
            sections.push(String::new());
        }
        let Some(section) = sections.last_mut() else { return Err(corrupted(line)) };
        section.push_str(line);
        section.push('\n');
    }
    sections.into_iter().map(read_section).collect()
}

fn read_section(text: String) -> Result<Section> {
    let mut schema = String::new();
    let mut removed = RemovedProperties::default();
    let mut golden: Vec<Golden> = Vec::new();
    for line in text.lines().skip(1) {
        let (word, rest) = line.split_once(' ').ok_or_else(|| corrupted(line))?;
        match (word, golden.last_mut()) {
            ("sample", _) => golden.push(read_sample(rest).ok_or_else(|| corrupted(line))?),
            ("row", Some(sample)) => {
                let bytes = rest.split(' ').map(|byte| u8::from_str_radix(byte, 16));
                let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().map_err(|_| corrupted(line))?;
                sample.row.extend(bytes);
            }
            // The JSON is ignored, because the row contains the same data.
            ("json", Some(_)) => {}
            ("removed", None) => removed.read_line(rest).ok_or_else(|| corrupted(line))?,
            (_, None) => {
                schema.push_str(line);
                schema.push('\n');
            }
            (_, Some(_)) => return Err(corrupted(line)),
        }
    }
    Ok(Section { schema: schema.parse()?, removed, golden, text })
}

fn read_sample(rest: &str) -> Option<Golden> {
    let mut tokens = Tokens::new(rest);
    let (partition_key, row_key) = (tokens.word()?, tokens.word()?);
    tokens.is_at_end().then_some(Golden { partition_key, row_key, row: Vec::new() })
}

fn corrupted(line: &str) -> Error {
    Error::of(LayoutFileFault::Line(line.to_owned()))
}
