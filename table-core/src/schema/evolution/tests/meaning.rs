//! Tests of stored names whose meaning changes between releases: a property becomes a chunk of another property, or its type changes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use table_store::EdmType;

use super::judged_after;
use crate::schema::evolution::{Evolution, compare_schemas};
use crate::schema::stored::{StoredProperty, StoredSchema};

/// The declaration of a field: its type, whether it is an `Option`, and whether it has `#[property(chunks)]`.
type Declared = (EdmType, bool, bool);

/// A release of a program: its declaration, its stored schema, and the property and type of each stored name.
#[derive(Clone, Debug)]
struct Release {
    declared: BTreeMap<String, Declared>,
    schema: StoredSchema,
    meanings: BTreeMap<String, (String, EdmType)>,
}

impl Release {
    /// Creates a release. Omits a declaration if one of its stored names is already used, because the derive macro rejects such declarations (T054).
    fn of(declarations: BTreeMap<String, Declared>) -> Self {
        let text = "schema 1\nentity E\ntable T\nPartitionKey a text 0..512 ordered legal\n";
        let mut schema: StoredSchema = text.parse().unwrap();
        let (mut declared, mut meanings) = (BTreeMap::new(), BTreeMap::new());
        for (name, (edm, optional, chunked)) in declarations {
            let more = (1..16).map(|at| format!("{name}{at}")).take(if chunked { 15 } else { 0 });
            let names: Vec<_> = [name.clone()].into_iter().chain(more).collect();
            if names.iter().any(|name| meanings.contains_key(name)) {
                continue;
            }
            for stored in names {
                let optional = optional || stored != name;
                schema.properties.push(StoredProperty { name: stored.clone(), edm, optional });
                meanings.insert(stored, (name.clone(), edm));
            }
            declared.insert(name, (edm, optional, chunked));
        }
        Self { declared, schema: schema.normal(), meanings }
    }

    /// Returns `true` if rows of this release may contain values that the release `new` would read with another type or as part of another property.
    fn is_misread_by(&self, new: &Self) -> bool {
        self.meanings.iter().any(|(name, meaning)| new.meanings.get(name).is_some_and(|now| now != meaning))
    }

    /// Returns `true` if the release `new` requires a value that rows of this release may lack, or reads only the first chunk of a value.
    fn is_incomplete_for(&self, new: &Self) -> bool {
        new.declared.iter().any(|(name, (_, optional, chunked))| match self.declared.get(name) {
            Some((_, was_optional, was_chunked)) => {
                (*was_optional && !optional) || (*was_chunked && !chunked)
            }
            None => !optional,
        })
    }
}

fn release() -> impl Strategy<Value = Release> {
    let edm = prop::sample::select(vec![EdmType::String, EdmType::Binary]);
    let declarations =
        prop::collection::btree_map("A|A1|A12|B|B3", (edm, any::<bool>(), any::<bool>()), 0..4);
    declarations.prop_map(Release::of)
}

fn is_refused(evolution: &Evolution) -> bool {
    !evolution.compatibility().is_allowed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn evo_8_a_release_is_refused_exactly_if_it_misreads_or_lacks_a_stored_value((old, new) in (release(), release())) {
        let evolution = compare_schemas(&old.schema, &new.schema);
        let is_wrong = old.is_misread_by(&new) || old.is_incomplete_for(&new);
        prop_assert_eq!(is_refused(&evolution), is_wrong, "{:?}\n{:?}\n{}", old.declared, new.declared, evolution);
    }

    #[test]
    fn evo_8_a_release_in_between_hides_no_change_of_a_meaning((old, between, new) in (release(), release(), release())) {
        let is_refused = is_refused(&compare_schemas(&old.schema, &between.schema))
            || is_refused(&judged_after(&old.schema, &between.schema, &new.schema));
        let releases = [&old.declared, &between.declared, &new.declared];
        prop_assert!(is_refused || !old.is_misread_by(&new), "{:?}", releases);
    }
}
