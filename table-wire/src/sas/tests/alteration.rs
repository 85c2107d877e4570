//! Alterations that a bearer could make to the text of a token.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

pub(super) const ACCOUNT: &str = "contoso";
/// Values that could be mistaken for another field, or for a missing field.
const TEXTS: [&str; 10] = [
    "",
    "2015-02-21",
    "2019-02-02",
    "r",
    "https",
    "a b+c%",
    "10.0.0.1",
    "readers",
    "/table/contoso/employee",
    "\u{E9}",
];
const NAMES: [&str; 16] =
    ["sv", "tn", "ss", "srt", "sp", "st", "se", "si", "sip", "spr", "spk", "srk", "epk", "erk", "ses", "sig"];

pub(super) fn texts() -> impl Strategy<Value = String> {
    select(TEXTS.to_vec()).prop_map(str::to_owned)
}

/// An alteration of a query string.
#[derive(Clone, Debug)]
pub(super) enum Alteration {
    /// Removes each parameter whose bit is set.
    Remove(u16),
    Empty(Index),
    Double(Index),
    Swap(Index, Index),
    SwapValues(Index, Index),
    Add(&'static str, String),
    Set(Index, String),
    Rename(Index, &'static str),
    /// Changes the case of a name or a value.
    Case(Index, bool),
    /// Percent-encodes every byte of a value, and optionally its name.
    Encode(Index, bool),
    /// Replaces spaces in a value by `+`.
    Plus(Index),
    /// Adds a string at the start or end of a value.
    Append(Index, &'static str, bool),
    /// Redistributes the signed lines among the fields of a token. Some line breaks are kept within values.
    Cut(bool, Vec<Index>),
}

pub(super) fn alteration() -> impl Strategy<Value = Alteration> {
    use Alteration as A;
    let at = any::<Index>;
    let name = || select(NAMES.to_vec());
    let tail = select(vec!["%0A", "%0D%0A", "%00", " ", "%20", "=", "&", "%26sp=raud", "\n"]);
    prop_oneof![
        4 => any::<u16>().prop_map(A::Remove),
        2 => at().prop_map(A::Empty),
        1 => at().prop_map(A::Double),
        1 => (at(), at()).prop_map(|(one, other)| A::Swap(one, other)),
        1 => (at(), at()).prop_map(|(one, other)| A::SwapValues(one, other)),
        2 => (name(), texts()).prop_map(|(name, value)| A::Add(name, value)),
        1 => (at(), texts()).prop_map(|(index, value)| A::Set(index, value)),
        1 => (at(), name()).prop_map(|(index, name)| A::Rename(index, name)),
        1 => (at(), any::<bool>()).prop_map(|(index, name)| A::Case(index, name)),
        1 => (at(), any::<bool>()).prop_map(|(index, name)| A::Encode(index, name)),
        1 => at().prop_map(A::Plus),
        2 => (at(), tail, any::<bool>()).prop_map(|(index, tail, first)| A::Append(index, tail, first)),
        3 => (any::<bool>(), vec(at(), 0..4)).prop_map(|(table, kept)| A::Cut(table, kept)),
    ]
}

pub(super) type Pairs = Vec<(String, String)>;

pub(super) fn pairs(text: &str) -> Pairs {
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn other_case(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower == text { text.to_uppercase() } else { lower }
}

fn hex(text: &str) -> String {
    let byte = |byte: u8| format!("%{byte:02x}");
    text.bytes().map(byte).collect::<Vec<_>>().concat()
}

/// Splits the string to sign into token fields, keeping the line breaks selected by `kept` within values.
fn cut(token: &SasToken, table: bool, kept: &[Index]) -> Pairs {
    let text = match token.table() {
        Some(_) => token.0.string_to_sign_of_table(ACCOUNT),
        None => token.0.string_to_sign_of_account(ACCOUNT),
    };
    let mut values: Vec<String> = text.unwrap().split('\n').map(str::to_owned).collect();
    for index in kept {
        let at = index.index(values.len().saturating_sub(1).max(1));
        if at + 1 < values.len() {
            let next = values.remove(at + 1);
            values[at] = format!("{}\n{next}", values[at]);
        }
    }
    let names: &[&str] = match (table, values.len()) {
        (true, 10) => &["sp", "st", "se", "tn", "si", "sv", "spk", "srk", "epk", "erk"],
        (true, _) => &["sp", "st", "se", "tn", "si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"],
        (false, _) => &["", "sp", "ss", "srt", "st", "se", "sip", "spr", "sv", "ses"],
    };
    let value = |name: &str, value: &str| {
        let table = value.strip_prefix("/table/contoso/").or(value.strip_prefix("/contoso/"));
        encode(table.filter(|_| name == "tn").unwrap_or(value))
    };
    let fields = names.iter().zip(&values).filter(|(name, _)| !name.is_empty());
    let mut pairs: Pairs = fields.map(|(name, text)| ((*name).to_owned(), value(name, text))).collect();
    pairs.push(("sig".to_owned(), encode(token.0.get("sig"))));
    pairs
}

pub(super) fn apply(pairs: &mut Pairs, alteration: &Alteration, token: &SasToken) {
    if pairs.is_empty() {
        return;
    }
    let of = |index: &Index| index.index(pairs.len());
    match alteration {
        Alteration::Remove(bits) => {
            let mut at = 0;
            pairs.retain(|_| {
                at += 1;
                bits >> (at - 1) & 1 == 0
            });
        }
        Alteration::Empty(index) => {
            let at = of(index);
            pairs[at].1.clear();
        }
        Alteration::Double(index) => pairs.push(pairs[of(index)].clone()),
        Alteration::Swap(one, other) => {
            let (one, other) = (of(one), of(other));
            pairs.swap(one, other);
        }
        Alteration::SwapValues(one, other) => {
            let (one, other) = (of(one), of(other));
            let (first, second) = (pairs[one].1.clone(), pairs[other].1.clone());
            (pairs[one].1, pairs[other].1) = (second, first);
        }
        Alteration::Add(name, value) => pairs.push(((*name).to_owned(), encode(value))),
        Alteration::Set(index, value) => {
            let at = of(index);
            pairs[at].1 = encode(value);
        }
        Alteration::Rename(index, name) => {
            let at = of(index);
            pairs[at].0 = (*name).to_owned();
        }
        Alteration::Case(index, name) => {
            let (at, part) = (of(index), *name);
            let text = if part { &mut pairs[at].0 } else { &mut pairs[at].1 };
            *text = other_case(text);
        }
        Alteration::Encode(index, name) => {
            let (at, part) = (of(index), *name);
            if part {
                pairs[at].0 = hex(&pairs[at].0);
            } else {
                let decoded = crate::percent::decode(&pairs[at].1);
                let hexed = hex(&decoded.unwrap_or_default());
                pairs[at].1 = hexed;
            }
        }
        Alteration::Plus(index) => {
            let at = of(index);
            pairs[at].1 = pairs[at].1.replace("%20", "+").replace("%2B", "+");
        }
        Alteration::Append(index, tail, first) => {
            let at = of(index);
            let value = &pairs[at].1;
            pairs[at].1 = if *first { format!("{tail}{value}") } else { format!("{value}{tail}") };
        }
        Alteration::Cut(table, kept) => *pairs = cut(token, *table, kept),
    }
}
