use table_core::group::{Many, One};
use table_core::{Entity, EntityGroup};

#[derive(Entity)]
#[partition_key(country)]
#[row_key("state_", code)]
#[entity(table = "Places")]
struct State {
    country: String,
    #[without('_')]
    code: String,
}

/// `state_W` would begin the keys of the cities of `state_WA`.
#[derive(Entity)]
#[partition_key(country)]
#[row_key("state_", state, "_", name)]
#[entity(table = "Places")]
struct City {
    country: String,
    #[without('_')]
    state: String,
    name: String,
}

#[derive(EntityGroup)]
#[entity_group(under = State)]
struct StateWithCities {
    state: One<State>,
    cities: Many<City>,
}

fn main() {}
