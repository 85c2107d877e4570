//! Levels of a hierarchical partition key. Their codecs produce output that `!` can terminate.

use crate::key::codec::{
    Base64, Boolean, CodePoint, Date, Desc, Digits, Escaped, Guid, GuidAs, Hex, Hour, Inverted, IpAddress,
    KeyCodec, KeyNewtype, Nanoseconds, Newtype, Padded, Pattern, Percent, Text, Ticks, Ulid, Unix, Unpadded,
    Variant, Week, Without,
};

/// A codec whose values can be levels of a hierarchical partition key (HPK-2). [`Level`](Self::Level) is the codec that is used inside a level.
///
/// Every level, including the last, is terminated by `!`. Keys with the same first levels therefore form one range, and a query for the level `Micro` never
/// matches `Microsoft`.
///
/// [`Text`] may write `!`, so it is replaced by [`Escaped`]. A newtype delegates to its inner codec. All other codecs are used unchanged. The compiler checks
/// that the output of [`Level`](Self::Level) cannot contain `!`.
///
/// Implement this trait for a custom codec that is the default of a type ([`KeyPart`](crate::key::codec::KeyPart)):
///
/// ```
/// # use table_core::key::codec::{Alphabet, Form, KeyCodec};
/// # use table_core::{Error, ErrorCode, Result};
/// use table_core::key::codec::LevelCodec;
///
/// # enum Month {}
/// # impl KeyCodec<u8> for Month {
/// #     const NAME: &'static str = "month";
/// #     const FORM: Form = Form::fixed(1, true, Alphabet::of("abcdefghijkl"));
/// #     fn encode(value: &u8, out: &mut String) -> Result<()> {
/// #         out.push(char::from(b'a' + value % 12));
/// #         Ok(())
/// #     }
/// #     fn decode(text: &str) -> Result<u8> {
/// #         ('a'..='l').zip(0..).find(|(letter, _)| text == letter.to_string()).map(|(_, month)| month).ok_or_else(
/// #             || Error::new(ErrorCode::EntityMismatch, format!("'{text}' is not a month")),
/// #         )
/// #     }
/// # }
/// impl LevelCodec<u8> for Month {
///     type Level = Self; // one letter
/// }
/// assert!(!<<Month as LevelCodec<u8>>::Level as KeyCodec<u8>>::FORM.alphabet.contains('!'));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T043] the key codec `{Self}` cannot write a level of a partition key",
    label = "fields without a literal between them are levels, each terminated by `!`",
    note = "implement `LevelCodec<{T}>` for it: with `type Level = Self` if its texts never hold `!`",
    note = "or use another codec for this level: `digits(6, field)`, `escaped(field)`, `codec(path::To, field)`",
    note = "or put a literal between the fields, which makes them one key without levels"
)]
pub trait LevelCodec<T>: KeyCodec<T> {
    /// The codec used for a level.
    type Level: KeyCodec<T>;
}

#[diagnostic::do_not_recommend]
impl LevelCodec<String> for Text {
    type Level = Escaped;
}

impl<T: KeyNewtype, C: LevelCodec<T::Inner>> LevelCodec<T> for Newtype<C> {
    type Level = Newtype<C::Level>;
}

macro_rules! as_it_is {
    ($($codec:ty $(: [$($parameter:tt)+])?;)*) => {$(
        impl<T $(, $($parameter)+)?> LevelCodec<T> for $codec
        where
            $codec: KeyCodec<T>,
        {
            type Level = Self;
        }
    )*};
}

as_it_is! {
    Base64;
    CodePoint;
    Date;
    Desc<C>: [C];
    Digits<N, S>: [const N: usize, S];
    Escaped;
    Boolean;
    Guid;
    GuidAs<F>: [const F: char];
    Hex<N, U>: [const N: usize, const U: bool];
    Hour;
    Inverted<C, F>: [C, const F: u64];
    IpAddress;
    Nanoseconds;
    Padded;
    Pattern<P>: [const P: u128];
    Percent;
    Ticks;
    Ulid;
    Unix<M>: [const M: bool];
    Unpadded;
    Variant;
    Week;
    Without<C>: [const C: char];
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::key::codec::Form;
    use crate::key::codec::KeyPart;

    const fn level<T: KeyPart<Codec: LevelCodec<T>>>() -> Form {
        <<T::Codec as LevelCodec<T>>::Level as KeyCodec<T>>::FORM
    }

    #[test]
    fn no_library_type_writes_a_level_terminator() {
        use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
        use std::time::Duration;

        use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
        let forms = [
            level::<u8>(),
            level::<i128>(),
            level::<String>(),
            level::<bool>(),
            level::<char>(),
            level::<Uuid>(),
            level::<DateTime<Utc>>(),
            level::<NaiveDate>(),
            level::<NaiveTime>(),
            level::<Duration>(),
            level::<TimeDelta>(),
            level::<Ipv4Addr>(),
            level::<Ipv6Addr>(),
            level::<IpAddr>(),
            <<Week as LevelCodec<NaiveDate>>::Level as KeyCodec<NaiveDate>>::FORM,
        ];
        for form in forms {
            assert!(form.is_fixed() || form.alphabet.all_after('!'), "{form:?} keeps its order before `!`");
            assert!(!form.alphabet.contains('!'), "{form:?}");
        }
    }

    #[test]
    fn hpk_9_few_values_are_counted_through_codecs_around_them() {
        use crate::key::codec::tests::Mixed;
        const fn few<C: KeyCodec<T>, T>() -> Option<usize> {
            C::FACTS.cardinality
        }
        struct Active(bool);
        impl KeyNewtype for Active {
            type Inner = bool;
            fn inner(&self) -> &bool {
                &self.0
            }
            fn from_inner(inner: bool) -> Self {
                Self(inner)
            }
        }
        assert_eq!(
            [few::<Boolean, bool>(), few::<Desc<Boolean>, bool>(), few::<Newtype<Boolean>, Active>()],
            [Some(2); 3]
        );
        assert_eq!(few::<Variant, Mixed>(), Some(3));
        assert_eq!([few::<Padded, u8>(), few::<Escaped, String>(), few::<CodePoint, char>()], [None; 3]);
    }

    /// Returns a key of two levels, `value` and `second`.
    fn key<T: KeyPart<Codec: LevelCodec<T>>>(value: &T, second: &str) -> String {
        let mut key = String::new();
        <<T::Codec as LevelCodec<T>>::Level as KeyCodec<T>>::encode(value, &mut key).unwrap();
        format!("{key}!{second}!")
    }

    #[test]
    fn levels_sort_and_separate_durations_and_addresses() {
        use std::net::{Ipv4Addr, Ipv6Addr};
        use std::time::Duration;
        let durations = [0, 1, 9, 10, 999, 1_000_000].map(Duration::from_millis);
        let v4 =
            ["0.0.0.0", "9.9.9.9", "10.0.0.1", "255.255.255.255"].map(|ip| ip.parse::<Ipv4Addr>().unwrap());
        let v6 = ["::", "::9", "::10", "fe80::1", "ffff::"].map(|ip| ip.parse::<Ipv6Addr>().unwrap());
        let sorted = |keys: Vec<String>| {
            assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
        };
        sorted(durations.iter().flat_map(|value| ["a", "b"].map(|second| key(value, second))).collect());
        sorted(v4.iter().flat_map(|value| ["a", "b"].map(|second| key(value, second))).collect());
        sorted(v6.iter().flat_map(|value| ["a", "b"].map(|second| key(value, second))).collect());
    }

    #[test]
    fn a_newtype_is_the_level_of_its_inner_type() {
        struct Tenant(String);
        impl KeyNewtype for Tenant {
            type Inner = String;
            fn inner(&self) -> &String {
                &self.0
            }
            fn from_inner(inner: String) -> Self {
                Self(inner)
            }
        }
        impl KeyPart for Tenant {
            type Codec = Newtype<Text>;
        }
        let mut out = String::new();
        <<<Tenant as KeyPart>::Codec as LevelCodec<Tenant>>::Level as KeyCodec<Tenant>>::encode(
            &Tenant("a!b".to_owned()),
            &mut out,
        )
        .unwrap();
        assert_eq!(out, "a\"xb");
    }
}
