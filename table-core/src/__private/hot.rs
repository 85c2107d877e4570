//! A compile-time check of partition keys. It rejects keys that would send all concurrent writes to one partition.

use super::message::Message;

/// Fails if a partition key consists only of times (PAT-ANTI-1). `follows_time` has one item per key field, which is `true` if the field is a time.
///
/// # Panics
/// Panics at compile time if the key consists only of times.
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
        "` consists of time alone, so one partition receives all current writes (PAT-ANTI-1); start it with another \
         field, such as the department or device, and move the time to the `row_key`; or use `bucket(field, \
         16)`; if it is intended, `#[entity(allow(hot_partition, reason = \"…\"))]`",
    );
    panic!("{}", message.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Date, Desc, Hour, KeyCodec, Padded, Ticks};
    use chrono::{DateTime, Utc};

    const fn follows<C: KeyCodec<T>, T>() -> bool {
        C::FACTS.follows_time
    }

    #[test]
    fn pat_anti_1_time_next_to_another_part_is_accepted() {
        require_spread(&[], "Event");
        require_spread(&[follows::<Hour, DateTime<Utc>>(), follows::<Padded, u32>()], "Event");
    }

    #[test]
    #[should_panic(expected = "[T045] the PartitionKey of `Event` consists of time alone")]
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
