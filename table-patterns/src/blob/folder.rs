//! The location of a table's blobs in the blob store.

use std::collections::BTreeSet;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::Result;
use table_core::name::TableName;

use crate::blob::{InBlobs, decode};

/// The blobs of one table: a folder with a subfolder for each partition, and a folder with the marks of orphaned blobs.
#[derive(Clone)]
pub(crate) struct BlobFolder {
    pub(crate) blobs: Arc<dyn ObjectStore>,
    /// The folder that contains the blobs. Folders whose names differ only in case can also contain blobs of the table.
    pub(crate) values: Path,
    /// The folder that contains the marks. Each mark identifies an orphaned blob.
    pub(crate) marks: Path,
    /// Encodes a PartitionKey as a segment of a blob name.
    pub(crate) encode: fn(&str) -> String,
    pub(crate) decode: fn(&str) -> Option<String>,
    /// Reads the PartitionKey from the content of a blob. Returns `None` if this type of blob does not store it. Called if the blob's name contains only a hash
    /// of the PartitionKey.
    pub(crate) partition_in: fn(&[u8]) -> Result<Option<String>>,
    /// `true` if each blob's content contains its PartitionKey.
    pub(crate) is_bound: bool,
}

impl BlobFolder {
    /// Returns the table's blob folders, each with the folder that contains its marks.
    pub(crate) async fn spellings(&self) -> Result<Vec<(Path, Path)>> {
        spellings(&*self.blobs, &self.values, &self.marks).await
    }

    /// Returns the name of the table whose folder contains the blob `name`. The folder may be this one, or the folder of another table next to it. Returns
    /// `None` for any other blob.
    pub(crate) fn table_of(&self, name: &str) -> Option<TableName> {
        let (folder, _) = split_at(name, &self.values)?;
        let folder = Path::parse(folder).ok().filter(|folder| parent(folder) == parent(&self.values))?;
        TableName::new(&folder.filename().and_then(decode)?).ok()
    }
}

/// Returns the blob folders of a table, each with the folder that contains its marks. Each program spells the table's name as it declares it, so the table has
/// one folder for each spelling in use (TBL-2).
pub(crate) async fn spellings(
    blobs: &dyn ObjectStore,
    values: &Path,
    marks: &Path,
) -> Result<Vec<(Path, Path)>> {
    let mut names = BTreeSet::new();
    for folder in [values, marks] {
        let parent = parent(folder);
        let found = blobs.list_with_delimiter(Some(&parent)).await.in_blob(&parent)?;
        let spelled = found.common_prefixes.into_iter().filter(|other| is_spelling(other, folder));
        names.extend(spelled.filter_map(|folder| folder.filename().map(str::to_owned)));
    }
    let folder = |folder: &Path, name: &String| parent(folder).join(name.as_str());
    Ok(names.iter().map(|name| (folder(values, name), folder(marks, name))).collect())
}

/// Splits the name of a blob into the table's folder and the rest. Returns `None` if the blob is in none of the folders of the table to which `folder` belongs.
pub(crate) fn split<'b>(blob: &'b str, folder: &Path) -> Option<(&'b str, &'b str)> {
    let (own, rest) = split_at(blob, folder)?;
    is_spelling(&Path::parse(own).ok()?, folder).then_some((own, rest))
}

/// Splits the name of a blob after as many segments as `folder` has.
fn split_at<'b>(blob: &'b str, folder: &Path) -> Option<(&'b str, &'b str)> {
    let end = blob.match_indices('/').nth(folder.parts_count().checked_sub(1)?)?.0;
    let (own, rest) = blob.split_at_checked(end)?;
    Some((own, rest.strip_prefix('/')?))
}

/// Returns `true` if two folders belong to the same table.
fn is_spelling(folder: &Path, other: &Path) -> bool {
    let name = |folder: &Path| folder.filename().and_then(decode);
    let is_same =
        name(folder).zip(name(other)).is_some_and(|(name, other)| name.eq_ignore_ascii_case(&other));
    is_same && parent(folder) == parent(other)
}

fn parent(folder: &Path) -> Path {
    folder.parent().unwrap_or_default()
}
