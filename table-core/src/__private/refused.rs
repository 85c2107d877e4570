//! Declares methods and bounds with messages that name the fields of a struct, for generated code.

/// Declares methods of row selections that cannot be called. The bound of an entry is satisfied by no type, and its message shows the right method. The lifetime
/// is needed because rustc refuses an unsatisfiable bound without parameters at its definition.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_parts {
    ($($bound:ident [$($rows:ty),+] $names:tt: $label:literal $(, $message:literal, $note:literal)?;)*) => {$(
        $crate::__refused_parts! { @@ $bound: $label $(, $message, $note)? }
        $($crate::__refused_parts! { @ $bound, $rows, $names })+
    )*};
    (@@ $bound:ident: $label:literal) => {
        $crate::__refused_parts! { @@ $bound: $label, "[T268] `{Self}` has no method of this name: each part of the key has its own methods",
            "a selection compares the parts of the key in their order; `filter` of the query compares properties" }
    };
    (@@ $bound:ident: $label:literal, $message:literal, $note:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $bound<'a> {}
    };
    (@ $bound:ident, $rows:ty, [$($name:ident)*]) => {
        impl $rows
        where
            for<'a> Self: $bound<'a>,
        {
            $(
                #[doc(hidden)]
                pub fn $name(self) {}
            )*
        }
    };
}

/// Declares a bound of ranges that no range satisfies. Its message shows the key that has ranges.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_ranges {
    ($bound:ident: $message:literal, $label:literal, $note:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $bound {}
    };
}

/// Implements the traits that show the forms of an entity in messages, under bounds that no entity satisfies. The literals are the forms, with the names of the
/// entity's fields. `Never` has no value, so rustc reports nothing about an argument that depends on it.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_forms {
    ($of:ty: $compare:literal, $set:literal, $columns:literal, $by_key:literal, $point:literal, $of_entity:literal, $find:literal, $change:literal,
        $remove:literal, $read_all:literal, $select:literal, $sort:literal) => {
        $crate::__refused_forms! { @ $of, ShowsConditions, __Columns:
            "[T096] `{A}` is not a condition on `{Self}`: a filter runs in the store, and compares its columns", $compare, $columns,
            "a text in OData is parsed: `table_patterns::Filter::parse(text)?`, and `Condition::from_filter` takes the filter" }
        $crate::__refused_forms! { @ $of, ShowsColumns, __Settable:
            "[T130] `{A}` is not a property of `{Self}` that a patch can set", $set, $columns,
            "the key of an entity cannot change (UPD-6): insert it under the new key, and delete the old one" }
        $crate::__refused_forms! { @ $of, ShowsKey, __ByKey:
            "[T097] a filter compares properties, and this is a field of the key of `{Self}`, which is no property", $by_key,
            "or store the field as a property too, `#[property(also)]` above it, which makes it a column of filters",
            "`key` of the struct selects one entity" }
        $crate::__refused_forms! { @ $of, ShowsPoint, __Point:
            "[T084] `{A}` is not a complete key of `{Self}`", $point, $of_entity,
            "part of a key selects many entities; use `query`" }
        $crate::__refused_forms! { @@ $of, Find __Find:
            "[T191] a table has no method of this name: an entity is read by its key", $find,
            "`get` also takes a key of a unique index; `get_many` reads several entities, and `query` a part of the keys" }
        $crate::__refused_forms! { @@ $of, Change __Change:
            "[T209] a table has no method of this name: a change reads the entity, and is repeated if another writer changed it", $change,
            "`patch` sets single properties without a read; `replace(&entity, &etag)` writes a whole entity instead of one version" }
        $crate::__refused_forms! { @@ $of, Remove __Remove:
            "[T203] a table has no method of this name: a delete names the key and the version of the entity", $remove,
            "in place of `Any`, the `ETag` of an earlier read or write deletes this version alone" }
        $crate::__refused_forms! { @@ $of, ReadAll __ReadAll:
            "[T201] a table has no method of this name: a query names the keys to read", $read_all,
            "`scan(\"the reason\").max_rows(10_000).collect()` reads the whole table" }
        $crate::__refused_forms! { @@ $of, SelectAll __SelectAll:
            "[T201] a table has no method of this name: a query names the keys to read, and filters them", $select,
            "`scan(\"the reason\").max_rows(10_000).filter(condition).collect()` reads the whole table" }
        $crate::__refused_forms! { @@ $of, Sort __Sort:
            "[T099] a query reads entities in the order of their keys, from the start or from a continuation", $sort,
            "another order is another key: an `#[index]` whose `row_key` begins with the field, or with `desc(field)`; \
             `page_from(&continuation)` reads the next page, and `found.into_iter().skip(10)` skips entities that were read" }
    };
    (@ $of:ty, $shows:ident, $bound:ident: $message:literal, $label:literal, $note:literal, $other:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note, note = $other)]
        pub trait $bound<A> {
            type Never: $crate::Property;
        }

        impl<A> $crate::__private::$shows<A> for $of
        where
            $of: $bound<A>,
        {
            type Never = <$of as $bound<A>>::Never;
        }
    };
    (@@ $of:ty, $verb:ident $bound:ident: $message:literal, $label:literal, $note:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $bound<'a> {}

        impl $crate::__private::ShowsVerb<$crate::__private::$verb> for $of where for<'a> $of: $bound<'a> {}
    };
}
