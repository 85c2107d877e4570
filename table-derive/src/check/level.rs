//! Checks the declarations of hierarchical partition keys.

use syn::Ident;

use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::model::key::Key;
use crate::model::level::MOST;
use crate::symbol::{AMBIGUOUS_PARTITION_KEY, LOW_CARDINALITY, PARTITION_KEY};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_indexes = entity.indexes.iter().filter_map(|index| index.partition_key.as_ref());
    for key in entity.partition_key.iter().chain(of_indexes).filter(|key| key.levels) {
        fourth_level(ctxt, key);
        bucket_as_level(ctxt, key);
    }
    idle_allow(ctxt, entity);
}

/// Reports a fourth level in a key (HPK-2, HPK-42).
fn fourth_level(ctxt: &Ctxt, key: &Key) {
    if let Some(fourth) = key.parts().nth(MOST) {
        let wrong = format!("`{}` is a fourth level; a partition key has at most three (HPK-2)", fourth.name);
        let help = format!(
            "move `{0}` to the `row_key`, or combine it with its neighbour in one field",
            fourth.name
        );
        ctxt.error("T040", &fourth.name, wrong, help);
    }
}

/// Reports a derived part that is used as a level, because queries could not specify its value.
fn bucket_as_level(ctxt: &Ctxt, key: &Key) {
    for part in key.parts().filter(|part| !part.codec.is_decodable()) {
        let word = part.codec.word().map_or("part", |word| word.name);
        let help = format!(
            "put a literal between the pieces, `{PARTITION_KEY}(…, \"_\", …)`, which makes one key without levels"
        );
        ctxt.error(
            "T041",
            &part.name,
            format!("a {word} cannot be a level: its value cannot be read back"),
            help,
        );
    }
}

/// Reports waivers that have no effect. If the key has no levels, the compiler reports an unused waiver of the ambiguity rule.
fn idle_allow(ctxt: &Ctxt, entity: &Entity<'_>) {
    let Some(key) = entity.partition_key.as_ref().filter(|key| !key.broken) else { return };
    let idle = |word: &Ident, help: &str| {
        let wrong = format!("`{word}` waives a rule that this declaration does not break");
        ctxt.error("T007", word, wrong, help);
    };
    if let Some(word) = entity.allows.get(LOW_CARDINALITY)
        && key.first_level().is_none_or(|first| first.codec.is_bucket())
    {
        idle(
            word,
            "remove it; it is for a field that is the first level, or the only piece, of the partition key",
        );
    }
    if let Some(word) = entity.allows.get(AMBIGUOUS_PARTITION_KEY).filter(|_| key.levels) {
        idle(
            word,
            "remove it; each level has its own end, so the values of this key are read back from it. If rows are stored, write `#[property(also)]` on the fields \
             of the key, which keeps their properties",
        );
    }
}
