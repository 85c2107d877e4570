//! The attributes of other libraries, each with its help text.

/// The help for an attribute that does not specify which key it declares.
const BOTH: &str = "write both keys above the struct: `#[partition_key({department})]`, and `#[row_key(…)]` with the field that identifies an entity in \
                    its partition";
/// The help for the name of the table.
const TABLE: &str = "name the table above the struct: `#[entity(table = \"Company\")]`";
/// The help for the name of a property.
const NAME: &str = "name the property: `#[property(\"Name\")]`";
/// The help for a field that is not stored.
const STORED: &str = "move `{cache}` to another struct, because an entity stores all of its fields; to read only some of them, use `#[derive(Projection)]`";
/// The help for a reference to another entity.
const REFERENCE: &str =
    "remove the attribute: `{owner}` stores the key of the other entity, which a second `get` reads";
/// The help for the entities that refer to this entity.
const REFERRED: &str = "remove the field `{items}`: related entities are entities of their own; in the same partition, one query reads them together, \
                        `#[derive(EntityGroup)]`";
/// The help for a value that a database would generate.
const CHOSEN: &str = "remove the attribute: the program sets `{id}` before the insert, to `Uuid::now_v7()`, or to the next number of a \
                      `table_patterns::sequence`";
/// The help for a validation of a value.
const CHECKED: &str = "remove the attribute: the length of `{name}` is checked by the program; the service allows 32 Ki characters";
/// The help for a property that the store maintains.
const MAINTAINED: &str = "remove the field `{version}`: the store maintains the ETag and the Timestamp of each entity, and reads return both in `Versioned`";

/// The attributes, each with the help to show for it. Braces contain an example, which is replaced by the field after the attribute.
pub(super) const FOREIGN: &[(&[&str], &str)] = &[
    (&["table", "table_name", "Table"], TABLE),
    (&["kind"], "name the kind above the struct: `#[entity(kind = \"Employee\")]`"),
    (&["feed"], "enable the feed above the struct: `#[entity(feed)]`"),
    (&["key", "Key", "primary_key"], BOTH),
    (&["hash_key"], "the hash key is the partition key, above the struct: `#[partition_key({department})]`"),
    (&["PartitionKey"], "the partition key is declared above the struct: `#[partition_key({department})]`"),
    (&["range_key"], "the range key is the row key, above the struct: `#[row_key({id})]`"),
    (&["sort_key"], "the sort key is the row key, above the struct: `#[row_key({id})]`"),
    (&["RowKey"], "the row key is declared above the struct: `#[row_key({id})]`"),
    (
        &["unique", "Index"],
        "declare an index above the struct: `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]`",
    ),
    (&["column", "column_name", "Column", "rename", "data_member", "DataMember"], NAME),
    (&["not_mapped", "NotMapped", "ignore", "ignore_data_member", "IgnoreDataMember", "transient"], STORED),
    (&["belongs_to", "has_one", "foreign_key", "ForeignKey", "references"], REFERENCE),
    (&["has_many", "inverse_property"], REFERRED),
    (&["auto", "auto_increment", "database_generated", "DatabaseGenerated"], CHOSEN),
    (
        &["required", "Required", "not_null"],
        "remove the attribute: `{name}` is required, because its type is not an `Option`",
    ),
    (&["max_length", "MaxLength", "min_length", "string_length", "StringLength"], CHECKED),
    (&["timestamp", "Timestamp", "concurrency_check", "ConcurrencyCheck"], MAINTAINED),
    (&["embed", "embedded", "owned", "json"], "write `#[property(json)]`, which stores `{address}` as JSON"),
    (
        &["changeset_options"],
        "remove the attribute: an update writes the whole entity, and a field set to `None` is removed",
    ),
    (&["desc"], "write it in the key, around the field: `#[row_key(desc({at}))]`"),
    (&["bucket"], "write it in the key, around the field: `#[partition_key(bucket({user}, 16))]`"),
    (&["hash"], "write it in the key, around the field: `#[partition_key(hash(sha256, 64, {user}))]`"),
    (&["truncate"], "write it in the key, around the field: `#[row_key(truncate(hour({at})))]`"),
    (&["folded"], "write it in the key, around the field: `#[row_key(folded(lower, {email}))]`"),
    (&["replaced"], "write it in the key, around the field: `#[row_key(replaced('/', '_', {path}))]`"),
    (&["first"], "write it in the key, around the field: `#[row_key(first(3, {name}))]`"),
    (
        &["inverted"],
        "write it in the key, around the field: `#[row_key(inverted(9223372036854775807, unix(millis, {at})))]`",
    ),
    (&["literal"], "a literal is part of the key itself: `#[row_key(\"empid_\", id)]`"),
    (&["codec"], "write it in the key, around the field: `#[row_key(codec(path::To, {field}))]`"),
];
