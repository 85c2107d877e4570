use super::*;

#[test]
fn an_index_whose_keys_accept_more_values_is_readable() {
    let schema = |literal: &str, codec: &str, keeps: &str| {
        let text = format!(
            "schema 1\nentity E\ntable T\nPartitionKey a text 0..512 ordered legal\nproperty A Edm.String\nproperty B Edm.String optional\n\
             index ByA copies\nindex ByA RowKey \"{literal}\"\nindex ByA RowKey .A {codec} 0..512 ordered legal\nindex ByA keeps {keeps}\n"
        );
        text.parse::<StoredSchema>().unwrap()
    };
    let own = schema("a_", "without(_)", "*");
    assert!(is_readable(&own, &own, "ByA"));
    assert!(requires(&schema("a_", "text", "*"), &own, "ByA"), "fewer values are another key");
    assert!(is_readable(&schema("a_", "text", "*"), &own, "ByA"));
    for (literal, codec, keeps) in
        [("b_", "text", "*"), ("b_", "without(_)", "*"), ("a_", "text", "A"), ("a_", "without(_)", "A")]
    {
        let stored = schema(literal, codec, keeps);
        assert!(!is_readable(&stored, &own, "ByA"), "{stored}");
    }
}
