use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    year: u16,
    office: Option<String>,
    #[part(3)]
    notes: String,
}

fn main() {}
