//! Relationships. An employee has one badge and many reviews, which cannot exist without the employee (PAT-CK-3, IMP-6).

use table_core::group::{Many, One};
use table_core::{Entity, EntityGroup, ErrorCode, Result};
use table_patterns::EntityStore;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company::{Employee, Review};
use crate::model::company_badges::Badge;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "relationships",
    question: "An employee has one badge and many reviews: can one of them exist without the employee?",
    schema: Badge::SCHEMA,
    run: |store, _| Box::pin(run(store)),
};

/// An employee with a badge (one-to-one) and reviews (one-to-many). The keys of all these rows start with the key of the employee.
#[derive(EntityGroup, Debug)]
#[entity_group(under = Employee)]
struct Personnel {
    employee: One<Employee>,
    badge: Option<One<Badge>>,
    reviews: Many<Review>,
}

async fn run(store: &Store) -> Result<Report> {
    let personnel = store.entities::<Employee>();
    let grace = || Employee::key("Research", 900);
    match personnel.delete_with_parts(grace()).await {
        Err(error) if error.is_not_found() => {}
        left => drop(left?), // deletes the entities that a stopped run left behind
    }
    let department = || "Research".to_owned();
    let badge = Badge { department: department(), employee: 900, floors: "1 to 4".to_owned() };
    let review = |year, manager_rating| Review {
        department: department(),
        employee: 900,
        year,
        manager_rating,
        peer_rating: 5,
        comments: "Found the bug".to_owned(),
    };
    let mut answer = Grid::new(["Step", "Outcome", "Rows under empid_000900"]);

    // The transaction that inserts a part also checks the owner. If the owner does not exist, the transaction fails.
    let Err(orphan) = personnel.insert_part(grace(), &badge).await else { panic!("nobody has this badge") };
    assert_eq!((orphan.code(), orphan.operation()), (ErrorCode::ResourceNotFound, Some(0)));
    answer.row(["a badge for nobody", orphan.code().as_str(), ""]);

    let hopper = Employee {
        department: department(),
        id: 900,
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
        age: 37,
        email: "graceh@contoso.com".to_owned(),
    };
    personnel.insert(&hopper).await?;
    personnel.insert_part(grace(), &badge).await?;
    personnel.insert_part(grace(), &review(2013, 4)).await?;
    personnel.insert_part(grace(), &review(2014, 5)).await?;
    let Err(second) = personnel.insert_part(grace(), &badge).await else { panic!("one to one") };
    assert_eq!((second.code(), second.operation()), (ErrorCode::EntityAlreadyExists, Some(1)));
    answer.row(["a second badge", second.code().as_str(), ""]);

    // One range query reads the owner and all of its parts.
    let plan = personnel.table().plan_group::<Personnel>(grace())?;
    let Personnel { employee, badge: found, reviews } = personnel.table().read_group(grace()).await?;
    assert_eq!(employee.into_value(), hopper);
    assert_eq!(found.map(One::into_value), Some(badge));
    let reviews = reviews.into_values();
    assert_eq!(reviews, [review(2013, 4), review(2014, 5)]);
    answer.row(["read as a group", "1 request", "the employee, her badge, 2 reviews"]);

    // When the employee leaves, all rows are deleted or none, even if another writer adds a review at the same time.
    let deleted = personnel.delete_with_parts(grace()).await?;
    assert_eq!(deleted, 4);
    let Err(gone) = personnel.table().read_group::<Personnel>(grace()).await else { panic!("all are gone") };
    assert_eq!(gone.code(), ErrorCode::ResourceNotFound);
    answer.row(["deleted with all parts", "1 transaction", "none"]);
    Ok(Report::new(plan, answer).note(format!("A part without its owner: {orphan}")))
}
