//! Checks that a partition key distributes writes (PAT-ANTI-1). Reports a constant partition key, and a number of buckets too
//! large to query one by one. The compiler checks whether key fields have a time type.

use syn::ext::IdentExt;

use crate::check::key::may_identify;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::Entity;
use crate::model::key::Key;
use crate::symbol::{HOT_PARTITION, MANY_BUCKETS};

/// The maximum number of buckets. Reading the entities of all buckets takes at least one request per bucket.
const MOST_BUCKETS: u32 = 1_000;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    many_buckets(ctxt, entity);
    let Some(key) = entity.partition_key.as_ref().filter(|key| !key.broken && !key.pieces.is_empty()) else {
        return;
    };
    let allowed = entity.allows.get(HOT_PARTITION);
    if key.parts().next().is_none() && !entity.allows.may_waive(HOT_PARTITION) {
        let wrong = format!(
            "the PartitionKey of `{}` is constant: all its entities share one partition, which takes at most 2,000 \
             entities a second (PAT-ANTI-1)",
            entity.original.ident
        );
        let own = grammar::arguments(&key.original);
        let of_row = entity.row_key.as_ref().and_then(|key| key.parts().next());
        let other = || entity.fields.iter().find(|field| may_identify(field)).map(|field| field.ident);
        let spread = of_row.map(|part| &part.name).or_else(other);
        let spread = spread.map_or_else(|| "field".to_owned(), |name| name.unraw().to_string());
        let help = format!(
            "write `#[partition_key({own}, \"_\", bucket({spread}, 16))]` to spread them; if the table has few entities, say so: `#[entity(allow(hot_partition, reason = \"…\"))]`"
        );
        ctxt.error("T046", &key.original, wrong, help);
    }
    if let Some(word) = allowed.filter(|_| key.parts().any(|part| part.codec.is_bucket())) {
        let help = "remove it; a bucket spreads the writes already";
        ctxt.error(
            "T007",
            word,
            format!("`{word}` waives a rule that this declaration does not break"),
            help,
        );
    }
}

/// Reports a number of buckets too large to query one by one.
fn many_buckets(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_indexes = entity.indexes.iter().filter_map(|index| index.partition_key.as_ref());
    let parts = entity.partition_key.iter().chain(of_indexes).flat_map(Key::parts);
    let counts = parts.filter_map(|part| part.codec.buckets());
    let many = |count: &&syn::LitInt| count.base10_parse::<u32>().is_ok_and(|count| count > MOST_BUCKETS);
    let many: Vec<_> = counts.filter(many).collect();
    match entity.allows.get(MANY_BUCKETS) {
        // A key with errors may contain a bucket that was not parsed.
        Some(word) if many.is_empty() && ctxt.is_sound() => {
            let help = format!("remove it; it is for more than {MOST_BUCKETS} buckets");
            ctxt.error(
                "T007",
                word,
                format!("`{word}` waives a rule that this declaration does not break"),
                help,
            );
        }
        _ if entity.allows.may_waive(MANY_BUCKETS) => {}
        _ => {
            for count in many {
                let wrong = format!("reading all {count} buckets needs at least as many requests");
                let help = format!(
                    "use as many as the writes need: a partition takes about 2,000 entities a second, so 16 buckets take 32,000; if \
                     every read names the value, say so: `#[entity(allow({MANY_BUCKETS}, reason = \"…\"))]`"
                );
                ctxt.error("T047", count, wrong, help);
            }
        }
    }
}
