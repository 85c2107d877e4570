//! Fuzz targets for binary formats: the engine's file formats, and the row format.

use std::path::Path;
use std::sync::Arc;

use simulation::power::SimulatedDisk;
use table_core::embedded::EngineOptions;
use table_core::embedded::testing::{Disk, fuzz};
use table_core::limits::Limits;
use table_core::odata::{self, Sender};
use table_core::row::{RowView, RowWriter, merge};

/// Parses the bytes as a journal file, and as the record in a journal frame.
pub(super) fn journal(bytes: &[u8]) -> bool {
    let (file, record) = (fuzz::journal(bytes), fuzz::record(bytes));
    file || record
}

pub(super) fn block(bytes: &[u8]) -> bool {
    fuzz::block(bytes)
}

pub(super) fn index(bytes: &[u8]) -> bool {
    fuzz::index(bytes)
}

pub(super) fn base(bytes: &[u8]) -> bool {
    fuzz::version(bytes)
}

/// Opens an engine folder whose `FORMAT` file contains the given bytes.
pub(super) fn manifest(bytes: &[u8]) -> bool {
    let (disk, folder) = (SimulatedDisk::new(), Path::new("/data"));
    let written = disk.create_dir(folder).and_then(|()| {
        let file = disk.open(&folder.join("FORMAT"), true)?;
        file.write_at(0, bytes)
    });
    assert!(written.is_ok(), "a simulated disk fails: {written:?}");
    EngineOptions::new().disk(Arc::new(disk)).open(folder).is_ok()
}

/// Parses a row in every possible way. A valid row is also encoded again and converted to JSON.
pub(super) fn row(bytes: &[u8]) -> bool {
    let view = RowView::new(bytes);
    let mut written = RowWriter::new();
    let mut whole = view.check_version().is_ok();
    for (index, property) in view.properties().enumerate() {
        // After a corrupted property, later properties may be reachable by position but not by name.
        let Ok(property) = property else {
            whole = false;
            continue;
        };
        let at = view.at(index).map(|at| format!("{at:?}"));
        assert!(at.is_ok_and(|at| at == format!("{property:?}")), "{property:?} is another by its place");
        let _ = view.find(property.name, &mut 0);
        written.property(property.name, property.value);
    }
    if whole {
        for property in view.properties().flatten() {
            let found = view.find(property.name, &mut 0);
            assert!(found.is_ok_and(|found| found.is_some()), "{property:?} is not found");
        }
    }
    let (limits, merged) = (Limits::UNLIMITED.check_row(view), merge(view, view));
    let json = odata::write_body(None, view);
    if !whole {
        return false;
    }
    let written = written.finish().with_timestamp(view.timestamp());
    assert_eq!(properties(written.view()), properties(view), "a row that was written again");
    if limits.is_ok() {
        assert!(merged.is_ok(), "a row is not merged with itself: {merged:?}");
        let json = json.unwrap_or_else(|error| panic!("a row is not sent: {error}"));
        let read = odata::read_entity(json.as_bytes(), Sender::Client);
        let read = read.unwrap_or_else(|error| panic!("{json} is not read: {error}"));
        assert_eq!(properties(read.row.view()), properties(view), "a row that was sent as {json}");
    }
    true
}

/// Returns the properties of a row as text. The values themselves cannot be compared, because NaN is not equal to itself.
fn properties(row: RowView<'_>) -> Vec<String> {
    let mut all: Vec<String> = row.properties().map(|property| format!("{property:?}")).collect();
    all.sort();
    all
}
