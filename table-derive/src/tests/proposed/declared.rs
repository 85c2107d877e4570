//! Invalid declarations for which a message proposes code.

use std::fmt::Write;

use super::words;

/// Field types, each with a field name.
pub(in crate::tests) const TYPES: [(&str, &str); 22] = [
    ("text", "String"),
    ("number", "u32"),
    ("wide", "i128"),
    ("flag", "bool"),
    ("letter", "char"),
    ("guid", "Uuid"),
    ("at", "DateTime<Utc>"),
    ("day", "NaiveDate"),
    ("time", "NaiveTime"),
    ("lasts", "Duration"),
    ("took", "TimeDelta"),
    ("address", "IpAddr"),
    ("host_id", "Ipv4Addr"),
    ("code", "Code"),
    ("score", "f64"),
    ("ratio", "f32"),
    ("maybe", "Option<String>"),
    ("number_maybe", "Option<u32>"),
    ("size", "usize"),
    ("offset", "isize"),
    ("local", "DateTime<FixedOffset>"),
    ("bytes", "Vec<u8>"),
];

/// String codecs, as pieces of an index key. `@` is the field.
pub(in crate::tests) const TEXT_PIECES: [&str; 14] = [
    "@",
    "escaped(@)",
    "without('-', @)",
    "without('_', @)",
    "percent(@)",
    "caret(@)",
    "bars(@)",
    "base64(@)",
    "folded(lower, @)",
    "folded(upper, percent(@))",
    "first(3, @)",
    "replaced('/', '_', @)",
    "hash(crc32, 8, @)",
    "bucket(@, 16)",
];

/// Codecs of other fields, as pieces of an index key.
pub(in crate::tests) const OTHER_PIECES: [&str; 12] = [
    "number",
    "digits(5, number)",
    "unpadded(number)",
    "hex(8, number)",
    "desc(number)",
    "flag",
    "ulid(guid)",
    "at",
    "desc(at)",
    "truncate(hour(at))",
    "inverted(9223372036854775807, unix(millis, at))",
    "address",
];

/// An invalid declaration. Each struct attribute is on its own line.
pub(super) struct Declared {
    pub(super) text: String,
    /// The piece of a key that a message may replace.
    pub(super) piece: Option<String>,
}

/// Returns a declaration with the attributes and the fields they name.
fn declared_with(attributes: &[String], fields: &[(&str, &str)]) -> Declared {
    let is_named = |name: &str| {
        attributes.iter().flat_map(|it| words(it)).any(|word| name.rsplit(' ').next() == Some(word))
    };
    let extra = ["id", "title", "number"];
    let fields: Vec<_> =
        fields.iter().copied().filter(|(name, _)| is_named(name) || extra.contains(name)).collect();
    declared(attributes, &fields)
}

fn declared(attributes: &[String], fields: &[(&str, &str)]) -> Declared {
    let mut text = attributes.iter().fold(String::new(), |text, attribute| text + attribute + "\n");
    text.push_str("struct Declared {\n");
    for (name, ty) in fields {
        let _ = writeln!(text, "    {name}: {ty},");
    }
    text.push_str("}\n");
    Declared { text, piece: None }
}

/// Returns declarations that lack one or both keys.
pub(super) fn missing() -> Vec<Declared> {
    let mut all = Vec::new();
    for (at, first) in TYPES.into_iter().enumerate() {
        all.push(declared(&[], &[first]));
        // All other types are treated like a number.
        let is_told_apart = |name: &str| {
            [
                "text", "number", "flag", "at", "day", "lasts", "host_id", "score", "maybe", "size", "local",
                "bytes",
            ]
            .contains(&name)
        };
        let others = TYPES.into_iter().filter(|(name, _)| is_told_apart(first.0) && is_told_apart(name));
        for second in others.filter(|second| *second != first) {
            for fields in [[first, second], [first, ("id", second.1)], [("id", first.1), second]] {
                all.push(declared(&[], &fields));
            }
        }
        // The proposals for a missing key depend on the first usable field.
        for second in TYPES.into_iter().cycle().skip(at + 1).step_by(5).take(4) {
            let with_owner = [("owner", "String"), first, second];
            all.push(declared(&["#[partition_key(owner)]".to_owned()], &with_owner));
            for key in [first.0, "\"\"", "\"at_\", owner"] {
                all.push(declared(&[format!("#[row_key({key})]")], &with_owner));
                all.push(declared(&[format!("#[row_key({key})]")], &[first, second]));
            }
            let misspelt = ["#[partition_keys(text)]".to_owned(), "#[row_key(\"\")]".to_owned()];
            all.push(declared(&misspelt, &[first, second, ("text", "String")]));
        }
    }
    all
}

/// Returns declarations whose PartitionKey is constant, or consists of times or a `bool`.
pub(super) fn hot() -> Vec<Declared> {
    let keys = [
        "\"\"",
        "\"all\"",
        "\"all\",",
        "\"all_\"",
        "\"a_\", \"b\"",
        "at",
        "at,",
        "desc(at)",
        "hour(at)",
        "\"x_\", at",
        "at, \"_\", hour(at)",
        "pattern(\"yyyyMMdd\", at)",
        "truncate(hour(at)),",
        "flag",
        "flag,",
        "\"x_\", flag",
        "flag, \"_\", number",
        "flag, \"_\", text",
        "flag, text",
        "flag, text, number",
        "flag, percent(text)",
        "flag, \"_\", at",
    ];
    let fields: Vec<_> = TYPES.into_iter().take(14).collect();
    let mut all = Vec::new();
    for key in keys {
        for row in fields.iter().map(|(name, _)| *name).chain(["\"\""]) {
            let attributes = [format!("#[partition_key({key})]"), format!("#[row_key({row})]")];
            all.push(declared_with(&attributes, &fields));
        }
        let of_time = [("at", "DateTime<Utc>"), ("flag", "bool"), ("number", "u32"), ("text", "String")];
        all.push(declared(&[format!("#[partition_key({key})]"), "#[row_key(\"\")]".to_owned()], &of_time));
    }
    all
}

/// Returns declarations with a timestamp in one key, and the same timestamp truncated to a coarser unit in the other.
pub(super) fn coarse() -> Vec<Declared> {
    let units = [
        "hour(at)",
        "pattern(\"yyyyMMdd\", at)",
        "pattern(\"yyyyMMddHH\", at)",
        "week(at)",
        "unix(seconds, at)",
    ];
    let mut all = Vec::new();
    for unit in units {
        for piece in [unit.to_owned(), format!("desc({unit})"), format!("inverted(30000000, {unit})")] {
            for (partition, row) in
                [("@, \"_\", text", "at"), ("text", "@, \"_\", at"), ("text", "@, \"_\", desc(at),")]
            {
                let key = |key: &str| key.replace('@', &piece);
                let attributes =
                    [format!("#[partition_key({})]", key(partition)), format!("#[row_key({})]", key(row))];
                let fields = [("text", "String"), ("at", "DateTime<Utc>")];
                all.push(Declared { piece: Some(piece.clone()), ..declared(&attributes, &fields) });
            }
        }
    }
    all
}

/// Returns declarations of indexes without a RowKey, or whose RowKey omits the entity's key.
pub(super) fn indexes() -> Vec<Declared> {
    let fields = |text: &'static str| {
        // Index fields are stored as properties, which cannot have these types.
        let is_property =
            |ty: &str| !["i128", "char", "Code", "usize", "isize", "DateTime<FixedOffset>"].contains(&ty);
        let fields = TYPES.into_iter().filter(|(_, ty)| is_property(ty));
        [("owner", "String"), ("id", "u32"), ("name", text), ("title", "String")]
            .into_iter()
            .chain(fields)
            .collect::<Vec<_>>()
    };
    let own_keys = [
        "id",
        "\"row_\", escaped(title), \"!\", id",
        "id, \"_\", title",
        "without('-', title), \"-\", id",
        "id, percent(title)",
    ];
    let mut all = Vec::new();
    for ty in ["String", "Option<String>"] {
        let pieces = TEXT_PIECES.iter().map(|piece| piece.replace('@', "name"));
        let pieces: Vec<String> = pieces.chain(OTHER_PIECES.map(str::to_owned)).collect();
        for own in ["\"row_\", id", "\"row_\", bucket(id, 16), \"_\", title, id"] {
            for key in ["\"\"", "\"all\"", "\"all_\","] {
                let attributes = [
                    "#[partition_key(owner)]".to_owned(),
                    format!("#[row_key({own})]"),
                    format!("#[index(ByName, partition_key(\"name_\", name), row_key({key}))]"),
                ];
                all.push(declared_with(&attributes, &fields(ty)));
            }
        }
        for piece in &pieces {
            for (at, own) in own_keys.into_iter().enumerate() {
                let ends = ["", ",", ", \"_\"", ", \"_\",", ", \"!\""];
                for end in ends.into_iter().take(if at == 1 { 5 } else { 2 }) {
                    let attributes = [
                        "#[partition_key(owner)]".to_owned(),
                        format!("#[row_key({own})]"),
                        format!("#[index(ByName, row_key(\"name_\", {piece}{end}))]"),
                    ];
                    all.push(declared_with(&attributes, &fields(ty)));
                }
            }
            let attributes = [
                "#[partition_key(owner)]".to_owned(),
                "#[row_key(id)]".to_owned(),
                format!("#[index(ByName, partition_key(\"name_\", {piece}), row_key(title,))]"),
            ];
            all.push(declared_with(&attributes, &fields(ty)));
        }
        // The field's attribute declares a codec.
        for own in own_keys {
            for attribute in ["#[without('-')] name", "#[percent] name", "#[escaped] name", "#[bars] name"] {
                let mut fields = fields(ty);
                fields[2].0 = attribute;
                let attributes = [
                    "#[partition_key(owner)]".to_owned(),
                    format!("#[row_key({own})]"),
                    "#[index(ByName, row_key(\"name_\", name))]".to_owned(),
                ];
                all.push(declared_with(&attributes, &fields));
            }
        }
    }
    let named = fields("String");
    for (name, _) in &named {
        // Without the `row_` prefix, index rows would mix with entity rows.
        for own in [
            "\"row_\", id",
            "\"row_\", escaped(title), \"!\", id",
            "\"row_\", id, \"_\", title",
            "\"row_\", bucket(id, 16), \"_\", id",
        ] {
            for index in
                ["index(@)", "index(@, unique)", "index_entity(@)", "index(By@)", "index(By@, unique)"]
            {
                let attributes = [
                    "#[partition_key(owner)]".to_owned(),
                    format!("#[row_key({own})]"),
                    format!("#[{}]", index.replace("By@", &format!("By{}", pascal(name))).replace('@', name)),
                ];
                let fields: Vec<_> = named
                    .iter()
                    .copied()
                    .filter(|it| it.0 == *name || ["owner", "id", "title"].contains(&it.0))
                    .collect();
                all.push(declared(&attributes, &fields));
            }
        }
    }
    all
}

fn pascal(name: &str) -> String {
    crate::casing::pascal_case(name)
}
