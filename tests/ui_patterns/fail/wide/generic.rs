use table_patterns::Property;
use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOf<T: Property> {
    employee: u32,
    year: u16,
    #[slots("Day", 1..=366)]
    days: Vec<T>,
}

fn main() {}
