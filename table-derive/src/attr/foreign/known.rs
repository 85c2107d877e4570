//! The known attributes of other libraries, each with its help text.

use crate::attr::settings::Effect;

/// The help text for an attribute that does not say which key it declares.
const BOTH: &str = "write `#[partition_key({department})] #[row_key(\"\")]` above the struct, for one entity in each partition; if several entities \
                    share a partition, name the field that identifies an entity in it in place of `\"\"`";
/// The help text for a table name.
const TABLE: &str = "write `#[entity(table = \"Company\")]` above the struct";
/// The help text for a property name.
pub(super) const NAME: &str = "write `#[property(\"Name\")]` above `{name}`";
/// The help text for a reference to another entity.
pub(super) const REFERENCE: &str =
    "remove the attribute: `{owner}` is stored as the key of the other entity, which a second `get` reads";
/// The help text for a field that would contain other entities.
pub(super) const REFERRED: &str = "remove the field `{items}`: related entities are entities of their own; in the same partition, one query reads them together, \
                        `#[derive(EntityGroup)]`";
/// The help text for a value that the database would generate.
pub(super) const CHOSEN: &str = "remove the attribute: the program sets `{id}` before the insert, a `Uuid` to `Uuid::now_v7()`, a number to the next one of a \
                      `table_patterns::sequence`";
/// The help text for an attribute that limits a field's length.
const CHECKED: &str = "remove the attribute: the length of `{name}` is checked by the program; the service allows 32 Ki characters";
/// The help text for a property that the store maintains.
const MAINTAINED: &str = "remove the field `{version}`: the store maintains the ETag and the Timestamp of each entity, and reads return both in `Versioned`";

/// The help text for a struct attribute that renames all properties or all columns.
const NAMES: &str = "remove the attribute: properties are named in Pascal case, `first_name` as `FirstName`; rename one with `#[property(\"GivenName\")]` \
                     above its field";
/// The help text for an attribute that sets the type of a column.
pub(super) const TYPED: &str =
    "remove the attribute: `{amount}` is stored as a property of the type of its field";
/// The help text for a timestamp that the database would set.
const SET: &str = "remove the attribute: the program sets `{created}`; the time of the last write is the Timestamp, which reads return in `Versioned`";
/// The help text for an attribute without an effect.
const UNUSED: &str = "remove the attribute: it has no meaning in a table";
/// The help text for a partition key.
const PARTITION: &str = "write `#[partition_key({department})]` above the struct";
/// The help text for a row key.
const ROW: &str = "write `#[row_key({id})]` above the struct";

const SKIPPED: &[&str] = &[
    "not_mapped",
    "NotMapped",
    "ignore",
    "ignore_data_member",
    "IgnoreDataMember",
    "transient",
    "Transient",
    "JsonIgnore",
    "Ignore",
    "BsonIgnore",
    "DynamoDBIgnore",
];
const DEFAULTS: &[&str] = &["default_value", "DefaultValue"];
const FLATTENED: &[&str] = &[
    "Flatten",
    "BsonExtraElements",
    "JsonExtensionData",
    "embed",
    "embedded",
    "Embedded",
    "owned",
    "Owned",
    "nested",
];

/// Attributes of fields that have the effect of a setting of serde, each with the effect.
pub(super) const EFFECTS: &[(&[&str], Effect)] =
    &[(SKIPPED, Effect::Skips), (DEFAULTS, Effect::Defaults), (FLATTENED, Effect::Flattens)];

/// Attributes of other libraries, each with its help text. A sample name in braces is replaced with the name of the annotated field.
pub(super) const FOREIGN: &[(&[&str], &str)] = &[
    (
        &[
            "table",
            "table_name",
            "Table",
            "TableName",
            "collection",
            "Collection",
            "container",
            "Container",
            "document",
            "model",
            "DynamoDBTable",
            "BsonCollection",
        ],
        TABLE,
    ),
    (&["Entity"], "the attribute has a small initial letter: `#[entity(table = \"Company\")]`"),
    (&["rename_all", "naming_strategy"], NAMES),
    (
        &["kind", "discriminator", "Discriminator"],
        "name the kind above the struct: `#[entity(kind = \"Employee\")]`",
    ),
    (&["feed"], "enable the feed above the struct: `#[entity(feed)]`"),
    (&["key", "Key", "primary_key", "PrimaryKey", "id", "Id", "primary", "BsonId"], BOTH),
    (&["hash_key"], "the hash key is the partition key, above the struct: `#[partition_key({department})]`"),
    (&["PartitionKey"], "the partition key is declared above the struct: `#[partition_key({department})]`"),
    (
        &["pk", "PK", "partitionkey", "partitionKey", "HashKey", "DynamoDBHashKey", "DynamoDbPartitionKey"],
        PARTITION,
    ),
    (&["range_key"], "the range key is the row key, above the struct: `#[row_key({id})]`"),
    (&["sort_key"], "the sort key is the row key, above the struct: `#[row_key({id})]`"),
    (&["RowKey"], "the row key is declared above the struct: `#[row_key({id})]`"),
    (&["sk", "SK", "rowkey", "rowKey", "RangeKey", "SortKey", "DynamoDBRangeKey", "DynamoDbSortKey"], ROW),
    (
        &[
            "unique",
            "Unique",
            "unique_index",
            "unique_key",
            "Index",
            "indexed",
            "Indexed",
            "gsi",
            "lsi",
            "GSI",
            "LSI",
            "secondary_index",
            "global_secondary_index",
            "local_secondary_index",
        ],
        "declare an index above the struct: `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]`",
    ),
    (
        &[
            "column",
            "column_name",
            "Column",
            "rename",
            "data_member",
            "DataMember",
            "JsonPropertyName",
            "JsonProperty",
            "BsonElement",
            "DynamoDBProperty",
            "field_name",
            "attribute",
            "Attribute",
            "field",
        ],
        NAME,
    ),
    (SKIPPED, UNUSED),
    (DEFAULTS, UNUSED),
    (FLATTENED, UNUSED),
    (
        &[
            "belongs_to",
            "has_one",
            "foreign_key",
            "ForeignKey",
            "references",
            "reference",
            "relation",
            "relationship",
            "many_to_one",
            "one_to_one",
            "ManyToOne",
            "OneToOne",
        ],
        REFERENCE,
    ),
    (&["has_many", "inverse_property", "one_to_many", "many_to_many", "OneToMany", "ManyToMany"], REFERRED),
    (
        &[
            "auto",
            "auto_increment",
            "autoincrement",
            "database_generated",
            "DatabaseGenerated",
            "generated",
            "generated_value",
            "GeneratedValue",
            "sequence",
            "serial",
            "identity",
        ],
        CHOSEN,
    ),
    (
        &["required", "Required", "not_null", "NotNull"],
        "remove the attribute: `{name}` is required, because its type is not an `Option`",
    ),
    (
        &["nullable", "Nullable", "optional"],
        "remove the attribute: a property that may be absent has the type `Option<_>`",
    ),
    (&["max_length", "MaxLength", "min_length", "string_length", "StringLength"], CHECKED),
    (&["column_type", "sql_type", "precision", "Precision", "enumerated", "Enumerated"], TYPED),
    (&["comment", "Comment", "keyless", "Keyless"], UNUSED),
    (
        &["data_type", "DataType", "db_type", "EmailAddress", "Phone", "RegularExpression", "range", "Range"],
        "remove the attribute: the program checks `{name}` before it writes the entity",
    ),
    (
        &["padding", "Padding", "pad", "padded", "zero_pad"],
        "write `#[digits(6)]` above `{number}`, which pads it with zeros in the key",
    ),
    (&["created_at", "updated_at", "timestamps", "CreationTimestamp", "UpdateTimestamp"], SET),
    (
        &[
            "timestamp",
            "Timestamp",
            "concurrency_check",
            "ConcurrencyCheck",
            "version",
            "Version",
            "etag",
            "ETag",
            "row_version",
            "DynamoDBVersion",
        ],
        MAINTAINED,
    ),
    (
        &["ttl", "TTL", "expires", "time_to_live"],
        "remove the attribute: entities do not expire; `{expires}` is stored, and the program deletes old entities, or a whole table for each period \
         (`table_patterns::periods`)",
    ),
    (
        &["lowercase", "uppercase", "trim"],
        "remove the attribute: a property is stored as the program sets it; a key can contain it in lower case, `folded(lower, {email})`",
    ),
    (&["json"], "write `#[property(json)]`, which stores `{address}` as JSON"),
    (
        &["changeset_options"],
        "remove the attribute: an update writes the whole entity, and a field set to `None` is removed",
    ),
    (
        &["order", "order_by", "sort", "descending", "ascending", "asc"],
        "write the order in the key: `#[row_key({at})]`, or `#[row_key(desc({at}))]` for the greatest value first",
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
