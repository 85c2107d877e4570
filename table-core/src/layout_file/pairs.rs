//! Finds the section of a layout file that belongs to each entity type of the program.

use crate::layout_file::file::Section;
use crate::layout_file::golden::Layout;
use crate::schema::{StoredSchema, compare_schemas};

/// Returns two lists. The first contains the section for each layout, or `None` if the file has no section for it. The second contains the remaining sections,
/// which belong to no layout.
///
/// Several types can have the same name, so each section is assigned to the most similar layout. Sections that are equally similar are assigned in file order.
pub(super) fn paired(sections: Vec<Section>, layouts: &[Layout]) -> (Vec<Option<Section>>, Vec<Section>) {
    let mut sections: Vec<_> = sections.into_iter().map(Some).collect();
    let mut pairs: Vec<Option<Section>> = layouts.iter().map(|_| None).collect();
    for is_alike in [is_equal, has_name_and_table, may_be_renamed, has_name] {
        for (pair, layout) in pairs.iter_mut().zip(layouts).filter(|(pair, _)| pair.is_none()) {
            let is_wanted = |section: &Section| is_alike(&section.schema, &layout.schema);
            *pair = sections.iter_mut().find_map(|section| section.take_if(|section| is_wanted(section)));
        }
    }
    (pairs, sections.into_iter().flatten().collect())
}

fn is_equal(old: &StoredSchema, new: &StoredSchema) -> bool {
    old == new
}

fn has_name_and_table(old: &StoredSchema, new: &StoredSchema) -> bool {
    has_name(old, new) && has_table(old, new)
}

fn has_name(old: &StoredSchema, new: &StoredSchema) -> bool {
    old.entity == new.entity
}

/// Returns `true` if a store would treat the entity type as renamed (EVO-32). `old` is its schema before the rename, and `new` its schema after it.
fn may_be_renamed(old: &StoredSchema, new: &StoredSchema) -> bool {
    has_table(old, new) && compare_schemas(old, new).keeps_form_of_keys()
}

fn has_table(old: &StoredSchema, new: &StoredSchema) -> bool {
    old.table.eq_ignore_ascii_case(&new.table)
}
