mod chunks {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key("")]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        #[property(chunks)] //~ T177
        notes: String,
        #[slots("Day", 1..=366)]
        days: Vec<Option<i32>>,
    }
}

mod empty_range {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 366..=1)] //~ T154
        days: Vec<Option<i32>>,
    }
}

mod full_part {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        office: Option<String>,
        #[slots("Day", 1..=251)]
        days: Vec<Option<i32>>, //~ T152
        #[part(2)]
        notes: String,
    }
}

mod generic {
    use table_patterns::Property;
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOf<T: Property> { //~ T011
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        days: Vec<T>,
    }
}

mod illegal_word {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day-", 1..=366)] //~ T053
        days: Vec<Option<i32>>,
    }
}

mod index {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    #[index(ByYear, row_key(year, "_", employee))] //~ T159
    struct Year {
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        days: Vec<Option<i32>>,
    }
}

mod name_twice {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        day1: i32,
        #[slots("Day", 1..=9)] //~ T054
        days: [Option<i32>; 9],
    }
}

mod named_slots {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        #[property("Days")] //~ T157
        days: Vec<Option<i32>>,
    }
}

mod no_row_key {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    struct YearOfCounts { //~ T020
        #[digits(6)]
        employee: u32,
        #[slots("Day", 1..=366)]
        days: Vec<Option<i32>>,
    }
}

mod part_of_key {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        #[part(1)] //~ T157
        year: u16,
        #[slots("Day", 1..=366)]
        days: Vec<Option<i32>>,
    }
}

mod part_out_of_order {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        office: Option<String>,
        #[part(3)] //~ T153
        notes: String,
    }
}

mod part_without_number {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        office: Option<String>,
        #[part] //~ T153
        notes: String,
    }
}

mod slots_of_two_fields {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=183)]
        first: [Option<i32>; 183],
        #[slots("Day", 183..=366)] //~ T054
        second: [Option<i32>; 184],
    }
}

mod slots_without_range {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 366)] //~ T154
        days: Vec<Option<i32>>,
    }
}

mod too_many_parts {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=24849)]
        days: Vec<Option<i32>>,
        office: Option<String>, //~ T151
    }
}

mod too_many_slots {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=100000)] //~ T151
        days: Vec<Option<i32>>,
    }
}

mod write_id {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        write_id: String, //~ T158
    }
}

mod derived_rows {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[entity(feed)] //~ T159
    #[partition_key(employee)]
    #[row_key(year)]
    struct YearOfCounts {
        #[digits(6)]
        employee: u32,
        year: u16,
        #[slots("Day", 1..=366)]
        days: Vec<Option<i32>>,
    }
}

mod stored_key_field {
    use table_patterns::wide::Wide;

    #[derive(Wide)]
    #[partition_key("bucket_", bucket(day1, 16))]
    #[row_key(year)]
    struct YearOfCounts {
        day1: u32,
        year: u16,
        #[slots("Day", 1..=9)] //~ T054
        days: Vec<Option<i32>>,
    }
}

fn main() {}
