//! Layout files contain a program's schemas and golden rows. They are committed with the program and checked by a test.
//!
//! ```no_run
//! # use table_core::Entity;
//! # #[derive(Entity)]
//! # #[partition_key(department)]
//! # #[row_key("empid_", id)]
//! # struct Employee { department: String, #[digits(6)] id: u32 }
//! # fn ada() -> Employee { Employee { department: "Sales".to_owned(), id: 223 } }
//! #[test]
//! # fn in_a_doc_test() {}
//! fn the_layout_is_the_committed_one() {
//!     table_core::assert_layout!("layouts/company.lock", Employee => [ada()]);
//! }
//! # fn main() { the_layout_is_the_committed_one() }
//! ```
//!
//! If the file and the program differ, the test fails with the [compatibility](crate::schema::Compatibility) and the differing lines.
//!
//! `TABLES_UPDATE=1 cargo test` rewrites the file if the compatibility is *needs backfill* or better. `TABLES_UPDATE=force` always rewrites it. The change to
//! the file can then be reviewed with the code.
//!
//! For each entity type, the file contains the schema, its fingerprint, and the properties removed from it. For each sample, it contains the key, the encoded
//! row in hexadecimal, and the OData JSON. The encoded samples are called golden rows.
//!
//! Every run decodes the golden rows with the program's schema and encodes their keys again. If a row cannot be read or its key differs, the compatibility is
//! *needs rewrite*, regardless of the schemas.

mod diff;
mod fault;
mod file;
mod golden;
mod pairs;

use std::path::Path;
use std::{env, fs, io};

pub use golden::Layout;
use table_store::{Error, Result};

use crate::layout_file::diff::diff;
use crate::layout_file::fault::LayoutFileFault;
use crate::layout_file::file::Section;
use crate::layout_file::pairs::paired;
use crate::schema::{Compatibility, compare_with_removed};

/// The environment variable that permits the test to rewrite a layout file.
const VARIABLE: &str = "TABLES_UPDATE";

/// The permission of a test to rewrite a layout file that differs from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// Never rewrites the file. A difference is an error.
    Never,
    /// Rewrites the file if the compatibility is *needs backfill* or better.
    Allowed,
    /// Rewrites the file regardless of the compatibility.
    Force,
}

impl UpdateMode {
    /// Reads the mode from the environment variable [`VARIABLE`]. The variable must be unset, empty, `0`, `1` or `force`.
    ///
    /// # Errors
    /// `InvalidInput` if the variable has another value.
    pub(crate) fn from_env() -> Result<Self> {
        match env::var(VARIABLE).unwrap_or_default().as_str() {
            "" | "0" => Ok(Self::Never),
            "1" => Ok(Self::Allowed),
            "force" => Ok(Self::Force),
            other => Err(Error::of(LayoutFileFault::Variable(other.to_owned()))),
        }
    }
}

/// Compares a program's layouts with a layout file, and rewrites the file if `update` allows it.
///
/// ```
/// use table_core::layout_file::{Layout, UpdateMode, check};
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee { department: String, #[digits(6)] id: u32 }
///
/// let ada = Employee { department: "Sales".to_owned(), id: 223 };
/// let layouts = [Layout::of::<Employee>(&[ada])?];
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("company.lock");
/// assert!(check(&path, &layouts, UpdateMode::Never).is_err()); // the file does not exist
/// check(&path, &layouts, UpdateMode::Allowed)?;
/// check(&path, &layouts, UpdateMode::Never)?;
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # Errors
/// - `SchemaMismatch` if the file and the program differ, and `update` does not allow rewriting the file. The error contains the compatibility and the
///   differing lines.
/// - `Corrupted` if the file is not in the format of layout files.
/// - `OutOfRangeInput` if a sample cannot be written as JSON.
/// - `Io` if the file cannot be read or written.
pub fn check(path: &Path, layouts: &[Layout], update: UpdateMode) -> Result<()> {
    let named = |error: Error| error.with_context(&path.display().to_string());
    let committed = match fs::read_to_string(path) {
        Ok(text) => Some(text.replace("\r\n", "\n")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", path, error)),
    };
    let before = committed.as_deref().map_or_else(|| Ok(Vec::new()), file::read).map_err(named)?;
    let (before, removed) = paired(before, layouts);
    let section = |(layout, before): (_, &Option<Section>)| Section::following(before.as_ref(), layout);
    let sections = layouts.iter().zip(&before).map(section).collect::<Result<Vec<_>>>()?;
    let text = file::write(&sections);
    let judged = judge(&before, layouts, &sections, &removed);
    if committed.as_deref() == Some(text.as_str()) && judged.compatibility == Compatibility::Same {
        return Ok(());
    }
    let is_allowed = match update {
        UpdateMode::Never => false,
        UpdateMode::Allowed => judged.compatibility.is_allowed(),
        UpdateMode::Force => true,
    };
    if !is_allowed {
        let (path, is_missing) = (path.to_owned(), committed.is_none());
        let Judged { compatibility, report } = judged;
        return Err(Error::of(LayoutFileFault::Difference { path, is_missing, compatibility, report }));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed("make the folder of", path, error))?;
    }
    fs::write(path, text).map_err(|error| failed("write", path, error))
}

fn failed(verb: &'static str, path: &Path, source: io::Error) -> Error {
    Error::of(LayoutFileFault::File { verb, path: path.to_owned(), source })
}

/// The result of a comparison. It contains the worst compatibility among the differences, and a report on all of them.
struct Judged {
    compatibility: Compatibility,
    report: String,
}

fn judge(
    before: &[Option<Section>],
    layouts: &[Layout],
    sections: &[Section],
    removed: &[Section],
) -> Judged {
    let mut judged = Judged { compatibility: Compatibility::Same, report: String::new() };
    for ((layout, section), before) in layouts.iter().zip(sections).zip(before) {
        let entity = &section.schema.entity;
        let Some(before) = before else {
            judged.add(entity, Compatibility::Compatible, "is not in the file", "", &section.text);
            continue;
        };
        let evolution = compare_with_removed(&before.schema, &before.removed, &section.schema);
        let faults = before.golden.iter().filter_map(|golden| layout.fault(golden)).collect::<Vec<_>>();
        if before.text == section.text && faults.is_empty() {
            continue;
        }
        let golden = if faults.is_empty() { Compatibility::Same } else { Compatibility::NeedsRewrite };
        let compatibility = evolution.compatibility().max(golden);
        let mut says = evolution.changes.iter().map(ToString::to_string).chain(faults).collect::<Vec<_>>();
        if says.is_empty() {
            says.push("the schema is the same, but Rust names or samples changed".to_owned());
        }
        judged.add(entity, compatibility, &says.join("\n  "), &before.text, &section.text);
    }
    for gone in removed {
        judged.add(&gone.schema.entity, Compatibility::Compatible, "is only in the file", &gone.text, "");
    }
    judged
}

impl Judged {
    fn add(&mut self, entity: &str, compatibility: Compatibility, says: &str, old: &str, new: &str) {
        self.compatibility = self.compatibility.max(compatibility);
        self.report.extend([format!("\n{entity}: {compatibility}\n  {says}\n"), diff(old, new)]);
    }
}

/// Compares the layouts of entity types with a layout file in the package. Call this macro in a test.
///
/// The path is relative to the package's directory. The samples for an entity type are an array, a slice or a vector. Without samples, only the schema is
/// checked. See [`layout_file`](crate::layout_file).
///
/// # Panics
/// Panics with the error if [`layout_file::check`](crate::layout_file::check) fails.
#[macro_export]
macro_rules! assert_layout {
    (@samples) => { &[] };
    (@samples $samples:expr) => { &$samples[..] };
    ($path:literal, $($entity:ty $(=> $samples:expr)?),+ $(,)?) => {
        $crate::layout_file::assert(
            concat!(env!("CARGO_MANIFEST_DIR"), "/", $path),
            [$($crate::layout_file::Layout::of::<$entity>($crate::assert_layout!(@samples $($samples)?))),+],
        )
    };
}

/// Implements [`assert_layout!`](crate::assert_layout).
///
/// # Panics
/// Panics with the error if [`check`] fails.
#[doc(hidden)]
#[track_caller]
pub fn assert<const N: usize>(path: &str, layouts: [Result<Layout>; N]) {
    let checked = layouts.into_iter().collect::<Result<Vec<_>>>().and_then(|layouts| {
        let update = UpdateMode::from_env()?;
        check(Path::new(path), &layouts, update)
    });
    if let Err(error) = checked {
        panic!("{error:?}");
    }
}
