//! The indexing policy of containers: queries use the levels, ids, properties and types, and never the identifiers of writes.

use azure_data_cosmos::models::{ContainerProperties, IndexingMode, IndexingPolicy, PropertyPath};

use crate::container::difference::Difference;

/// The identifier of the write, which changes with every write.
const WRITE: &str = "/o/?";
/// The properties, which filters compare.
const PROPERTIES: &str = "/p/*";
/// The types of properties, which filters compare as well.
const TYPES: &str = "/t/*";
/// Everything.
const ALL: &str = "/*";
/// Paths that no query uses.
const UNUSED: [&str; 2] = [WRITE, "/\"_etag\"/?"];

/// Returns the policy of new containers.
pub(super) fn new() -> IndexingPolicy {
    let mut policy =
        IndexingPolicy::default().with_indexing_mode(IndexingMode::Consistent).with_included_path(ALL);
    policy.automatic = true;
    UNUSED.into_iter().fold(policy, IndexingPolicy::with_excluded_path)
}

/// Returns the differences between the policy of a container and the policy of new containers. A container of unknown policy has none.
pub(super) fn differences(container: &ContainerProperties) -> Vec<Difference> {
    let Some(policy) = &container.indexing_policy else { return Vec::new() };
    let is_off = policy.indexing_mode == Some(IndexingMode::None);
    let wanted = [(WRITE, false), (PROPERTIES, true), (TYPES, true)];
    let differing = wanted.into_iter().filter_map(|(path, wanted)| {
        let indexed = !is_off && is_indexed(policy, path);
        (indexed != wanted).then_some(Difference::Indexing { path, indexed })
    });
    differing.collect()
}

/// Returns `true` if a policy indexes a path. The most specific path of the policy decides.
fn is_indexed(policy: &IndexingPolicy, path: &str) -> bool {
    let longest = |paths: &[PropertyPath]| {
        let covering = paths.iter().filter(|rule| covers(&rule.path, path));
        covering.map(|rule| rule.path.len()).max()
    };
    match (longest(&policy.included_paths), longest(&policy.excluded_paths)) {
        (Some(included), Some(excluded)) => included > excluded,
        (included, _) => included.is_some(),
    }
}

/// Returns `true` if a path of a policy covers a path.
fn covers(rule: &str, path: &str) -> bool {
    rule == path || rule.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_path_decides_what_is_indexed() {
        let policy = new();
        assert!(
            is_indexed(&policy, PROPERTIES)
                && is_indexed(&policy, TYPES)
                && is_indexed(&policy, "/l1/?")
                && !is_indexed(&policy, WRITE)
        );
        let default = IndexingPolicy::default().with_included_path(ALL).with_excluded_path("/\"_etag\"/?");
        assert!(is_indexed(&default, PROPERTIES) && is_indexed(&default, WRITE));
        let sparse = IndexingPolicy::default().with_included_path("/l1/?").with_excluded_path(ALL);
        assert!(
            !is_indexed(&sparse, PROPERTIES) && !is_indexed(&sparse, WRITE) && is_indexed(&sparse, "/l1/?")
        );
    }
}
