//! Generic entities compile with bounds in either place, defaults, constants, levels, row keys of several parts, and private types.
#![deny(warnings, missing_debug_implementations)]
#![no_implicit_prelude]

use ::table_core::selection::{Partition, Point, RowRange};
use ::table_core::{Entity, PlainEntity, Property, Selection};

#[derive(Debug, Entity)]
#[partition_key(department)]
#[row_key("event_", id)]
pub struct Event<T: Property = ::std::string::String> {
    department: ::std::string::String,
    id: u32,
    /// The event data.
    pub payload: T,
}

#[derive(Debug, Entity)]
#[partition_key(department, id)]
#[row_key(r#type, "_", at)]
struct Sample<A, const N: usize>
where
    A: Property + ::core::clone::Clone,
    [A; N]: ::core::fmt::Debug,
{
    department: ::std::string::String,
    id: u32,
    r#type: u8,
    at: u64,
    value: ::core::option::Option<A>,
}

#[derive(Debug, Entity)]
#[entity(table = "Counts")]
#[partition_key(department)]
#[row_key("")]
struct Count<const N: usize> {
    department: ::std::string::String,
    number: u16,
}

fn is_plain<E: PlainEntity>() {}

fn over_any<T: Property + 'static>(id: u32) -> Selection<Event<T>, Point> {
    Event::<T>::key("Sales", id)
}

/// Uses the declarations.
pub fn main() {
    is_plain::<Event>();
    is_plain::<Sample<u8, 3>>();
    is_plain::<Count<4>>();
    let _: Selection<Event<u32>, Point> = over_any(1);
    let _: Selection<Event, RowRange> = Event::rows("Sales").id(1..=2);
    let _: Selection<Sample<u8, 3>, Partition> = Sample::within("Sales").id_is(3);
    let _: Selection<Sample<u8, 3>, Point> = Sample::rows("Sales", 1).type_is(1).at_is(2);
    let _ = Event::<i64>::PAYLOAD.ge(4);
    let _ = Sample::<u8, 3>::VALUE.eq(4_u8);
}
