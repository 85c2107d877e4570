//! Checks of partition keys that would send all writes of a period to one place.

use super::message::Message;

/// Refuses to compile a partition key made of time alone (PAT-ANTI-1): `follows_time` has an item for each of its fields.
///
/// # Panics
/// While the declaration is compiled, if it is.
pub const fn require_spread(follows_time: &[bool], entity: &str) {
    let mut at = 0;
    while at < follows_time.len() {
        if !follows_time[at] {
            return;
        }
        at += 1;
    }
    if follows_time.is_empty() {
        return;
    }
    let message = Message::new().with("[T045] the PartitionKey of `").with(entity).with(
        "` is made of time alone, so that all writes of a moment go to one partition (PAT-ANTI-1): begin it with what the \
         writes are of, such as a department or a device, and put the time into the `row_key`; or spread it: `bucket(field, \
         16)`; if it is meant, `#[entity(allow(hot_partition, reason = \"…\"))]`",
    );
    panic!("{}", message.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Date, Desc, Hour, KeyCodec, Padded, Ticks};
    use chrono::{DateTime, Utc};

    const fn follows<C: KeyCodec<T>, T>() -> bool {
        C::FOLLOWS_TIME
    }

    #[test]
    fn pat_anti_1_time_beside_something_else_passes() {
        require_spread(&[], "Event");
        require_spread(&[follows::<Hour, DateTime<Utc>>(), follows::<Padded, u32>()], "Event");
    }

    #[test]
    #[should_panic(expected = "[T045] the PartitionKey of `Event` is made of time alone")]
    fn pat_anti_1_time_alone_is_refused_in_each_codec() {
        let codecs = [
            follows::<Ticks, DateTime<Utc>>(),
            follows::<Hour, DateTime<Utc>>(),
            follows::<Date, chrono::NaiveDate>(),
            follows::<Desc<Ticks>, DateTime<Utc>>(),
        ];
        require_spread(&codecs, "Event");
    }
}
