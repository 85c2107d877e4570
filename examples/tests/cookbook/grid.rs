//! Tests of tables printed as text.

use examples::grid::*;

#[test]
fn rows_beyond_the_twelfth_are_counted_not_shown() {
    let mut grid = Grid::new(["#N"]);
    for n in 100..115 {
        grid.row([n.to_string()]);
    }
    let text = grid.to_string();
    assert!(text.contains("111") && !text.contains("112") && text.ends_with("and 3 more"), "{text}");
}

#[test]
fn numbers_are_right_aligned() {
    let mut grid = Grid::new(["#Flights", "To"]);
    grid.row(["7", "SEA"]);
    assert!(grid.to_string().contains("       7 "), "{grid}");
}
