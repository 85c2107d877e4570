//! The indexing policy of containers. It indexes the members that queries use: levels, ids, properties and their types. It does not index write identifiers.

use azure_data_cosmos::models::{ContainerProperties, IndexingMode, IndexingPolicy, PropertyPath};

use crate::container::difference::Difference;
use crate::mapping::{Mapping, Path};

/// The indexing path that covers all members.
const ALL: &str = "/*";
/// The indexing path of the `ETag`. It is not indexed, because every write changes it and no query uses it.
const ETAG: &str = "/\"_etag\"/?";

/// Returns the indexing policy for a new container.
pub(super) fn new(mapping: &Mapping) -> IndexingPolicy {
    let mut policy =
        IndexingPolicy::default().with_indexing_mode(IndexingMode::Consistent).with_included_path(ALL);
    policy.automatic = true;
    policy.with_excluded_path(mapping.own.write.in_policy("?")).with_excluded_path(ETAG)
}

/// Returns the differences between a container's policy and the policy for new containers. The list is empty if the container's policy is unknown.
pub(super) fn differences(container: &ContainerProperties, mapping: &Mapping) -> Vec<Difference> {
    let Some(policy) = &container.indexing_policy else { return Vec::new() };
    let is_off = policy.indexing_mode == Some(IndexingMode::None);
    let own = &mapping.own;
    // Queries compare the levels and the constants, and filters compare the properties.
    let levels = mapping.levels.iter().chain(mapping.constants.iter().map(|(path, _)| path));
    let compared = levels.chain(mapping.members.iter().map(|member| &member.path));
    let compared = compared.map(|path| (path.in_policy("?"), true));
    let wanted = [
        (own.write.in_policy("?"), false),
        (own.properties.in_policy("*"), true),
        (own.types.in_policy("*"), true),
    ];
    let differing = wanted.into_iter().chain(compared).filter_map(|(path, wanted)| {
        let indexed = !is_off && is_indexed(policy, &path);
        (indexed != wanted).then_some(Difference::Indexing { path, indexed })
    });
    differing.collect()
}

/// Returns `true` if a policy indexes a path. If several paths in the policy match, the most precise path decides.
fn is_indexed(policy: &IndexingPolicy, path: &str) -> bool {
    let Some(path) = Covered::parse(path) else { return false };
    let most_precise = |paths: &[PropertyPath]| {
        let rules = paths.iter().filter_map(|rule| Covered::parse(&rule.path));
        rules.filter(|rule| rule.covers(&path)).map(|rule| rule.precision()).max()
    };
    match (most_precise(&policy.included_paths), most_precise(&policy.excluded_paths)) {
        (Some(included), Some(excluded)) => included > excluded,
        (included, _) => included.is_some(),
    }
}

/// A parsed policy path. `/a/b/?` covers the value at `/a/b`, and `/a/b/*` also covers everything below it.
#[derive(PartialEq)]
struct Covered {
    names: Vec<String>,
    is_all: bool,
}

impl Covered {
    /// Parses a path in a policy. Quotes are ignored, because a policy may quote any name.
    ///
    /// Returns `None` for paths that no mapping can contain, such as paths of array elements.
    fn parse(text: &str) -> Option<Self> {
        let (path, is_all) = match text.strip_suffix("/*") {
            Some(path) => (path, true),
            None => (text.strip_suffix("/?")?, false),
        };
        let names = if path.is_empty() { Vec::new() } else { Path::parse(path)?.into_names() };
        Some(Self { names, is_all })
    }

    fn covers(&self, other: &Self) -> bool {
        self == other || self.is_all && other.names.starts_with(&self.names)
    }

    /// Returns a sort key for the precision of the path. The path with more names is more precise. Among paths with the same names, `?` is more precise than
    /// `*`.
    fn precision(&self) -> (usize, bool) {
        (self.names.len(), !self.is_all)
    }
}

#[cfg(test)]
mod tests {
    use azure_data_cosmos::models::PartitionKeyDefinition;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::mapping::Format;

    #[test]
    fn the_most_precise_path_decides_what_is_indexed() {
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

    /// Returns the path of each indexing difference, with `true` if the container indexes it.
    fn paths(container: &ContainerProperties, mapping: &Mapping) -> Vec<(String, bool)> {
        let paths = differences(container, mapping).into_iter().map(|difference| match difference {
            Difference::Indexing { path, indexed } => (path, indexed),
            other => panic!("{other}"),
        });
        paths.collect()
    }

    /// Returns a container with one level that indexes only the given paths.
    fn sparse(included: &[&str]) -> ContainerProperties {
        let policy = IndexingPolicy::default().with_excluded_path(ALL);
        let policy =
            included.iter().fold(policy, |policy, path| policy.with_included_path((*path).to_owned()));
        let key = PartitionKeyDefinition::new(vec!["/l1".into()]);
        ContainerProperties::new("Orders".to_owned(), key).with_indexing_policy(policy)
    }

    #[test]
    fn a_compared_path_without_an_index_is_reported() {
        let mapping = Mapping::new(["/tenantId", "/customer/id"])
            .property("Total", "/total/amount", Format::Double)
            .constant("/type", "order");
        let all =
            ["/_tables/p/*", "/_tables/t/*", "/tenantId/?", "/customer/id/?", "/type/?", "/total/amount/?"];
        for without in 0..=all.len() {
            let included: Vec<&str> =
                all.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, path)| *path).collect();
            let expected: Vec<_> =
                all.get(without).map(|path| ((*path).to_owned(), false)).into_iter().collect();
            assert_eq!(paths(&sparse(&included), &mapping), expected);
        }
        let container = sparse(&["/customer/*"]);
        let expected =
            all.iter().filter(|path| **path != "/customer/id/?").map(|path| ((*path).to_owned(), false));
        assert_eq!(paths(&container, &mapping), expected.collect::<Vec<_>>());
        assert_eq!(differences(&container.with_indexing_policy(new(&mapping)), &mapping), []);
    }

    #[test]
    fn a_level_of_the_standard_format_without_an_index_is_reported() {
        let found = paths(&sparse(&["/p/*", "/t/*"]), &Mapping::standard(2));
        assert_eq!(found, ["/l1/?", "/l2/?"].map(|path| (path.to_owned(), false)));
    }

    /// Returns a path in policy syntax. Names whose flag is `true` are quoted.
    fn text(names: &[(&str, bool)], is_all: bool) -> String {
        let quoted =
            |(name, quoted): &(&str, bool)| if *quoted { format!("\"{name}\"") } else { (*name).to_owned() };
        let ending = if is_all { "*" } else { "?" };
        let names = names.iter().map(quoted).chain([ending.to_owned()]);
        format!("/{}", names.collect::<Vec<_>>().join("/"))
    }

    proptest! {
        /// Tests the service's rule: longer paths are more precise, and `?` is more precise than `*`.
        #[test]
        fn the_most_precise_path_decides_however_names_are_quoted(
            rules in vec((vec((select(vec!["a", "bb", "a/b"]), any::<bool>()), 0..3), any::<bool>(), any::<bool>()), 0..6),
            path in vec(select(vec!["a", "bb", "a/b"]), 1..4),
            is_all in any::<bool>(),
        ) {
            // A name that contains a slash is always quoted. A policy contains each path only once.
            let quoted = |names: &[(&'static str, bool)]| -> Vec<_> {
                names.iter().map(|(name, quoted)| (*name, *quoted || name.contains('/'))).collect()
            };
            let mut rules: Vec<_> = rules
                .into_iter()
                .map(|(names, all, is_included)| (quoted(&names), all || names.is_empty(), is_included))
                .collect();
            rules.sort_by_key(|(names, all, _)| (names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), *all));
            rules.dedup_by_key(|(names, all, _)| (names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), *all));
            let mut policy = IndexingPolicy::default();
            for (names, all, is_included) in &rules {
                let text = text(names, *all);
                policy =
                    if *is_included { policy.with_included_path(text) } else { policy.with_excluded_path(text) };
            }
            // The paths from the value to the root, most precise first.
            let at = |count: usize, all: bool| {
                rules.iter().find(|(names, is_all, _)| {
                    *is_all == all && names.iter().map(|(name, _)| name).eq(path.iter().take(count)) && names.len() == count
                })
            };
            let itself = if is_all { None } else { at(path.len(), false) };
            let deciding = itself.or_else(|| (0..=path.len()).rev().find_map(|count| at(count, true)));
            let target = text(&quoted(&path.iter().map(|name| (*name, false)).collect::<Vec<_>>()), is_all);
            prop_assert_eq!(is_indexed(&policy, &target), deciding.is_some_and(|(_, _, is_included)| *is_included));
        }
    }
}
