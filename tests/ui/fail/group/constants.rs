mod not_under {
    use table_core::group::{Many, One};
    use table_core::{Entity, EntityGroup};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", employee, "_", year)]
    struct Review {
        department: String,
        #[digits(6)]
        employee: u32,
        #[digits(4)]
        year: u16,
    }

    #[derive(EntityGroup)]
    #[entity_group(under = Review)] //~ T109
    struct EmployeeWithReviews {
        employee: One<Employee>,
        reviews: Many<Review>,
    }
}

mod other_partition {
    use table_core::group::Many;
    use table_core::{Entity, EntityGroup};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key("reviews_", department)]
    #[row_key("review_", year)]
    struct Review {
        department: String,
        year: u16,
    }

    #[derive(EntityGroup)]
    struct EmployeesWithReviews { //~ T108
        employees: Many<Employee>,
        reviews: Many<Review>,
    }
}

mod varying_width {
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

    /// The keys of the cities in `state_WA` would also start with `state_W`.
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
    #[entity_group(under = State)] //~ T109
    struct StateWithCities {
        state: One<State>,
        cities: Many<City>,
    }
}

fn main() {}
