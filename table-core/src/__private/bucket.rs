//! Support for keys that contain a bucket number. The arguments of `partition` or `rows` are combined into one key for each bucket.

use table_store::Result;

use crate::query::KeyRange;
use crate::selection::{FanOut, KeyArg, Selection};

use super::property::{Encode, of_field};
use super::text::KeyText;

/// Keys under construction, one for each bucket.
#[derive(Clone, Debug)]
pub struct KeyTexts(pub(super) Result<Vec<String>>);

impl KeyTexts {
    /// Creates a list with one empty key.
    #[must_use]
    pub fn new() -> Self {
        Self(Ok(vec![String::new()]))
    }

    /// Appends a literal to each key.
    #[must_use]
    pub fn literal(self, literal: &str) -> Self {
        self.append(|text| {
            text.push_str(literal);
            Ok(())
        })
    }

    /// Appends the value of a field to each key, using the codec's `encode`.
    #[must_use]
    pub fn part<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        value.with(|value| self.append(|text| of_field(field, encode(value, text))))
    }

    /// Replaces each key with one key per bucket. The codec's `encode_bucket` appends the bucket.
    #[must_use]
    pub fn buckets(self, count: u32, encode: fn(u32, &mut String) -> Result<()>) -> Self {
        Self(self.0.and_then(|texts| {
            let pairs = texts.iter().flat_map(|text| (0..count).map(move |bucket| (text, bucket)));
            let each = pairs.map(|(text, bucket)| {
                let mut text = text.clone();
                encode(bucket, &mut text).map(|()| text)
            });
            each.collect()
        }))
    }

    fn append(self, write: impl Fn(&mut String) -> Result<()>) -> Self {
        Self(self.0.and_then(|mut texts| {
            texts.iter_mut().try_for_each(write)?;
            Ok(texts)
        }))
    }
}

impl Default for KeyTexts {
    fn default() -> Self {
        Self::new()
    }
}

impl From<KeyText> for KeyTexts {
    fn from(text: KeyText) -> Self {
        Self(text.0.map(|text| vec![text]))
    }
}

/// Creates a selection of the partitions with these keys, one for each bucket.
pub fn partitions<E>(partition_keys: KeyTexts) -> Selection<E, FanOut> {
    Selection::new(partition_keys.0.map(|texts| texts.into_iter().map(KeyRange::partition).collect()))
}
