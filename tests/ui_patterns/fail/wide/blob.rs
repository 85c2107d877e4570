use table_patterns::large::BlobRef;
use table_patterns::wide::Wide;

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    employee: u32,
    year: u16,
    #[blob]
    photo: Option<BlobRef>,
}

fn main() {}
