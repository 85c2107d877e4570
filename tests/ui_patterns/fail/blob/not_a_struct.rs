use table_patterns::large::Large;

#[derive(Large)]
enum Employee {
    Ada,
}

fn main() {}
