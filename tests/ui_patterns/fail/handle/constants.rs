//! Entity types that a handle cannot maintain. rustc evaluates the checks of a call when it generates its code, which this test does not do, so the checks are
//! called directly. The documentation tests of the functions contain the calls.

use table_patterns::Entity;
use table_patterns::__private::{
    require_droppable, require_log, require_no_outbox, require_recording_outbox, require_table_of_owner,
};

#[derive(Entity)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    number: u32,
}

#[derive(Entity)]
#[entity(table = "Lines")]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    order: u32,
    number: u16,
}

const _: () = require_table_of_owner(Order::SCHEMA, Line::SCHEMA); //~ T252
const _: () = require_no_outbox(Order::SCHEMA, true); //~ T253
const _: () = require_recording_outbox(Order::SCHEMA, true); //~ T253
const _: () = require_droppable(Order::SCHEMA, true, false); //~ T256
const _: () = require_droppable(Order::SCHEMA, false, true); //~ T256
const _: () = require_log(Order::SCHEMA, false); //~ T257

fn main() {}
