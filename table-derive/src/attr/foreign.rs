//! Attributes of other libraries. They are recognised only to suggest the right attribute.

use syn::ext::IdentExt;
use syn::{Attribute, Ident};

use crate::casing::pascal_case;
use crate::codec;
use crate::ctxt::Ctxt;

/// Each attribute, with the help that is shown for it. The braces contain a sample, which is replaced by the field below the attribute.
const FOREIGN: [(&str, &str); 23] = [
    ("table", "name the table above the struct: `#[entity(table = \"Company\")]`"),
    ("table_name", "name the table above the struct: `#[entity(table = \"Company\")]`"),
    ("kind", "name the kind above the struct: `#[entity(kind = \"Employee\")]`"),
    ("feed", "enable the feed above the struct: `#[entity(feed)]`"),
    (
        "key",
        "write both keys above the struct: `#[partition_key(department)]` and `#[row_key(\"empid_\", id)]`",
    ),
    (
        "primary_key",
        "write both keys above the struct: `#[partition_key(department)]` and `#[row_key(\"empid_\", id)]`",
    ),
    ("hash_key", "the hash key is the partition key, above the struct: `#[partition_key(department)]`"),
    ("range_key", "the range key is the row key, above the struct: `#[row_key(\"empid_\", id)]`"),
    ("sort_key", "the sort key is the row key, above the struct: `#[row_key(\"empid_\", id)]`"),
    (
        "unique",
        "declare an index above the struct: `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]`",
    ),
    ("column", "name the property: `#[property(\"Name\")]`"),
    ("rename", "name the property: `#[property(\"Name\")]`"),
    ("json", "write `#[property(json)]`"),
    ("desc", "write it in the key, around the field: `#[row_key(desc({at}))]`"),
    ("bucket", "write it in the key, around the field: `#[partition_key(bucket({user}, 16))]`"),
    ("hash", "write it in the key, around the field: `#[partition_key(hash(sha256, 64, {user}))]`"),
    ("truncate", "write it in the key, around the field: `#[row_key(truncate(hour({at})))]`"),
    ("folded", "write it in the key, around the field: `#[row_key(folded(lower, {email}))]`"),
    ("replaced", "write it in the key, around the field: `#[row_key(replaced('/', '_', {path}))]`"),
    ("first", "write it in the key, around the field: `#[row_key(first(3, {name}))]`"),
    (
        "inverted",
        "write it in the key, around the field: `#[row_key(inverted(9223372036854775807, unix(millis, {at})))]`",
    ),
    ("literal", "a literal is part of the key itself: `#[row_key(\"empid_\", id)]`"),
    ("codec", "write it in the key, around the field: `#[row_key(codec(path::To, {field}))]`"),
];

/// Reports an attribute of another library. The message suggests the attribute to use instead, adapted to the field if the attribute is on a field.
pub(super) fn refuse(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>) {
    if let Some((name, help)) = FOREIGN.iter().find(|(name, _)| attr.path().is_ident(name)) {
        let field = field.map(|field| field.unraw().to_string());
        let help = match &field {
            Some(field) => help.replace("{Email}", &pascal_case(field)),
            None => help.replace("{Email}", "Email"),
        };
        let help = codec::filled(&help, field.as_deref());
        ctxt.error("T009", attr, format!("`{name}` is not an attribute of entities"), help);
    }
}
