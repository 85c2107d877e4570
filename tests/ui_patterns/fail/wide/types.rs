mod not_wide {
    use table_patterns::wide::WideStore;
    use table_patterns::{Entity, embedded::Engine};

    #[derive(Entity)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        employee: u32,
        year: u16,
    }

    fn uses() {
        Engine::in_memory().wide::<YearOfCounts>(); //~ T150
    }
}

mod property_type {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        office: Vec<String>, //~ T050
    }
}

mod slots_of_no_property {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        days: Vec<Vec<String>>, //~ T050
    }
}

mod slots_of_one_value {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        days: Option<i32>, //~ T155
    }
}

fn main() {}
