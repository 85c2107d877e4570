//! Query warnings based on the cost class and the filter.

use crate::filter::{Filter, Term};
use crate::query::{Query, QueryClass, TextRange, Warning};
use crate::value::EdmType;

/// The service's documented maximum number of comparisons per filter (FIL-7).
const COMPARISONS: usize = 15;

pub(super) fn warnings(class: QueryClass, query: &Query) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |rule, message: String| warnings.push(Warning { rule, message });
    if query.keys.is_empty() {
        warn("CLS-3", "the conditions on the keys exclude each other; nothing can match".to_owned());
    }
    match class {
        QueryClass::TableScan if query.keys.row_key.is_all() => {
            warn("DQ-5", "every partition of the table is read; give the PartitionKey".to_owned());
        }
        QueryClass::TableScan => {
            let message =
                "every partition of the table is read; the RowKey bounds nothing without the PartitionKey";
            warn("DQ-5", message.to_owned());
        }
        QueryClass::PartitionRange => {
            warn(
                "CLS-1",
                "a range of partitions is read, which may span servers; pages may be short".to_owned(),
            );
        }
        _ => {}
    }
    let conditions = query.filter.clone().map_or_else(Vec::new, Filter::into_conjuncts);
    if conditions.iter().any(|condition| is_or_between(condition, "PartitionKey")) {
        let message = "`or` over PartitionKeys is a table scan; query each partition separately, in parallel";
        warn("CLS-2", message.to_owned());
    } else if conditions.iter().any(|condition| is_or_between(condition, "RowKey")) {
        let message = "`or` between RowKeys is a partition scan, not several lookups; get each key as a point, in parallel";
        warn("DQ-7", message.to_owned());
    }
    if let Some(name) = conditions.iter().flat_map(Filter::terms).find_map(key_of_another_type) {
        warn(
            "FIL-18",
            format!("`{name}` is compared with a constant that is not a string; it never matches"),
        );
    }
    let count = comparisons_of(&query.keys.partition_key)
        + comparisons_of(&query.keys.row_key)
        + query.filter.as_ref().map_or(0, Filter::comparisons);
    if count > COMPARISONS {
        let message =
            format!("the filter has {count} comparisons; a portable filter has at most {COMPARISONS}");
        warn("FIL-7", message);
    }
    warnings
}

fn is_or_between(condition: &Filter, key: &str) -> bool {
    let names_key = |term: &Term| matches!(term, Term::Compare { name, .. } if name == key);
    condition.terms().contains(&Term::Or) && condition.terms().iter().any(names_key)
}

fn key_of_another_type(term: &Term) -> Option<&str> {
    match term {
        Term::Compare { name, value, .. } => {
            let key = matches!(&**name, "PartitionKey" | "RowKey");
            (key && value.edm_type() != EdmType::String).then_some(name)
        }
        _ => None,
    }
}

fn comparisons_of(range: &TextRange) -> usize {
    use std::ops::Bound::Unbounded;
    match (&range.lower, &range.upper) {
        (Unbounded, Unbounded) => 0,
        (Unbounded, _) | (_, Unbounded) => 1,
        _ if range.single().is_some() => 1,
        _ => 2,
    }
}
