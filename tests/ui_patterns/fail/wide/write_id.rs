use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    year: u16,
    write_id: String,
}

fn main() {}
