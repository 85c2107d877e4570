//! The access patterns for airports: all queries, each with a maximum cost class.

use table_core::access_patterns;
use table_core::selection::Copies;

use crate::model::indexed::{Airport, AirportByCity, AirportByCode};

access_patterns! {
    /// The queries of a timetable application.
    pub AirportQuestions for Airport {
        /// One airport in a state.
        airport(state: &str, iata: &str) <= point = Airport::key("USA", state, iata);
        /// The airport with a given code, in any state.
        by_code(iata: &str) <= point from Copies<AirportByCode> = Airport::by_code(iata);
        /// The airports that serve a city.
        of_city(state: &str, city: &str) <= range from Copies<AirportByCity> = Airport::by_city("USA", state, city);
        /// The cities in a state whose names start with a prefix.
        cities(state: &str, prefix: &str) <= range from Copies<AirportByCity> =
            Airport::by_city_rows("USA", state).city_prefix(prefix);
        /// All airports in a state.
        of_state(state: &str) <= partition = Airport::partition("USA", state);
        /// All airports, for the yearly map.
        map() <= scan = Airport::scan("the yearly map");
    }
}
