use table_patterns::Entity;
use table_patterns::embedded::Engine;
use table_patterns::large::{BlobRef, Large, LargeTable};

#[derive(Entity, Large)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

#[derive(Entity, Large)]
#[partition_key(city)]
#[row_key(name)]
struct Airport {
    city: String,
    name: String,
    #[blob]
    map: Option<BlobRef>,
}

async fn open(employees: LargeTable<Employee, Engine>, ada: Employee) {
    let _ = employees.open(&ada, Airport::MAP_BLOB).await;
}

fn main() {}
