//! The unique key policy of a container created by another program.

use std::fmt;

use azure_data_cosmos::models::ContainerProperties;

/// The unique keys of a container, each with its paths. Two items with the same partition key cannot have equal values at all paths of a unique key (LIM-16).
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueKeys(Vec<Vec<String>>);

impl UniqueKeys {
    pub(crate) fn of(container: &ContainerProperties) -> Self {
        let keys = container.unique_key_policy.iter().flat_map(|policy| &policy.unique_keys);
        Self(keys.map(|key| key.paths.clone()).filter(|paths| !paths.is_empty()).collect())
    }

    /// Returns `true` if the container has no unique keys. A 409 for an insert then always means that the item's key exists.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the paths of each key.
    pub(crate) fn into_paths(self) -> Vec<Vec<String>> {
        self.0
    }
}

/// Formats the paths of each key, such as `` `/email`, or at `/first` and `/last` ``.
impl fmt::Display for UniqueKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, paths) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", or at " })?;
            write_paths(f, paths)?;
        }
        Ok(())
    }
}

/// Writes the paths of a unique key, such as `` `/first` and `/last` ``.
pub(crate) fn write_paths(f: &mut fmt::Formatter<'_>, paths: &[String]) -> fmt::Result {
    for (at, path) in paths.iter().enumerate() {
        write!(f, "{}`{path}`", if at == 0 { "" } else { " and " })?;
    }
    Ok(())
}
