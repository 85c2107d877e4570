mod compare_wrong_type {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.query(Event::partition("ada")).filter(Event::KIND.eq(7)); //~ T087
    }
}

mod partition_by_get {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.get(Event::partition("ada")); //~ T084
    }
}

mod partitions_of_open_part {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(service, "_", hex(8, upper, hash))]
    #[row_key(name)]
    struct Reminder {
        service: String,
        hash: u32,
        name: String,
    }

    fn uses() {
        Reminder::partitions_by_hash("shop", 0..7); //~ T094
    }
}

mod partitions_without_order {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key("user_", folded(lower, user))]
    #[row_key(user)]
    struct Cart {
        user: String,
    }

    fn uses() {
        Cart::partitions_by_user("a".."n"); //~ T082
    }
}

mod point_by_query {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.query(Event::key("ada", 1)); //~ T086
    }
}

mod prefix_of_number {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }

    fn uses() {
        let _ = Employee::rows("Sales").id_prefix("1"); //~ T083
    }
}

mod prefix_of_number_column {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        age: i32,
    }

    fn uses() {
        let _ = Event::AGE.starts_with("1"); //~ T088
    }
}

mod prefix_of_open_part {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(name, "-head")]
    struct Branch {
        department: String,
        name: String,
    }

    fn uses() {
        Branch::rows("Sales").name_prefix("A"); //~ T094
    }
}

mod range_by_delete {
    use table_core::{Engine, Entity, IfMatch, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.delete(Event::rows("ada").id(1..=9), IfMatch::Any); //~ T084
    }
}

mod range_of_unordered_pattern {
    use chrono::NaiveDate;
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(pattern("MMddyyyy", day))]
    struct Event {
        department: String,
        day: NaiveDate,
    }

    fn uses() {
        let day = NaiveDate::MIN;
        Event::rows("Sales").day(day..); //~ T082
    }
}

mod range_without_order {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(without('_', name), "_", id)]
    struct Employee {
        department: String,
        name: String,
        id: u32,
    }

    fn uses() {
        let _ = Employee::rows("Sales").name("A".."B"); //~ T082
    }
}

mod rows_of_open_part {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(name, "_", year)]
    struct Review {
        department: String,
        name: String,
        #[digits(4)]
        year: u16,
    }

    fn uses() {
        Review::rows("Sales").name_is("Ada"); //~ T094
    }
}

mod scan_by_query {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.query(Event::scan("all users")); //~ T086
    }
}

mod scan_without_bound {
    use table_core::embedded::Engine;
    use table_core::{Entity, TableStoreExt};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
    }

    fn uses() {
        let events = Engine::in_memory().table::<Event>();
        let _ = events.scan("monthly audit").collect(); //~ T093
    }
}

mod transaction_of_range {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.transaction(Event::rows("ada").id(1..=9)); //~ T085
    }
}

mod truth_of_number {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
        age: i32,
    }

    fn uses() {
        let _ = Event::AGE.is_true(); //~ T089
    }
}

mod wrong_range {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }

    fn uses() {
        let _ = Employee::rows("Sales").id(7); //~ T081
    }
}

mod wrong_type {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }

    fn uses() {
        let _ = Employee::key("Sales", "223"); //~ T080
    }
}

fn main() {}
