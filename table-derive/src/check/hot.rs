//! Checks that a partition key distributes writes (PAT-ANTI-1). Reports a constant key, a key that consists only of timestamps, a leading `bool`, and more
//! buckets than can be queried one by one. The compiler reports other time types, enums and newtypes.

use syn::Type;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::check::missing::may_be_proposed;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::Entity;
use crate::model::key::{Key, Part};
use crate::symbol::{HOT_PARTITION, LOW_CARDINALITY, MANY_BUCKETS};

/// The maximum number of buckets. Reading the entities of all buckets takes at least one request per bucket.
const MOST_BUCKETS: u32 = 1_000;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    many_buckets(ctxt, entity);
    let Some(key) = entity.partition_key.as_ref().filter(|key| !key.broken && !key.pieces.is_empty()) else {
        return;
    };
    time_alone(ctxt, entity, key);
    few_values(ctxt, entity, key);
    let allowed = entity.allows.get(HOT_PARTITION);
    if key.parts().next().is_none() && !entity.allows.may_waive(HOT_PARTITION) {
        let wrong = format!(
            "the PartitionKey of `{}` is constant: all its entities share one partition, which takes at most 2,000 \
             entities a second (PAT-ANTI-1)",
            entity.original.ident
        );
        let mut pieces = grammar::items(grammar::arguments(&key.original));
        // An empty literal is allowed only as the entire key.
        if key.literal_from(0).is_empty() {
            pieces.clear();
        } else {
            pieces.push("\"_\"".to_owned());
        }
        pieces.push(format!("bucket({}, 16)", spread_by(entity, key)));
        let help = format!(
            "write `#[partition_key({})]` to spread them; if the table has few entities, say so: `#[entity(allow(hot_partition, reason = \"…\"))]`",
            pieces.join(", ")
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

/// Returns the name of a field that is suited to distributing the entities. This is the first `RowKey` field missing from the `PartitionKey` or, failing that,
/// another field that may identify an entity. Times are excluded. Falls back to any key field.
fn spread_by(entity: &Entity<'_>, key: &Key) -> String {
    let is_new = |at: usize| key.parts().all(|part| part.field != at) && !may_be_time(entity, at);
    let of_row = entity.row_key.iter().flat_map(Key::parts).find(|part| is_new(part.field));
    let mut others = entity.fields.iter().enumerate();
    let other =
        || others.find(|(at, field)| is_new(*at) && may_be_proposed(field)).map(|(_, field)| field.ident);
    let any = || entity.row_key.iter().chain([key]).flat_map(Key::parts).next().map(|part| &part.name);
    let name = of_row.map(|part| &part.name).or_else(other).or_else(any);
    name.map_or_else(|| "field".to_owned(), |name| name.unraw().to_string())
}

/// Returns `true` if a field's type is named `DateTime` or `NaiveDate`. Entities written at about the same time have similar values in such a field.
fn may_be_time(entity: &Entity<'_>, at: usize) -> bool {
    let Some(Type::Path(path)) = entity.fields.get(at).map(|field| field.ty) else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "DateTime" || last.ident == "NaiveDate")
}

/// Returns `true` if a field's type is written as `NaiveDate`.
fn is_date(entity: &Entity<'_>, at: usize) -> bool {
    let Some(Type::Path(path)) = entity.fields.get(at).map(|field| field.ty) else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "NaiveDate")
}

/// Returns `true` if a field's type is `bool`.
fn is_bool(entity: &Entity<'_>, at: usize) -> bool {
    entity
        .fields
        .get(at)
        .is_some_and(|field| matches!(field.ty, Type::Path(path) if path.path.is_ident("bool")))
}

/// Reports a `PartitionKey` that consists only of timestamps (PAT-ANTI-1). The compiler reports all other cases, such as dates and type aliases.
fn time_alone(ctxt: &Ctxt, entity: &Entity<'_>, key: &Key) {
    let follows = |part: &Part| {
        (entity.is_instant(part.field) || is_date(entity, part.field)) && part.codec.follows_time()
    };
    if key.parts().next().is_none() || !key.parts().all(follows) || entity.allows.may_waive(HOT_PARTITION) {
        return;
    }
    let wrong = format!(
        "the PartitionKey of `{}` consists of time alone, so one partition receives all current writes (PAT-ANTI-1)",
        entity.original.ident
    );
    let (spread, own) =
        (spread_by(entity, key), grammar::items(grammar::arguments(&key.original)).join(", "));
    let help = format!(
        "write `#[partition_key(bucket({spread}, 16), \"_\", {own})]`, or start it with the field whose entities are read together; if it is intended, \
         `#[entity(allow(hot_partition, reason = \"…\"))]`"
    );
    ctxt.error_at("T045", key.original.path().span(), wrong, help);
}

/// Reports a `PartitionKey` that starts with a `bool` (HPK-9). The compiler reports enums and newtypes.
fn few_values(ctxt: &Ctxt, entity: &Entity<'_>, key: &Key) {
    let Some(first) = key.first_level().filter(|part| part.codec.is_decodable()) else { return };
    if !is_bool(entity, first.field) || entity.allows.may_waive(LOW_CARDINALITY) {
        return;
    }
    let name = &first.name;
    let wrong = format!(
        "the PartitionKey of `{}` starts with `{name}`, a `bool`, so two partitions, or ranges of partitions, receive all writes (HPK-9)",
        entity.original.ident
    );
    let others =
        || key.parts().filter(|part| part.field != first.field).map(|part| part.name.unraw().to_string());
    let second = if key.levels { others().next() } else { None };
    let form = match second {
        Some(_) => {
            let others: Vec<String> = others().collect();
            format!("#[partition_key({}, {name})]", others.join(", "))
        }
        None => format!("#[partition_key({name}, \"_\", bucket({}, 16))]", spread_by(entity, key)),
    };
    let help = format!(
        "write `{form}`, or start with a field of thousands of values; if it is intended, `#[entity(allow(low_cardinality, reason = \"…\"))]`"
    );
    ctxt.error("T044", name, wrong, help);
}

/// Reports a key with more buckets than a program should query one by one, and an unused waiver of this rule.
fn many_buckets(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_indexes = entity.indexes.iter().filter_map(|index| index.partition_key.as_ref());
    let parts = entity.partition_key.iter().chain(of_indexes).flat_map(Key::parts);
    let counts = parts.filter_map(|part| part.codec.buckets());
    let many = |count: &&syn::LitInt| count.base10_parse::<u32>().is_ok_and(|count| count > MOST_BUCKETS);
    let many: Vec<_> = counts.filter(many).collect();
    match entity.allows.get(MANY_BUCKETS) {
        // A key with errors may contain a bucket that has not been parsed.
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
