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
    #[slots("Day", 183..=366)]
    second: [Option<i32>; 184],
}

fn main() {}
