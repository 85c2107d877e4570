//! Tests of the members that each metadata level adds (JSON-1 to JSON-3).

use super::*;

/// The members of an entity, each with the lowest level that contains it.
const MEMBERS: [(&str, MetadataLevel); 14] = [
    ("PartitionKey", MetadataLevel::None),
    ("Age", MetadataLevel::None),
    ("Timestamp", MetadataLevel::None),
    ("BadgeId@odata.type", MetadataLevel::Minimal),
    ("Hired@odata.type", MetadataLevel::Minimal),
    ("Ref@odata.type", MetadataLevel::Minimal),
    ("Photo@odata.type", MetadataLevel::Minimal),
    ("Wild@odata.type", MetadataLevel::Minimal),
    ("odata.metadata", MetadataLevel::Minimal),
    ("odata.etag", MetadataLevel::Minimal),
    ("Timestamp@odata.type", MetadataLevel::Full),
    ("odata.type", MetadataLevel::Full),
    ("odata.id", MetadataLevel::Full),
    ("odata.editLink", MetadataLevel::Full),
];

/// Properties that are never annotated, because their types follow from the JSON syntax.
const PLAIN: [&str; 4] = ["FirstName", "Age", "Salary", "Active"];

#[test]
fn json_3_each_level_adds_its_members_and_no_others() {
    let wild = read_entity(br#"{"Wild@odata.type":"Edm.Double","Wild":"NaN"}"#, Sender::Client).unwrap();
    let row = merge(employee().view(), wild.row.view()).unwrap().with_timestamp(STAMP);
    for level in [MetadataLevel::None, MetadataLevel::Minimal, MetadataLevel::Full] {
        let entity = EntityRef::new("Sales", "00001", row.view());
        let text = write_entity(entity, level, &ALL).unwrap();
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
        for (name, from) in MEMBERS {
            assert_eq!(members.contains_key(name), level >= from, "{name} at {level:?}");
        }
        for name in PLAIN {
            assert!(members.contains_key(name));
            assert!(!members.contains_key(&format!("{name}@odata.type")), "{name} at {level:?}");
        }
        let known = MEMBERS.iter().filter(|(name, from)| level >= *from && name.contains("odata.")).count();
        let found = members.keys().filter(|name| name.contains("odata.")).count();
        assert_eq!(found, known, "{level:?}: {text}");
    }
}

#[test]
fn json_1_and_2_a_media_type_is_read_leniently() {
    for (text, level) in [
        ("application/json", Some(MetadataLevel::Minimal)),
        ("application/json;odata=nometadata", Some(MetadataLevel::None)),
        ("APPLICATION/JSON; odata=fullmetadata", Some(MetadataLevel::Full)),
        ("application/json ; charset=utf-8 ; odata=minimalmetadata", Some(MetadataLevel::Minimal)),
        ("application/json;odata=minimalmetadata;streaming=true;charset=utf-8", Some(MetadataLevel::Minimal)),
        ("application/json;odata=\"nometadata\"", Some(MetadataLevel::None)),
        ("application/json; OData = fullmetadata", Some(MetadataLevel::Full)),
        ("application/json;odata=other", None),
        ("application/atom+xml", None),
        ("", None),
    ] {
        assert_eq!(MetadataLevel::from_media_type(text), level, "{text}");
    }
    for level in [MetadataLevel::None, MetadataLevel::Minimal, MetadataLevel::Full] {
        assert_eq!(MetadataLevel::from_media_type(level.media_type()), Some(level));
    }
}
