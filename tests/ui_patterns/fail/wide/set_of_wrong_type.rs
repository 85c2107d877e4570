use table_patterns::embedded::Engine;
use table_patterns::wide::{Wide, WideTable};

#[derive(Wide)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    employee: u32,
    year: u16,
    #[slots("Day", 1..=366)]
    days: Vec<i32>,
}

fn set(counts: WideTable<YearOfCounts, Engine>) {
    let _ = counts.patch(YearOfCounts::key(123, 2014)).set(YearOfCounts::DAYS.at(200), "eight");
}

fn main() {}
