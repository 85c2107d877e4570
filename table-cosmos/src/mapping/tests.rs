//! Tests that every error in a mapping is reported when the options are created.

use table_core::{Entity, ErrorCode};

use super::*;
use crate::Options;

fn orders() -> Mapping {
    Mapping::new(["/tenantId", "/customer/id"]).property("Total", "/total", Format::Double)
}

#[test]
fn hpk_42_and_wire_6_a_mapping_with_a_fault_is_refused_with_the_reason() {
    let cases = [
        (Mapping::new([]), "1 to 3 levels"),
        (Mapping::new(["/a", "/b", "/c", "/d"]), "1 to 3 levels"),
        (Mapping::new(["tenantId"]), "`tenantId` is not a path"),
        (Mapping::new(["/_ts"]), "`/_ts` is a member of the service"),
        (Mapping::new(["/_tables/x"]), "`/_tables/x` is a member of the service"),
        (Mapping::new(["/a", "/a"]), "`/a` and `/a`"),
        (orders().property("Name", "/customer", Format::Text), "`/customer/id` and `/customer`"),
        (orders().property("Name", "/total/text", Format::Text), "`/total` and `/total/text`"),
        (orders().property("Id", "/id", Format::Text), "`/id` is a member of the service"),
        (orders().property("RowKey", "/x", Format::Text), "`RowKey` is not the name"),
        (orders().property("a b", "/x", Format::Text), "`a b` is not the name"),
        (orders().property("Total", "/x", Format::Text), "`Total` is mapped twice"),
        (orders().property("Ttl", "/ttl", Format::Int32), "Mapping::time_to_live"),
        (orders().property("Ttl", "/x", Format::TimeToLive), "Mapping::time_to_live"),
        (orders().time_to_live("A").time_to_live("B"), "`/ttl` and `/ttl`"),
        (orders().constant("/total", "7"), "`/total` and `/total`"),
        (orders().constant("type", "7"), "`type` is not a path"),
        (Mapping::standard(1).property("A", "/p/A", Format::Text), "`/p/A` and `/p`"),
        (Mapping::standard(1).property("A", "/l1", Format::Text), "`/l1` and `/l1`"),
        (Mapping::standard(1).property("A", "/l2", Format::Text), "`/l2` and `/l2`"),
        (Mapping::standard(1).property("A", "/l3/a", Format::Text), "`/l3/a` and `/l3`"),
        (Mapping::standard(2).property("A", "/\"l3\"", Format::Text), "`/\"l3\"` and `/l3`"),
        (Mapping::standard(1).constant("/l2", "x"), "`/l2` and `/l2`"),
        (orders().constant("/ttl", "60"), "Mapping::time_to_live"),
        (orders().constant("/\"ttl\"/x", "60"), "Mapping::time_to_live"),
        (Mapping::new(["/tenantId", "/ttl"]), "Mapping::time_to_live"),
    ];
    for (mapping, reason) in cases {
        let error = Options::new().mapping("Orders", mapping.clone()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{mapping:?}");
        assert!(error.to_string().contains(reason), "{error} has no {reason}");
    }
    let valid = orders().time_to_live("ExpiresIn").constant("/type", "order");
    assert_eq!(Options::new().mapping("Orders", valid).unwrap().level_count("orders"), 2);
    for valid in [
        Mapping::standard(3).property("A", "/l4", Format::Text),
        Mapping::new(["/a"]).property("A", "/l2", Format::Text).constant("/l3", "x"),
    ] {
        assert!(Options::new().mapping("Orders", valid).is_ok());
    }
}

#[derive(Entity)]
#[entity(table = "Orders")]
#[partition_key(tenant, customer)]
#[row_key(number)]
struct Order {
    tenant: String,
    customer: String,
    number: String,
    total: f64,
}

#[test]
fn wire_6_a_mapping_of_an_entity_names_its_properties_with_their_types() {
    let cases = [
        (Mapping::new(["/tenantId"]), "has 1 levels, but the entity has 2"),
        (orders().property("Totl", "/x", Format::Double), "no property `Totl`"),
        (
            Mapping::new(["/a", "/b"]).property("Total", "/total", Format::Int64),
            "`Total` of the entity is Edm.Double, but the mapping makes it Edm.Int64",
        ),
    ];
    for (mapping, reason) in cases {
        let error = Options::new().mapping_of::<Order>(mapping).unwrap_err();
        assert!(error.to_string().contains(reason), "{error} has no {reason}");
    }
    assert_eq!(Options::new().mapping_of::<Order>(orders()).unwrap().level_count("Orders"), 2);
}
