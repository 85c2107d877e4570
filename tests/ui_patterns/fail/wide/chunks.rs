use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key("")]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    #[property(chunks)]
    notes: String,
    #[slots("Day", 1..=366)]
    days: Vec<Option<i32>>,
}

fn main() {}
