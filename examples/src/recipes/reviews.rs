//! Reads an employee and the employee's yearly reviews in one range. The two types share a compound key (PAT-CK-1).

use table_core::group::{Many, One};
use table_core::{Entity, EntityGroup, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company::{Employee, Review};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "reviews",
    question: "How was employee 123 rated over the years, and who is it, in one request?",
    schema: Review::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

/// An employee with all of the employee's reviews. The rows form one range.
#[derive(EntityGroup, Debug)]
#[entity_group(under = Employee)]
struct EmployeeWithReviews {
    employee: One<Employee>,
    reviews: Many<Review>,
}

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let employees = store.table::<Employee>();
    let jun = || Employee::key("Sales", 123);
    let plan = employees.plan_group::<EmployeeWithReviews>(jun())?;
    let EmployeeWithReviews { employee, reviews } = employees.read_group(jun()).await?;

    assert_eq!(employee.last_name, "Cao");
    let expected = inputs.reviews.iter().filter(|review| review.employee == 123);
    assert!(reviews.values().eq(expected), "in the order of the years");

    let mut answer = Grid::new(["Name", "#Year", "#Manager", "#Peers", "Comments"]);
    for review in reviews.values() {
        let [year, manager, peers] = [review.year.into(), review.manager_rating, review.peer_rating]
            .map(|number: i32| number.to_string());
        answer.row([&*employee.last_name, &year, &manager, &peers, &review.comments]);
    }
    Ok(Report::new(plan, answer)
        .note("The bounds of the range come from the types: both keys begin with the employee's."))
}
