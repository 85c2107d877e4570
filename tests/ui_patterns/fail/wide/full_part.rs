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
    days: Vec<Option<i32>>,
    #[part(2)]
    notes: String,
}

fn main() {}
