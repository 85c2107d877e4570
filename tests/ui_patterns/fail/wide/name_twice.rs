use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    year: u16,
    day1: i32,
    #[slots("Day", 1..=9)]
    days: [Option<i32>; 9],
}

fn main() {}
