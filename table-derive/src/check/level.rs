//! Rules of the levels of a partition key.

use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::model::key::Key;
use crate::model::level::MOST;
use crate::symbol::{LOW_CARDINALITY, PARTITION_KEY};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_indexes = entity.indexes.iter().filter_map(|index| index.partition_key.as_ref());
    for key in entity.partition_key.iter().chain(of_indexes).filter(|key| key.levels) {
        fourth_level(ctxt, key);
        bucket_as_level(ctxt, key);
    }
    idle_allow(ctxt, entity);
}

/// There are at most three levels (HPK-2, HPK-42).
fn fourth_level(ctxt: &Ctxt, key: &Key) {
    if let Some(fourth) = key.parts().nth(MOST) {
        let wrong = format!("`{}` is a fourth level: a partition key has at most three (HPK-2)", fourth.name);
        let help = format!(
            "put `{0}` into the `row_key`, which sorts the entities of a partition, or join it to its neighbour by a field that \
             holds both",
            fourth.name
        );
        ctxt.error("T040", &fourth.name, wrong, help);
    }
}

/// A bucket, and whatever else is made of a value and does not give it back: no query could ask for that level.
fn bucket_as_level(ctxt: &Ctxt, key: &Key) {
    for part in key.parts().filter(|part| !part.codec.gives_back()) {
        let word = part.codec.word().map_or("part", |word| word.name);
        let help = format!(
            "put a literal between the pieces, such as `{PARTITION_KEY}(…, \"_\", …)`: that is one key without levels"
        );
        ctxt.error(
            "T041",
            &part.name,
            format!("a {word} cannot be a level: the value cannot be read back from it"),
            help,
        );
    }
}

/// What is allowed could be wrong.
fn idle_allow(ctxt: &Ctxt, entity: &Entity<'_>) {
    if let (Some(word), Some(key)) = (entity.allows.get(LOW_CARDINALITY), &entity.partition_key)
        && !key.broken
        && key.first_level().is_none_or(|first| first.codec.is_bucket())
    {
        let help = "remove it: few values are looked for where a field is the first level, or the only piece, of the partition key";
        ctxt.error(
            "T007",
            word,
            format!("`{word}` waives a rule that this declaration does not break"),
            help,
        );
    }
}
