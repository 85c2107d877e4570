//! The list of all scenarios in the behaviour suite, for the tests that run them.

/// Calls a macro once per family of scenarios: `$run! { family, [scenario, …] }`.
#[macro_export]
macro_rules! for_each_scenario {
    ($run:ident) => {
        $run! { concurrency, [
            con_2_and_3_a_read_sees_every_acknowledged_write,
            con_5_exactly_one_of_two_writers_with_one_etag_succeeds,
            con_6_reading_an_entity_blocks_no_writer,
            con_3_no_increment_is_lost,
            con_7_and_egt_9_no_reader_sees_a_partial_transaction,
            egt_13_exactly_one_of_overlapping_transactions_wins,
            con_4_last_writer_wins_without_a_condition,
        ] }
        $run! { delete, [
            del_2_a_delete_removes_and_the_next_one_is_not_found,
            del_2_delete_of_another_version_is_refused_and_changes_nothing,
            del_3_existence_is_tested_before_the_etag,
            del_4_a_deleted_entity_is_unreachable_at_once,
        ] }
        $run! { etag, [
            etag_1_and_2_the_etag_is_the_timestamp_in_the_services_form,
            etag_5_6_and_con_10_every_write_of_an_entity_gives_a_later_etag,
            etag_3_a_transaction_gives_an_etag_for_each_but_deletes,
            etag_5_an_entity_that_is_not_written_keeps_its_version,
            con_12_delete_and_insert_give_a_new_etag,
        ] }
        $run! { filters, [
            fil_11_and_12_absent,
            fil_3_15_and_16_int32,
            fil_15_and_16_int64,
            fil_15_double,
            fil_17_and_eng_19_nan,
            fil_14_and_16_string,
            fil_13_and_14_boolean,
            fil_14_binary_guid_and_datetime,
            fil_2_and_10_precedence_and_logic,
            fil_7_many_comparisons_are_accepted,
            fil_18_keys_and_timestamp_are_filtered_as_properties,
            fil_10_a_selective_filter_over_many_rows_finds_the_few_matches,
        ] }
        $run! { get, [
            get_2_a_missing_entity_is_none,
            get_1_an_entity_comes_with_its_etag_and_timestamp,
            req_8_select_works_on_a_point,
        ] }
        $run! { if_match, [
            ifm_1_any_and_the_current_etag_are_accepted,
            ifm_1_and_4_any_other_well_formed_etag_is_a_mismatch,
            etag_4_an_etag_kept_as_text_is_still_accepted,
        ] }
        $run! { insert, [
            ins_1_insert_of_an_existing_key_conflicts_and_changes_nothing,
            ins_2_an_inserted_entity_is_read_back,
            ent_1_keys_alone_make_an_entity,
            ent_1_the_pair_of_keys_is_the_identity,
        ] }
        $run! { keys, [
            key_2_and_6_unusual_but_legal_keys_are_kept_unchanged,
            key_6_keys_are_case_sensitive_and_not_trimmed,
            ord_1_to_4_rows_come_in_utf16_order,
            ord_1_to_4_partitions_come_in_utf16_order,
            ord_5_ranges_and_tokens_use_the_same_order,
            fil_19_a_prefix_finds_the_keys_that_begin_with_it,
        ] }
        $run! { limits, [
            key_7_and_8_keys_are_limited_in_utf16_code_units,
            key_9_a_point_read_with_an_overlong_key_finds_nothing,
            ent_2_an_entity_has_at_most_252_properties,
            prop_2_names_have_at_most_255_code_units,
            type_10_and_11_values_at_their_limits,
            size_1_to_4_an_entity_has_at_most_a_mebibyte_less_88,
            size_6_the_limits_of_a_merge_are_those_of_its_result,
            size_5_the_overhead_of_json_does_not_count,
            err_3_and_5_limits_are_checked_first_then_existence_then_the_etag,
        ] }
        $run! { merge, [
            mrg_1_merge_adds_and_replaces_and_keeps_the_rest,
            mrg_2_merge_of_a_missing_entity_or_another_version_is_refused,
            mrg_3_a_merge_keeps_properties_that_it_does_not_name,
            mrg_4_an_empty_merge_gives_a_new_version,
            prop_1_names_are_distinguished_by_case,
        ] }
        $run! { paging, [
            page_1_a_page_has_at_most_a_thousand_entities,
            page_3_and_4_pages_of_every_size_give_the_whole_answer_once,
            page_5_the_last_page_has_no_continuation,
            page_6_a_continuation_is_the_next_entity_and_survives_its_deletion,
            page_7_a_continuation_holds_no_state_and_can_be_used_again,
            page_9_a_continuation_of_another_query_is_refused,
            page_1_pages_continue_across_partitions,
            page_11_large_entities_are_all_returned,
            con_9_what_exists_throughout_is_returned_exactly_once,
        ] }
        $run! { properties, [
            type_1_values_of_every_type_round_trip,
            eng_19_nan_and_the_sign_of_zero_survive,
            type_6_an_instant_out_of_range_is_refused,
            prop_1_and_3_names_are_case_sensitive_identifiers,
            prop_4_reserved_names_are_refused_as_properties,
            prop_6_a_duplicate_name_is_refused,
        ] }
        $run! { queries, [
            qry_3_a_partition_is_read_in_key_order,
            qry_4_a_query_without_matches_is_empty_and_not_an_error,
            cls_1_each_class_reads_exactly_its_keys,
            cls_4_a_filter_on_keys_and_a_range_of_keys_find_the_same,
            cls_2_an_or_of_row_keys_finds_both,
            cls_5_get_3_and_page_10_a_point_query_has_no_continuation,
            qry_3_a_rewritten_entity_keeps_its_position,
            sel_1_5_and_fil_17_a_query_that_no_request_can_express_is_refused,
        ] }
        $run! { select, [
            sel_2_and_3_only_the_named_properties_come_back,
            sel_2_etag_and_timestamp_come_in_any_case,
            sel_6_projection_does_not_change_what_matches,
        ] }
        $run! { tables, [
            opt_1_and_2_a_table_is_created_once,
            tbl_2_names_are_compared_without_case,
            tbl_6_entities_of_a_table_may_differ_in_properties_and_types,
            opt_3_delete_of_a_missing_table_is_resource_not_found,
            opt_4_and_6_a_deleted_table_is_gone_at_once,
            eng_9_a_recreated_table_is_empty,
            opt_6_every_operation_on_a_missing_table_is_table_not_found,
            opt_5_and_page_12_a_listing_is_ordered_and_paged_by_prefix,
            tbl_6_tables_do_not_share_entities,
            tbl_1_3_4_and_5_names_are_checked_before_they_are_used,
        ] }
        $run! { top, [
            top_1_and_4_top_is_the_size_of_a_page_not_of_the_answer,
            top_2_more_than_a_thousand_is_refused,
            top_3_and_eng_5_zero_gives_an_empty_page_without_continuation,
        ] }
        $run! { transactions, [
            egt_1_and_6_all_six_kinds_in_one_transaction,
            egt_2_a_hundred_operations_are_accepted_and_one_more_is_not,
            egt_2_the_store_refuses_a_transaction_built_with_other_limits,
            egt_3_a_transaction_has_at_most_four_mebibytes,
            egt_4_an_entity_occurs_once,
            egt_9_nothing_is_applied_if_one_operation_fails,
            egt_10_the_first_failing_operation_is_the_one_named,
            eng_7_structural_errors_come_before_those_of_execution,
            egt_12_a_transaction_without_operations_is_refused,
            egt_14_all_writes_of_a_transaction_get_an_etag,
            eng_21_a_check_holds_at_the_commit_and_writes_nothing_or_is_refused,
        ] }
        $run! { update, [
            upd_1_and_4_replace_removes_omitted_properties,
            upd_2_replace_of_a_missing_entity_is_not_found,
            upd_3_replace_of_another_version_is_refused_and_changes_nothing,
            type_12_a_write_may_change_the_type_of_a_property,
        ] }
        $run! { upsert, [
            ups_1_and_2_insert_or_replace_does_either,
            ups_2_and_3_insert_or_merge_does_either,
            ups_4_if_match_any_is_not_an_upsert,
            ups_6_an_upsert_overwrites_any_version,
        ] }
    };
}
