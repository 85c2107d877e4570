//! Groups whose fields contain generic entities and types that a macro received.
#![deny(warnings)]

use table_core::group::{GroupOf, Many, One};
use table_core::{Entity, EntityGroup, Property, TableEntity};

#[derive(Entity)]
#[entity(table = "Devices")]
#[partition_key(device)]
#[row_key("event_", number)]
struct Event<V: Property, T: Property> {
    device: String,
    #[digits(6)]
    number: u32,
    value: V,
    text: T,
}

#[derive(Entity)]
#[entity(table = "Devices")]
#[partition_key(device)]
#[row_key("sample_", number)]
struct Sample<V: Property> {
    device: String,
    #[digits(6)]
    number: u32,
    value: V,
}

/// Two members have the same innermost type argument.
#[derive(EntityGroup)]
struct Device {
    events: Many<Event<f64, f64>>,
    samples: Many<Sample<f64>>,
}

/// Declares a group as macros do, whose arguments are types.
macro_rules! group {
    ($name:ident { $($field:ident: $ty:ty),* }, ($optional:ident: $one:ty), ($many:ident: $entity:ty)) => {
        #[derive(EntityGroup)]
        struct $name {
            $($field: $ty,)*
            $optional: Option<$one>,
            $many: Many<$entity>,
            #[other]
            rest: Vec<TableEntity>,
        }
    };
}

group!(Macro { events: Many<Event<f64, String>> }, (sample: One<Sample<f64>>), (others: Event2));

#[derive(Entity)]
#[entity(table = "Devices")]
#[partition_key(device)]
#[row_key("other_", number)]
struct Event2 {
    device: String,
    #[digits(6)]
    number: u32,
}

fn is_read_by<E: Entity, G: GroupOf<E>>() {}

pub fn main() {
    is_read_by::<Event<f64, f64>, Device>();
    is_read_by::<Sample<f64>, Device>();
    is_read_by::<Event<f64, String>, Macro>();
    is_read_by::<Sample<f64>, Macro>();
    is_read_by::<Event2, Macro>();
    let device = Device::from_rows(std::iter::empty()).unwrap();
    assert!(device.events.is_empty() && device.samples.is_empty());
    let group = Macro::from_rows(std::iter::empty()).unwrap();
    assert!(
        group.events.is_empty() && group.sample.is_none() && group.others.is_empty() && group.rest.is_empty()
    );
}
