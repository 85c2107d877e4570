//! Key levels of every kind compile. So do a declaration that opts out of a check, and types for the first levels of a key.
#![deny(warnings)]

use table_core::selection::{Partition, PartitionRange};
use table_core::{Entity, KeyPart, Selection};

#[derive(Clone, Debug, KeyPart)]
#[escaped]
struct Tenant(String);

#[derive(Clone, Copy, Debug, KeyPart)]
enum Region {
    East,
    West,
}

#[derive(Debug, Entity)]
#[entity(allow(low_cardinality, reason = "two regions, each loaded once and then only read"))]
#[partition_key(region, tenant, digits(4, r#type))]
#[row_key("")]
#[index(
    ByTenant,
    table = "ByTenant",
    partition_key(tenant, without('!', name)),
    row_key(digits(4, r#type), region)
)]
pub struct Event {
    region: Region,
    tenant: Tenant,
    r#type: u32,
    name: String,
}

#[derive(Debug, Entity)]
#[partition_key(tenant, id)]
#[row_key("")]
struct Item {
    tenant: u64,
    id: uuid::Uuid,
}

fn of(region: Region) -> EventWithoutTenantAndType {
    Event::within(region)
}

/// Uses the declarations.
pub fn main() {
    let tenant = Tenant("contoso".to_owned());
    let range: Selection<Event, PartitionRange> = of(Region::East).into();
    let longer: EventWithoutType = of(Region::West).tenant_is(&tenant);
    let types: Selection<Event, PartitionRange> = longer.clone().r#type(1..=9);
    let one: Selection<Event, Partition> = longer.type_is(7);
    let _ = (range, types, Region::East);
    assert_eq!(
        one.ranges().unwrap()[0].partition_key.single(),
        Event::partition(Region::West, tenant, 7).ranges().unwrap()[0].partition_key.single(),
    );
    let item = Item { tenant: 7, id: uuid::Uuid::nil() };
    assert!(item.key_of().unwrap().partition_key.as_str().ends_with("-000000000000!"));
    assert!(Item::within(7).id(uuid::Uuid::nil()..).ranges().is_ok());
}
