//! Fields, types and type parameters with the names of parameters in generated code, and fields of type `Self`.
#![deny(warnings)]

use serde::{Deserialize, Serialize};
use table_core::Entity;

/// Selections of partitions take the earlier fields, and a range, a prefix or a share.
#[derive(Entity)]
#[partition_key(without('_', range), "_", without('_', prefix), "_", city)]
#[row_key(rows, "_", names)]
#[index(
    ByCity,
    unique,
    partition_key("by_", without('_', prefix), "_", without('_', range), "_", city),
    row_key(names)
)]
struct Sample {
    range: String,
    prefix: String,
    city: String,
    #[without('_')]
    rows: String,
    names: u32,
    entity: String,
    row: i32,
    hint: i32,
}

#[derive(Entity)]
#[partition_key(digits(2, of), "_", digits(2, share), "_", hash(crc32, 6, user))]
#[row_key(user)]
struct Counted {
    of: u32,
    share: u32,
    user: String,
}

/// A projection of an entity named `Index`, and a projection named `Index`.
mod stock {
    use table_core::{Entity, Projection};

    #[derive(Entity)]
    #[partition_key(exchange)]
    #[row_key("symbol_", symbol)]
    #[index(ByCurrency, unique, row_key("currency_", currency), include(points))]
    pub struct Index {
        exchange: String,
        symbol: String,
        currency: String,
        points: i32,
    }

    #[derive(Projection)]
    #[projection(of = Index)]
    pub struct Points {
        pub points: i32,
    }

    pub mod quoted {
        use table_core::{Entity, Projection};

        #[derive(Entity)]
        #[partition_key(exchange)]
        #[row_key(symbol)]
        pub struct Quote {
            exchange: String,
            symbol: String,
            points: i32,
        }

        #[derive(Projection)]
        #[projection(of = Quote)]
        pub struct Index {
            pub points: i32,
        }
    }
}

/// An entity whose const parameter has the name of a generated one.
#[derive(Entity)]
#[partition_key(city)]
#[row_key(id, "_", day)]
struct Pinned<const PINNED: usize> {
    city: String,
    id: u32,
    day: u32,
}

#[derive(Entity, Serialize, Deserialize, PartialEq, Debug)]
#[partition_key(owner)]
#[row_key(name)]
struct Folder {
    owner: String,
    name: String,
    #[property(json)]
    children: Vec<Self>,
    #[property(json)]
    parent: Option<Box<Self>>,
    #[property(json)]
    sizes: [u32; Self::LENGTH + 1],
}

impl Folder {
    const LENGTH: usize = 2;
}

/// Uses the declarations.
pub fn main() {
    let _ = Sample::partitions_by_city("a", "b", ..="c");
    let _ = Sample::partitions_by_city_prefix("a", "b", "c");
    let _ = Sample::by_city_partitions_by_city_prefix("b", "a", "c");
    let _ = Sample::rows("a", "b", "c").rows_is("d").names(1..);
    let _ = Counted::partitions_by_share(1, 2..=3);
    let _ = Counted::partitions_by_user_share(1, 2, 0, 16);
    let _ = Pinned::<2>::rows("a").id_is(1).day(2..);
    let _ = (stock::Points { points: 1 }.points, stock::quoted::Index { points: 1 }.points);
    let folder =
        |children| Folder { owner: "a".into(), name: "b".into(), children, parent: None, sizes: [0; 3] };
    assert!(folder(vec![folder(Vec::new())]).to_row().is_ok());
}
