mod alias_of_time {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    type Moment = DateTime<Utc>;

    #[derive(Entity)]
    #[partition_key("day_", day)] //~ T045
    #[row_key(id)]
    pub struct Event {
        day: Moment,
        id: u32,
    }
}

mod hour_alone {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(hour(at))] //~ T045
    #[row_key(id)]
    pub struct Event {
        at: DateTime<Utc>,
        id: u32,
    }
}

mod levels_of_time {
    use chrono::{DateTime, NaiveDate, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(day, at)] //~ T045
    #[row_key(id)]
    pub struct Event {
        day: NaiveDate,
        at: DateTime<Utc>,
        id: u32,
    }
}

mod newtype_of_time {
    use chrono::{DateTime, Utc};
    use table_core::{Entity, KeyPart};

    #[derive(KeyPart)]
    pub struct Moment(DateTime<Utc>);

    #[derive(Entity)]
    #[partition_key(desc(at))] //~ T045
    #[row_key(id)]
    pub struct Event {
        at: Moment,
        id: u32,
    }
}

fn main() {}
