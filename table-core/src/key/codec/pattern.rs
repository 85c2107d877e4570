//! `Pattern`: dates and times, formatted with a .NET pattern such as `yyyy-MM-dd`.

mod moment;
mod token;

pub use moment::Moment;
pub use token::pattern;

use std::fmt::Write;

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Counted, Facts, Form, KeyCodec, Reversible};

use moment::Units;
use token::{Token, name, tokens};

/// A codec that formats a `DateTime<Utc>`, `NaiveDate` or `NaiveTime` with a pattern, which [`pattern`] packs into a number.
///
/// A pattern consists of `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss`, one `f` for each fractional digit, literal digits, and the separators `-`, `_`, `:`, `.`, `,`,
/// space, `T` and `Z`.
///
/// - Fixed width. Ordered if larger units precede smaller units. Other patterns, such as `ddMMyyyy`, are supported but do not allow range queries.
/// - A pattern must contain every unit from the year (for a `NaiveTime`, from the hour) down to its smallest unit. Otherwise, the value could not be read back,
///   and the pattern does not compile. Inside [`Truncated`](crate::key::codec::Truncated), a pattern may start with a smaller unit. It is then not ordered.
/// - Rejected (`KeyEncoding`): years outside 0 to 9999, and values more precise than the pattern. Otherwise, several values would have the same key.
///   [`Truncated`](crate::key::codec::Truncated) truncates an overly precise value, and the field is then also stored as a property.
/// - If a timestamp is also stored as a property, its pattern has at most seven fractional digits. The property stores no more digits (TICK-6).
/// - In reverse order, each digit `d` is written as 9 − `d`.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{KeyCodec, Pattern, pattern};
///
/// type Minute = Pattern<{ pattern("yyyyMMddTHHmm") }>;
/// let at: DateTime<Utc> = "2014-04-23T09:05:00Z".parse()?;
/// let mut key = String::new();
/// Minute::encode(&at, &mut key)?;
/// assert_eq!(key, "20140423T0905");
/// assert_eq!(<Minute as KeyCodec<DateTime<Utc>>>::decode(&key)?, at);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Pattern<const TOKENS: u128> {}

impl<const TOKENS: u128> Pattern<TOKENS> {
    const NAMED: &'static super::name::Name<64> = &name(TOKENS);

    const FORM: Form = {
        let (mut width, mut alphabet, mut ordered, mut last, mut rest) =
            (0, Alphabet::DIGITS, true, 0, TOKENS);
        while let Some((token, after)) = Token::split(rest) {
            width += token.width();
            match token {
                Token::Literal(literal) => alphabet = alphabet.with(literal),
                Token::Unit(unit) | Token::Fraction(unit) => {
                    ordered = ordered && last <= unit;
                    last = unit;
                }
            }
            rest = after;
        }
        Form::fixed(width, ordered, alphabet)
    };

    /// The largest unit, the smallest unit, and the number of fractional digits.
    const UNITS: (u8, u8, u32) = token::units(TOKENS);

    fn push<T: Moment>(value: &T, reversed: bool, out: &mut String) -> Result<()> {
        let units = value.units().ok_or_else(|| {
            refused(format!(
                "{value:?} is outside the years 0 to 9999, or a leap second, which patterns cannot write"
            ))
        })?;
        let cut = units.cut(Self::UNITS.1, Self::UNITS.2);
        if cut != units {
            return Err(refused(format!(
                "{value:?} is finer than `{}`, so it cannot be read back; declare \
                 `truncate(…)`, which stores the field as a property",
                Self::NAMED.as_str()
            )));
        }
        Self::write(&units, reversed, out);
        Ok(())
    }

    fn write(units: &Units, reversed: bool, out: &mut String) {
        let mut fraction = 0;
        for token in tokens(TOKENS) {
            match token {
                Token::Literal(literal) => out.push(literal),
                Token::Unit(unit) => push_digits(units.get(unit), token.width(), reversed, out),
                Token::Fraction(_) => {
                    fraction += 1;
                    push_digits(units.nanos / 10u32.pow(9 - fraction) % 10, 1, reversed, out);
                }
            }
        }
    }

    fn read<T: Moment>(text: &str, reversed: bool) -> Option<T> {
        let mut units = Units::FIRST;
        let (mut rest, mut place) = (text, 1_000_000_000);
        for token in tokens(TOKENS) {
            let (part, after) = rest.split_at_checked(token.width())?;
            rest = after;
            match token {
                Token::Literal(literal) => {
                    part.strip_prefix(literal)?;
                }
                Token::Unit(unit) => units.set(unit, digits(part, reversed)?),
                Token::Fraction(_) => {
                    place /= 10;
                    units.nanos += digits(part, reversed)? * place;
                }
            }
        }
        T::of_units(&units).filter(|_| rest.is_empty())
    }
}

fn push_digits(number: u32, width: usize, reversed: bool, out: &mut String) {
    let number =
        if reversed { 10u32.pow(u32::try_from(width).unwrap_or_default()) - 1 - number } else { number };
    let _ = write!(out, "{number:0width$}");
}

fn digits(text: &str, reversed: bool) -> Option<u32> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = Some(text).filter(|_| all)?.parse().ok()?;
    let greatest = || 10u32.pow(u32::try_from(text.len()).unwrap_or_default()) - 1;
    Some(if reversed { greatest() - number } else { number })
}

const FAULT: &str = "[T008] this pattern cannot write this type; a date has every unit from `yyyy` down to its smallest and none after `dd`, \
                     an instant may continue with `HH`, `mm`, `ss` and `f`, and a time starts with `HH`; within `truncate`, which stores the \
                     field as a property, it may start with a smaller unit";

impl<T: Moment, const TOKENS: u128> KeyCodec<T> for Pattern<TOKENS> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = Self::FORM;
    const FACTS: Facts = Facts {
        follows_time: T::FIRST == 0,
        fault: if Self::UNITS.0 == T::FIRST { <Self as super::Truncates<T>>::CUT_FAULT } else { Some(FAULT) },
        finer_than_property: Self::UNITS.2 > T::STORED,
        ..Facts::NONE
    };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        Self::push(value, false, out)
    }

    /// Appends the encoding of the value, truncated to the precision of a property. A hashed field is always stored as a property. The hash must not depend on
    /// digits that the property does not store.
    fn encode_hashed(value: &T, out: &mut String) -> Result<()> {
        let stored = value.units().and_then(|units| T::of_units(&units.cut(T::LAST, T::STORED)));
        Self::push(stored.as_ref().unwrap_or(value), false, out)
    }

    fn decode(text: &str) -> Result<T> {
        Self::read(text, false).ok_or_else(|| mismatch(text, Self::NAMED.as_str()))
    }
}

impl<T: Moment, const TOKENS: u128> Reversible<T> for Pattern<TOKENS> {
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        Self::push(value, true, out)
    }

    fn decode_reversed(text: &str) -> Result<T> {
        let value = Self::read(text, true);
        value.ok_or_else(|| mismatch(text, format_args!("desc({})", Self::NAMED.as_str())))
    }
}

/// Converts a value to the number that its encoding represents. This is possible for patterns that consist only of units, from large to small, such as
/// `yyyyMMdd`.
impl<T: Moment, const TOKENS: u128> Counted<T> for Pattern<TOKENS> {
    const COUNT_FAULT: Option<&'static str> = if Self::FORM.ordered
        && !token::has_literals(TOKENS)
        && Self::FORM.max <= 19
    {
        None
    } else {
        Some(
            "[T031] `inverted` counts down patterns without separators, of at most 19 digits, whose greater units precede smaller ones, such as \
             `yyyyMMdd`; use `desc`, which reverses any pattern",
        )
    };

    fn count(value: &T) -> Result<u64> {
        let mut text = String::with_capacity(Self::FORM.max);
        Self::push(value, false, &mut text)?;
        text.parse().map_err(|_| refused(format!("{value:?} as `{}` is not a number", Self::NAMED.as_str())))
    }

    fn of_count(count: u64) -> Option<T> {
        Self::read(&format!("{count:0width$}", width = Self::FORM.max), false)
    }
}

impl<T: Moment, const TOKENS: u128> super::Truncates<T> for Pattern<TOKENS> {
    /// The form of the pattern. If the pattern lacks the largest unit of `T`, such as the year, the encodings do not sort like the values. The form is then
    /// unordered.
    const CUT_FORM: Form = Form { ordered: Self::FORM.ordered && Self::UNITS.0 == T::FIRST, ..Self::FORM };
    const CUT_FAULT: Option<&'static str> =
        if token::reads_back(TOKENS) && Self::UNITS.0 >= T::FIRST && Self::UNITS.1 <= T::LAST {
            None
        } else {
            Some(FAULT)
        };

    fn truncate(value: &T) -> Option<T> {
        // The field is stored as a property, so digits that the property does not store are dropped.
        T::of_units(&value.units()?.cut(Self::UNITS.1, Self::UNITS.2.min(T::STORED)))
    }
}
