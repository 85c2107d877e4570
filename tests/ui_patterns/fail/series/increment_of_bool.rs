use table_patterns::embedded::Engine;
use table_patterns::series::{self, Series, SeriesTable};
use table_patterns::Entity;

#[derive(Entity)]
#[partition_key(employee)]
#[row_key(day)]
struct Presence {
    employee: u32,
    day: u32,
}

impl Series for Presence {
    type Value = bool;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

fn count(presence: SeriesTable<Presence, Engine>, day: Presence) {
    let _ = presence.increment(&day, 9, true);
}

fn main() {}
