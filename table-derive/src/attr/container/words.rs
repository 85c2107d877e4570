//! The words of `#[entity(…)]`, and the words of other libraries.

use crate::grammar::Words;
use crate::symbol::{ALLOW, COPIED_BY, COPIES_FROM, CRATE, ENTITY, FEED, KIND, SCHEMA_NAME, SET, TABLE};

/// The help text for a relation word that does not say whether the entity holds the copies or is copied.
const COPIES: &str = "write `copies_from(Assignee)` if this entity holds the copies, or `copied_by(Assignee)` if they are copies of it";

/// The words accepted by `#[entity(…)]`.
pub(super) const WORDS: Words = Words {
    of: ENTITY,
    form: "#[entity(table = \"Company\")]",
    known: &[
        (TABLE, "table = \"Company\""),
        (KIND, "kind = \"Employee\""),
        (CRATE, "crate = path::to::table_core"),
        (ALLOW, "allow(hot_partition, reason = \"…\")"),
        (FEED, "feed"),
        (COPIED_BY, "copied_by(Assignee)"),
        (COPIES_FROM, "copies_from(Assignee)"),
        (SET, "set = Desk"),
        (SCHEMA_NAME, "schema_name = \"Employee\""),
    ],
    suggested: &[
        ("name", "write `table = \"Company\"`"),
        ("copies", COPIES),
        ("copy", COPIES),
        ("relation", COPIES),
        ("relations", COPIES),
        ("renamed_from", "keep the name of the stored schema: `schema_name = \"Employee\"`"),
        ("table_name", "write `table = \"Company\"`"),
        ("rename", "write `table = \"Company\"`"),
        ("tag", "write `kind = \"Employee\"`"),
        ("type_name", "write `kind = \"Employee\"`"),
        ("partition_key", "a key is a separate attribute: `#[partition_key(department)]`"),
        ("row_key", "a key is a separate attribute: `#[row_key(\"empid_\", id)]`"),
        ("key", "write `#[partition_key(department)] #[row_key(\"empid_\", id)]` above the struct"),
        ("keys", "write `#[partition_key(department)] #[row_key(\"empid_\", id)]` above the struct"),
        ("primary_key", "write `#[partition_key(department)] #[row_key(\"empid_\", id)]` above the struct"),
        (
            "service",
            "write `table = \"Company\"`: a table is the unit of access, and contains any number of types",
        ),
        (
            "collection",
            "types of one table are read together as a set: declare it with `#[derive(EntitySet)]`, and name it here with `set = Desk`",
        ),
        (
            "deny_unknown_fields",
            "remove it: reads ignore properties that no field declares, and merges keep them; `#[property(rest)]` collects them in a field",
        ),
        ("model", "write `kind = \"Employee\"`"),
        (
            "index",
            "an index is a separate attribute: `#[index(ByEmail, unique, row_key(\"email_\", email))]`",
        ),
        ("allow_hot_partition", "write `allow(hot_partition, reason = \"…\")`"),
        ("allow_low_cardinality", "write `allow(low_cardinality, reason = \"…\")`"),
        (
            "timestamp",
            "remove it: the store maintains the Timestamp of each entity; reads return it in `Versioned`",
        ),
        ("etag", "remove it: the store maintains the ETag of each entity; reads return it in `Versioned`"),
        ("stream", "write `feed`: `Entities` handles record each change in the feed of its partition"),
        ("change_feed", "write `feed`: `Entities` handles record each change in the feed of its partition"),
        ("cdc", "write `feed`: `Entities` handles record each change in the feed of its partition"),
        (
            "ttl",
            "remove it: entities do not expire; the program deletes old entities, or a whole table for each period (`table_patterns::periods`)",
        ),
        (
            "version",
            "remove it: schemas are not numbered; a changed struct is compared with the stored schema when the table is opened",
        ),
        (
            "schema",
            "remove it: a table has no schema of a database, and schemas of entities are not numbered; a changed struct is compared with the stored schema when the table is opened",
        ),
        (
            "indexes",
            "an index is a separate attribute: `#[index(ByEmail, unique, row_key(\"email_\", email))]`",
        ),
    ],
};
