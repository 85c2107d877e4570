//! Airports as declared by two versions of a program. Only the second version can look up airports by city.

/// The first version, without an index.
pub mod first {
    use table_core::Entity;

    /// An airport, in the partition of its state. Example key: (`NV`, `iata_LAS`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "GrowingAirports")]
    #[partition_key(state)]
    #[row_key("iata_", iata)]
    pub struct Airport {
        /// The two-letter code of the state.
        pub state: String,
        /// The airport code: three or four letters and digits.
        pub iata: String,
        /// The airport's name.
        pub name: String,
        /// The city served by the airport, or several cities separated by slashes.
        pub city: String,
    }
}

/// The second version, which adds an index by city in the same partition. Example key of an index row: (`NV`, `city_Reno!RNO`).
pub mod second {
    use table_core::Entity;

    use crate::data::airports as source;

    /// An airport, in the partition of its state. Example key: (`NV`, `iata_LAS`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "GrowingAirports")]
    #[partition_key(state)]
    #[row_key("iata_", iata)]
    #[index(ByCity, row_key("city_", escaped(city), "!", iata))]
    pub struct Airport {
        /// The two-letter code of the state.
        pub state: String,
        /// The airport code: three or four letters and digits.
        pub iata: String,
        /// The airport's name.
        pub name: String,
        /// The city served by the airport, or several cities separated by slashes.
        pub city: String,
    }

    impl From<&source::Airport> for Airport {
        fn from(airport: &source::Airport) -> Self {
            let source::Airport { iata, name, city, state, .. } = airport.clone();
            Self { state, iata, name, city }
        }
    }
}
