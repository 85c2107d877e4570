//! Detects properties with values of several types.

use std::collections::BTreeMap;

use table_core::{EdmType, EntityKey, TableEntity};

use crate::audit::finding::Finding;

/// The maximum number of properties whose types are counted.
const NAMES: usize = 2_000;

/// The number of values of each type, for each property.
#[derive(Debug, Default)]
pub(in crate::audit) struct Types {
    names: BTreeMap<String, Vec<Seen>>,
}

/// A value type of a property, with its row count and up to two sample keys.
#[derive(Debug)]
struct Seen {
    edm: EdmType,
    rows: u64,
    samples: Vec<EntityKey>,
}

impl Types {
    pub(in crate::audit) fn push(&mut self, row: &TableEntity) {
        for (name, value) in row.iter() {
            let edm = value.edm_type();
            if !self.names.contains_key(name) {
                if self.names.len() >= NAMES {
                    continue;
                }
                self.names.insert(name.to_owned(), Vec::new());
            }
            let Some(types) = self.names.get_mut(name) else { continue };
            match types.iter_mut().find(|seen| seen.edm == edm) {
                Some(seen) => {
                    seen.rows += 1;
                    if seen.samples.len() < 2 {
                        seen.samples.push(row.key().clone());
                    }
                }
                None => types.push(Seen { edm, rows: 1, samples: vec![row.key().clone()] }),
            }
        }
    }

    pub(in crate::audit) fn finish(self, findings: &mut Vec<Finding>) {
        for (name, mut types) in self.names {
            types.sort_by_key(|seen| std::cmp::Reverse(seen.rows));
            let Some((usual, others)) = types.split_first().filter(|(_, others)| !others.is_empty()) else {
                continue;
            };
            let counts: Vec<_> = types.iter().map(|seen| format!("{} {}", seen.rows, seen.edm)).collect();
            let fix = format!(
                "write `{name}` as {} everywhere: filters compare values of one type only",
                usual.edm
            );
            let fact = format!("property `{name}` has several types ({})", counts.join(", "));
            let mut finding = Finding::new("TYPE-12", fact, fix);
            others.iter().flat_map(|seen| &seen.samples).for_each(|key| finding.push(key));
            finding.rows = others.iter().map(|seen| seen.rows).sum();
            findings.push(finding);
        }
    }
}
