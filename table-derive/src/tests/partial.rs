//! Tests that incomplete attributes, as an editor sees them while the user types, can still be expanded. Each valid declaration is
//! cut off after each token of each attribute. The expansion must report at most one error and contain the names in the
//! declaration with their original spans.

use proc_macro2::{Delimiter, Group, LineColumn, TokenStream, TokenTree};

use super::wrong::{expand, reported};

const DECLARATIONS: [(&str, &str); 13] = [
    (
        "Entity",
        r#"#[entity(table = "Company", schema_name = "Worker", kind = "Employee", feed, allow(low_cardinality, reason = "few"))]
        #[partition_key(department)]
        #[row_key("empid_", digits(6, id), "_", desc(hour(at)))]
        #[index(ByEmail, unique, table = "Emails", row_key("email_", email), include(name), when = Self::is_open)]
        #[index_entity(ByName, at_most = 100, partition_key("name_", department), row_key(escaped(name)))]
        struct Employee {
            department: String,
            id: u32,
            at: DateTime<Utc>,
            name: String,
            #[property("EmailAddress", json)] email: String,
        }"#,
    ),
    (
        "Entity",
        r#"#[partition_key(bucket(user, 16))]
        #[row_key(codec(path::To, user), "!", literal("x"), pattern("yyyy-MM-dd", day))]
        struct Login { #[digits(6)] user: u64, day: NaiveDate }"#,
    ),
    (
        "Entity",
        "#[partition_key(tenant, user)] #[row_key(\"\")] struct Event { tenant: String, user: String }",
    ),
    (
        "Entity",
        r#"#[entity(crate = a::b, copied_by(Assignee, b::Owner), copies_from(Reviewer), set = Desk, allow(many_buckets, reason = "one"))]
        #[partition_key(bucket(folded(lower, name), 4000))]
        #[row_key(hex(8, upper, id), "_", unpadded(count), "_", guid(simple, user), "_", ulid(tenant), "_", caret(email))]
        #[index(ByTime, unique, table = "Times", partition_key(hash(crc32, 8, user)),
            row_key(inverted(9, unix(millis, at)), "_", replaced('/', '_', first(3, name)), "_", truncate(hour(seen))))]
        #[index(ByDay, unique, table = "Days", row_key(percent(day), "_", bars(name), "_", base64(email), "_", week(at)))]
        #[index(ByPlace, unique, table = "Places", row_key(derived(path::Geohash, place), "_", hash(sha256, 43, base64url, name)))]
        struct Visit {
            name: String, #[property("Id", also)] id: u32, count: u16, user: Uuid, tenant: u128, email: String, day: String, place: Json<Place>,
            at: DateTime<Utc>, seen: DateTime<Utc>, #[property(chunks)] data: Vec<u8>, #[property(rest)] rest: BTreeMap<String, Value>,
        }"#,
    ),
    (
        "Entity",
        r#"#[partition_key("all")] #[row_key(user, "_", name)]
        #[entity(allow(hot_partition, reason = "few"), allow(ambiguous_row_key, reason = "theirs"))]
        struct Login {
            #[without('_')] user: String, name: String,
        }"#,
    ),
    (
        "Entity",
        r#"#[partition_key(tenant, "-", user)] #[row_key("")]
        #[entity(allow(ambiguous_partition_key, reason = "theirs"))] struct Theirs { tenant: String, user: String }"#,
    ),
    ("Large", "struct Document { #[blob] text: BlobRef }"),
    ("KeyPart", "#[key_part(crate = a::b)] enum Stage { #[key_part(\"draft\")] Draft, Final }"),
    ("KeyPart", "#[digits(6)] struct Id(u32);"),
    ("Projection", "#[projection(of = a::Employee, crate = b)] struct Contact { name: String }"),
    (
        "EntitySet",
        "#[entity_set(crate = b)] enum Staff { #[upgrade(from = V1)] Employee(Employee), #[other] Other(TableEntity) }",
    ),
    (
        "EntityGroup",
        "#[entity_group(under = Employee)] struct Staff { employee: One<Employee>, reviews: Many<Review> }",
    ),
    (
        "Wide",
        r#"#[partition_key(employee)] #[row_key(year)]
        struct Year { employee: u32, year: u16, #[part(1)] #[slots("Day", 1..=9)] days: Vec<Option<i32>> }"#,
    ),
];

/// Returns the stream cut off after each of its tokens, and also inside each of its groups.
fn prefixes(stream: &TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    let mut prefixes = Vec::new();
    for at in 0..tokens.len() {
        let before: TokenStream = tokens.iter().take(at).cloned().collect();
        if let Some(TokenTree::Group(group)) = tokens.get(at) {
            for inner in self::prefixes(&group.stream()) {
                prefixes.push(before.clone().into_iter().chain([with(group, inner)]).collect());
            }
        }
        prefixes.push(before);
    }
    prefixes
}

fn with(group: &Group, stream: TokenStream) -> TokenTree {
    let mut replaced = Group::new(group.delimiter(), stream);
    replaced.set_span(group.span());
    replaced.into()
}

/// Returns copies of the declaration with one attribute cut off, one for every position in every attribute.
fn truncations(declaration: &TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = declaration.clone().into_iter().collect();
    let mut truncations = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let is_attribute = group.delimiter() == Delimiter::Bracket;
        let inner = if is_attribute { prefixes(&group.stream()) } else { self::truncations(&group.stream()) };
        // An attribute without a name does not belong to any derive.
        for inner in inner.into_iter().filter(|inner| !(is_attribute && inner.is_empty())) {
            let mut whole = tokens.clone();
            whole[at] = with(group, inner);
            truncations.push(whole.into_iter().collect());
        }
    }
    truncations
}

/// Returns the names in a stream, each with its position.
fn names(stream: TokenStream) -> Vec<(String, LineColumn)> {
    let names = stream.into_iter().flat_map(|token| match token {
        TokenTree::Ident(ident) => vec![(ident.to_string(), ident.span().start())],
        TokenTree::Group(group) => names(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    names.collect()
}

#[test]
fn an_incomplete_declaration_expands_with_at_most_one_mistake() {
    let (mut count, mut several) = (0, Vec::new());
    for (derive, text) in DECLARATIONS {
        let declaration: TokenStream = text.parse().expect("a declaration is made of tokens");
        let whole = expand(derive, declaration.clone());
        assert!(reported(whole.clone()).is_empty(), "{derive}: {whole}");
        for partial in truncations(&declaration) {
            count += 1;
            let expansion = expand(derive, partial.clone());
            // The tokens before a name must not depend on its length; see `expand::named`.
            if ["Entity", "Wide"].contains(&derive) {
                assert!(expansion.to_string().starts_with("# [allow (deprecated"), "{expansion}");
            }
            let reported = reported(expansion.clone());
            let texts: Vec<_> = reported.iter().map(|reported| reported.text.as_str()).collect();
            if texts.len() > 1 {
                several.push(format!("{partial}: {texts:#?}"));
            }
            assert!(texts.iter().all(|text| text.starts_with("[T") && text.contains("help: ")), "{texts:?}");
            let file: syn::File = syn::parse2(expansion).expect("an expansion is items");
            assert!(file.items.len() > texts.len(), "{partial} is not expanded");
        }
    }
    assert!(several.is_empty(), "{}", several.join("\n\n"));
    assert!(count > 150, "{count} declarations were cut off");
}

#[test]
fn a_name_in_an_attribute_keeps_its_span_in_the_expansion() {
    let fields = ["department", "id", "at", "name", "email", "user", "day", "tenant", "employee", "year"];
    for (derive, text) in DECLARATIONS.into_iter().filter(|(derive, _)| *derive == "Entity") {
        let declaration: TokenStream = text.parse().expect("a declaration is made of tokens");
        for partial in std::iter::once(declaration.clone()).chain(truncations(&declaration)) {
            let expanded = names(expand(derive, partial.clone()));
            let head = partial.clone().into_iter().filter(
                |token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket),
            );
            for name in names(head.collect()).into_iter().filter(|(name, _)| fields.contains(&name.as_str()))
            {
                assert!(expanded.contains(&name), "{name:?} of {partial}");
            }
        }
    }
}

/// Tests that every word of every attribute occurs in one of the truncated declarations.
#[test]
fn every_attribute_word_is_covered() {
    let all: Vec<&str> = DECLARATIONS.iter().map(|(_, text)| *text).collect();
    let all = all.join("\n");
    let words: Vec<String> = all
        .split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .map(str::to_owned)
        .collect();
    let codecs = crate::codec::all().map(|word| word.name);
    let others = [
        "entity",
        "table",
        "schema_name",
        "kind",
        "feed",
        "copied_by",
        "copies_from",
        "set",
        "crate",
        "allow",
        "reason",
        "low_cardinality",
        "hot_partition",
        "many_buckets",
        "ambiguous_row_key",
        "ambiguous_partition_key",
        "index",
        "index_entity",
        "unique",
        "include",
        "when",
        "at_most",
        "partition_key",
        "row_key",
        "literal",
        "codec",
        "property",
        "json",
        "also",
        "rest",
        "chunks",
        "key_part",
        "projection",
        "of",
        "entity_set",
        "upgrade",
        "from",
        "other",
        "entity_group",
        "under",
        "part",
        "slots",
        "blob",
    ];
    let missing: Vec<&str> =
        codecs.chain(others).filter(|word| !words.iter().any(|known| known == word)).collect();
    assert!(missing.is_empty(), "{missing:?} are in no declaration of this file");
}
