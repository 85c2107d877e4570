//! Tests the markers of columns, which restrict which patches can set a property.

use quote::quote;

use super::entity;
use super::proposed::declared::{OTHER_PIECES, TEXT_PIECES, TYPES};

/// Returns the marker of a field's column, or `None` if the field has no column.
fn marker(expansion: &str, field: &str) -> Option<String> {
    let column = expansion.split_once(&format!("const {}: __table::Column<", field.to_uppercase()))?.1;
    let (parameters, _) = column.split_once("> = __table::Column::new(")?;
    let known =
        ["OfKey", "Indexed"].into_iter().find(|marker| parameters.ends_with(&format!("__table::{marker}")));
    Some(known.unwrap_or("Plain").to_owned())
}

/// Returns the expansion of an entity with these attributes and a field of each type.
fn expanded(attributes: &str) -> String {
    let types = TYPES.into_iter().filter(|(_, ty)| !ty.starts_with("Option"));
    let fields: Vec<String> = types.map(|(name, ty)| format!("{name}: {ty}, ")).collect();
    let fields = fields.concat();
    let text = format!("{attributes} struct Declared {{ owner: String, name: String, {fields} }}");
    entity(text.parse().expect("a declaration is made of tokens"))
}

/// Returns each piece of a key, with the name of its field.
fn pieces() -> impl Iterator<Item = (String, &'static str)> {
    let texts = TEXT_PIECES.iter().map(|piece| (piece.replace('@', "name"), "name"));
    texts.chain(OTHER_PIECES.iter().map(|piece| {
        let mut words = piece.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let field = words.next_back().unwrap_or_default();
        ((*piece).to_owned(), field)
    }))
}

#[test]
fn a_column_on_which_a_key_depends_is_marked_in_every_form() {
    let mut stored = 0;
    for (piece, field) in pieces() {
        for keys in [
            format!("#[partition_key(owner)] #[row_key({piece})]"),
            format!("#[partition_key(\"p_\", {piece}, \"_\", owner)] #[row_key(\"\")]"),
        ] {
            let column = marker(&expanded(&keys), field);
            stored += usize::from(column.is_some());
            // A key field has no column, or one marked `OfKey`.
            assert!(column.is_none_or(|marker| marker == "OfKey"), "{keys}");
        }
        let index = format!(
            "#[partition_key(owner)] #[row_key(\"row_\", number)] #[index(By, unique, row_key(\"by_\", {piece}), include(day))]"
        );
        let expansion = expanded(&index);
        assert!(marker(&expansion, field).is_none_or(|marker| marker == "Indexed"), "{index}");
        assert_eq!(marker(&expansion, "day").as_deref(), Some("Indexed"), "{index}");
        assert_eq!(marker(&expansion, "score").as_deref(), Some("Plain"), "{index}");
    }
    assert!(stored >= 14, "only {stored} pieces do not contain the whole value");
}

#[test]
fn every_column_of_an_index_with_a_function_is_marked() {
    for index in [
        "#[index(By, unique, row_key(\"by_\", name), include(day), when = is_active)]",
        "#[index_entity(By, at_most = 9, row_key(\"by_\", name), when = is_active)]",
    ] {
        let expansion = expanded(&format!(
            "#[partition_key(owner)] #[row_key(\"row_\", hash(crc32, 8, number))] {index}"
        ));
        let fields = TYPES
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| *name != "number" && !name.contains("maybe"));
        for field in fields {
            assert_eq!(marker(&expansion, field).as_deref(), Some("Indexed"), "{field} {index}");
        }
        assert_eq!(marker(&expansion, "number").as_deref(), Some("OfKey"), "{index}");
    }
}

#[test]
fn a_type_in_an_invisible_group_is_recognised() {
    use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

    let group = |ty: TokenStream| TokenTree::from(Group::new(Delimiter::None, ty));
    for ty in [group(quote!(Option<String>)).into(), quote!((Option<String>)), quote!(Option<String>)] {
        let declared = quote! {
            #[partition_key(id)]
            #[row_key("")]
            struct Declared {
                id: u32,
                #[serde(default)]
                note: #ty,
            }
        };
        assert_eq!(super::mistakes(declared), Vec::<String>::new());
    }
}
