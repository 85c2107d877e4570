//! Tests combinations of codecs in one declaration: lossy codecs, codecs of newtypes, and codecs in indexes.

#![expect(clippy::struct_field_names, reason = "names of layouts")]

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, KeyPart, Selection, TableStoreExt};
use table_patterns::EntityStore;
use uuid::Uuid;

use crate::published::{both_ways, instant, stored};

/// A visit whose key contains only a part of the value of each field. The fields are therefore also stored as properties. When a visit is read, they are
/// compared with the key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", at)), "_", replaced('/', '-', path))]
#[row_key(hash(crc32, 4, user), "_", folded(lower, user), "_", unpadded(visit))]
struct Visit {
    at: DateTime<Utc>,
    #[property("Who")]
    user: String,
    path: String,
    visit: u64,
}

#[test]
fn fields_of_derived_parts_remain_properties() {
    block_on(async {
        let of = |at: &str, visit| Visit {
            at: instant(at),
            user: "Ada".to_owned(),
            path: "a/b".to_owned(),
            visit,
        };
        let visit = of("2014-04-23T09:05:07Z", 7);
        both_ways(&visit, ("20140423_a-b", "b53d_ada_7"));
        let visits =
            stored!(Visit, [visit.clone(), of("2014-04-23T23:00:00Z", 8), of("2014-04-24T00:00:00Z", 7)]);
        let day =
            visits.query(Visit::partition(instant("2014-04-23T12:00:00Z"), "a/b")).collect().await.unwrap();
        assert_eq!(day.iter().map(|visit| visit.visit).collect::<Vec<_>>(), [7, 8]);
        let found = visits.get(Visit::key(visit.at, "a/b", "Ada", 7)).await.unwrap().unwrap();
        assert_eq!(*found.value(), visit);
    });
}

/// A member whose e-mail address cannot be decoded from the row key. The key of an index row contains the same encoded address. Members in the same city
/// therefore have separate index rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Members")]
#[partition_key(club)]
#[row_key("mail_", folded(lower, email))]
#[index(ByCity, row_key("city_", escaped(city), "!", folded(lower, email)))]
struct Member {
    club: String,
    email: String,
    city: String,
}

#[test]
fn pat_intra_5_index_rows_of_entities_with_folded_keys_are_kept_apart() {
    block_on(async {
        let members = Engine::in_memory().entities::<Member>().create_if_missing().await.unwrap();
        let of = |email: &str| Member { club: "Chess".into(), email: email.into(), city: "Graz".into() };
        for email in ["Ada@contoso.com", "bob@contoso.com"] {
            members.insert(&of(email)).await.unwrap();
        }
        let found = members.query(Member::by_city_rows("Chess").city_is("Graz")).collect().await.unwrap();
        assert_eq!(found, [of("Ada@contoso.com"), of("bob@contoso.com")]);
    });
}

/// A sample from a device. The key contains only the hour, and a property stores the exact time.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Samples")]
#[partition_key(device)]
#[row_key(truncate(hour(at)), "_", sensor)]
struct Sample {
    device: String,
    at: DateTime<Utc>,
    #[hex(4)]
    sensor: u16,
}

#[test]
fn a_range_of_instants_over_their_hours_includes_both_ends() {
    block_on(async {
        let of = |at: &str| Sample { device: "pump".to_owned(), at: instant(at), sensor: 0xBEEF };
        let samples = stored!(
            Sample,
            [
                of("2014-04-23T08:59:59Z"),
                of("2014-04-23T09:30:00Z"),
                of("2014-04-23T10:15:00Z"),
                of("2014-04-23T11:00:00Z")
            ]
        );
        let (from, until) = (instant("2014-04-23T09:31:00Z"), instant("2014-04-23T10:30:00Z"));
        let rows = samples.query(Sample::rows("pump").at(from..until)).collect().await.unwrap();
        let hours: Vec<String> = rows.iter().map(|sample| sample.at.format("%H:%M").to_string()).collect();
        assert_eq!(
            hours,
            ["09:30", "10:15"],
            "no row of the range is missed; those beside it are recognized by the property"
        );
        let hour: Selection<Sample, _, _> = Sample::rows("pump").at_is(from).into();
        assert_eq!(samples.query(hour).collect().await.unwrap().len(), 1);
    });
}

/// An identifier. Its type determines its form in keys.
#[derive(KeyPart, Clone, Debug, PartialEq)]
#[guid(simple)]
struct SessionId(Uuid);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Sessions")]
#[partition_key(tenant, "-", session)]
#[row_key("at_", inverted(9_223_372_036_854_775_807, unix(millis, at)), "_", request)]
#[index(ByUrl, row_key("url_", percent(url), "!", at, "_", request))]
struct Session {
    tenant: String,
    session: SessionId,
    at: DateTime<Utc>,
    url: String,
    #[ulid]
    request: String,
}

#[test]
fn a_codec_of_a_type_beside_text_and_in_an_index() {
    let session = Session {
        tenant: "con-toso".to_owned(),
        session: SessionId(Uuid::from_u128(0xABC)),
        at: instant("2000-01-20T11:25:42Z"),
        url: "https://contoso.com/a".to_owned(),
        request: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
    };
    let key =
        ("con-toso-00000000000000000000000000000abc", "at_9223371088487233807_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    both_ways(&session, key);
    let index = Session::SCHEMA.indexes.first().unwrap();
    assert_eq!(index.name, "ByUrl");
}

/// A person whose keys contain only the first characters of the name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People")]
#[partition_key(first(1, name))]
#[row_key(first(3, escaped(name)), "!", id)]
struct Person {
    name: String,
    #[digits(4)]
    id: u16,
}

#[test]
fn a_range_of_texts_over_their_beginnings_includes_both_ends() {
    let of = |name: &str, id| Person { name: name.to_owned(), id };
    both_ways(&of("Jones", 7), ("J", "Jon!0007"));
    both_ways(&of("Jo", 8), ("J", "Jo!0008"));
    block_on(async {
        let people = stored!(Person, [of("Jackson", 1), of("James", 2), of("Jonas", 3), of("Jones", 4)]);
        let range = Person::rows("Jxx").name("Jam".to_owned().."Jonb".to_owned());
        let names: Vec<String> =
            people.query(range).collect().await.unwrap().into_iter().map(|person| person.name).collect();
        assert_eq!(names, ["James", "Jonas", "Jones"], "the rows of the last beginning are read");
        assert_eq!(people.get(Person::key("Jones", 4)).await.unwrap().unwrap().value(), &of("Jones", 4));
    });
}
