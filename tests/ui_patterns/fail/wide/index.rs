use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
#[index(ByYear, row_key(year, "_", employee))]
struct Year {
    employee: u32,
    year: u16,
    #[slots("Day", 1..=366)]
    days: Vec<Option<i32>>,
}

fn main() {}
