//! The indexing policy of containers. It covers the members of items that queries use (levels, ids, properties and their types), but not write identifiers.

use azure_data_cosmos::models::{ContainerProperties, IndexingMode, IndexingPolicy, PropertyPath};

use crate::container::difference::Difference;
use crate::mapping::Mapping;

/// The indexing path that covers all members.
const ALL: &str = "/*";
/// The indexing path of the `ETag`, which every write changes and no query uses.
const ETAG: &str = "/\"_etag\"/?";

/// Returns the indexing policy for new containers.
pub(super) fn new(mapping: &Mapping) -> IndexingPolicy {
    let mut policy =
        IndexingPolicy::default().with_indexing_mode(IndexingMode::Consistent).with_included_path(ALL);
    policy.automatic = true;
    policy.with_excluded_path(mapping.own.write.in_policy("?")).with_excluded_path(ETAG)
}

/// Returns the differences between the policy of a container and the policy for new containers. The list is empty if the container's policy is unknown.
pub(super) fn differences(container: &ContainerProperties, mapping: &Mapping) -> Vec<Difference> {
    let Some(policy) = &container.indexing_policy else { return Vec::new() };
    let is_off = policy.indexing_mode == Some(IndexingMode::None);
    let own = &mapping.own;
    let members = mapping.members.iter().map(|member| (member.path.in_policy("?"), true));
    let wanted = [
        (own.write.in_policy("?"), false),
        (own.properties.in_policy("*"), true),
        (own.types.in_policy("*"), true),
    ];
    let differing = wanted.into_iter().chain(members).filter_map(|(path, wanted)| {
        let indexed = !is_off && is_indexed(policy, &path);
        (indexed != wanted).then_some(Difference::Indexing { path, indexed })
    });
    differing.collect()
}

/// Returns `true` if a policy indexes a path. The most specific matching path in the policy decides.
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

/// Returns `true` if a path in a policy covers another path. Quotes are ignored, because policies may quote names that need no quotes.
fn covers(rule: &str, path: &str) -> bool {
    let (rule, path) = (rule.replace('"', ""), path.replace('"', ""));
    rule == path || rule.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use azure_data_cosmos::models::PartitionKeyDefinition;

    use super::*;
    use crate::mapping::Format;

    #[test]
    fn the_most_specific_path_decides_what_is_indexed() {
        const PROPERTIES: &str = "/p/*";
        const WRITE: &str = "/o/?";
        let policy = new(&Mapping::standard(1));
        assert!(
            is_indexed(&policy, PROPERTIES)
                && is_indexed(&policy, "/t/*")
                && is_indexed(&policy, "/l1/?")
                && !is_indexed(&policy, WRITE)
        );
        let default = IndexingPolicy::default().with_included_path(ALL).with_excluded_path(ETAG);
        assert!(is_indexed(&default, PROPERTIES) && is_indexed(&default, WRITE));
        let sparse = IndexingPolicy::default().with_included_path("/\"l1\"/?").with_excluded_path(ALL);
        assert!(
            !is_indexed(&sparse, PROPERTIES) && !is_indexed(&sparse, WRITE) && is_indexed(&sparse, "/l1/?")
        );
    }

    #[test]
    fn a_mapped_property_without_an_index_is_reported() {
        let mapping = Mapping::new(["/tenantId"]).property("Total", "/total/amount", Format::Double);
        let key = PartitionKeyDefinition::new(vec!["/tenantId".into()]);
        let policy = IndexingPolicy::default().with_included_path("/customer/*").with_excluded_path(ALL);
        let container = ContainerProperties::new("Orders".to_owned(), key).with_indexing_policy(policy);
        let paths = differences(&container, &mapping).into_iter().map(|difference| match difference {
            Difference::Indexing { path, indexed } => (path, indexed),
            other => panic!("{other}"),
        });
        let expected =
            ["/_tables/p/*", "/_tables/t/*", "/total/amount/?"].map(|path| (path.to_owned(), false));
        assert_eq!(paths.collect::<Vec<_>>(), expected);
        let container = container.with_indexing_policy(new(&mapping));
        assert_eq!(differences(&container, &mapping), []);
    }
}
