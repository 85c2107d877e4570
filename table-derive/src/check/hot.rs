//! Rules of a partition key that would take all writes in one place (PAT-ANTI-1). Whether a field follows time is for its type
//! to say, and so for the compiler.

use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::symbol::HOT_PARTITION;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let Some(key) = entity.partition_key.as_ref().filter(|key| !key.broken && !key.pieces.is_empty()) else {
        return;
    };
    let allowed = entity.allows.get(HOT_PARTITION);
    if key.parts().next().is_none() && allowed.is_none() {
        let wrong = format!(
            "the PartitionKey of `{}` is one constant: all its entities share one partition, which takes at most 2,000 \
             entities a second (PAT-ANTI-1)",
            entity.original.ident
        );
        let help = "add a field that spreads them, or `bucket(field, 16)`; if they are few, answer for it: \
                    `#[entity(allow(hot_partition, reason = \"…\"))]`";
        ctxt.error("T046", &key.original, wrong, help);
    }
    if let Some(word) = allowed.filter(|_| key.parts().any(|part| part.codec.is_bucket())) {
        let help = "remove it: a bucket spreads the writes already";
        ctxt.error("T007", word, format!("`{word}` allows nothing here"), help);
    }
}
