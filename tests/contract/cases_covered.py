"""Where each case is shown: the test that would fail if it came out otherwise, as `file::function` below tests/.

Cases about isolation are not here: their tests are named after them (`test_field_1_…`, `test_security_185_…`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ISOLATION = {
    "field": (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27),
    "security": (185, 186, 187, 189, 190, 191, 193, 194, 195, 197, 198, 199, 201, 202, 203),
}
SAVING = {
    "behaviour": (61, 62, 63, 65, 66, 67, 69, 70, 71, 73, 74, 75, 77, 78, 79, 81, 82, 83, 85, 86, 87, 89),
    "security": (53, 54, 55, 57, 58, 59, 61, 62, 63, 65, 66, 67, 69, 70, 71),
}
SHARED_TIERS = {"behaviour": (127, 129, 130, 131, 133, 134)}
INGESTION = {"behaviour": (171, 173, 174, 175, 177)}
MERGING = {"field": (57, 58, 59, 61, 62, 63, 65, 66, 67, 69, 70, 71, 73, 74, 75)}
HISTORY = {"field": (77, 78, 79, 81, 82, 83, 85)}
TEXT_AND_TIME = {"field": (121, 122, 123, 125, 126, 127, 129, 130, 131, 133, 134, 135)}
CONSENT_AND_ERASURE = {
    "security": (293, 294, 295, 297, 298, 299, 301, 302, 303, 305, 306, 307, 309, 310, 311, 313, 314),
}
DELETION = {
    "field": (29, 30, 31, 33, 34, 35, 37, 38, 39, 41, 42, 43, 45, 46, 47, 49, 50, 51, 53, 54, 55),
    "behaviour": (141, 142, 143, 145, 146, 147, 149, 150),
}
BROWSING = {"behaviour": (117, 118, 119, 121, 122, 123, 125, 126)}
PRIVACY = {"behaviour": (151, 153, 154, 155, 157, 158, 159)}
LOGS = {"security": (315, 317, 318, 319, 321)}
CACHES = {"behaviour": (135, 137, 138, 139)}
VECTORS = {"field": (137, 138, 139, 141, 142), "behaviour": (182,)}
AUTHORIZATION = {"security": (217, 218, 219, 221, 222, 223, 225, 226, 227, 229)}
RECALL = {
    "behaviour": (90, 91, 93, 94, 95, 97, 98, 99, 101, 102, 103, 105, 106, 107, 109, 110, 111, 113, 114, 115, 161, 162),
    "field": (86, 87, 89, 90, 91, 93, 94, 95, 97, 98, 99, 101, 102, 103, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117,
              118, 119),
}  # fmt: skip
POLICY_ADMISSION = {"security": (230, 231, 233, 234, 235, 237, 238, 239, 241, 242)}
TOOLS = {"security": (5, 6), "field": (91, 111)}
WIRING = {"behaviour": (179, 181, 185, 186, 187, 189, 190)}
SERVICE_ACCOUNTS = {"security": (205, 206, 207, 209, 210, 211, 213, 214, 215), "behaviour": (178, 183)}
SECTIONS: tuple[Mapping[str, Sequence[int]], ...] = (
    ISOLATION,
    SAVING,
    SHARED_TIERS,
    INGESTION,
    MERGING,
    HISTORY,
    TEXT_AND_TIME,
    CONSENT_AND_ERASURE,
    DELETION,
    WIRING,
    CACHES,
    VECTORS,
    BROWSING,
    PRIVACY,
    LOGS,
    AUTHORIZATION,
    SERVICE_ACCOUNTS,
    RECALL,
    POLICY_ADMISSION,
    TOOLS,
)

COVERED = {
    # Saving: behaviour
    "behaviour-61": "contract/test_save.py::test_every_field_of_a_save_comes_back",
    "behaviour-62": "contract/test_save.py::test_a_save_needs_a_user",
    "behaviour-63": "contract/test_save.py::test_provenance_gives_evidence_class_source_type_and_weight",
    "behaviour-65": "contract/test_save_about.py::test_the_same_key_again_replaces_the_text_and_keeps_the_id",
    "behaviour-66": "contract/test_save_about.py::test_keys_are_folded",
    "behaviour-67": "contract/test_save_about.py::test_another_key_or_scope_is_another_memory",
    "behaviour-69": "contract/test_save.py::test_a_kind_named_by_policy_or_flag_needs_about",
    "behaviour-70": "contract/test_save.py::test_without_the_policy_the_flags_kinds_still_need_about",
    "behaviour-71": "contract/test_save_merge.py::test_the_cosine_decides",
    "behaviour-73": "contract/test_save_merge.py::test_disabled_every_save_inserts_and_names_no_duplicates",
    "behaviour-74": "contract/test_embedding_faults.py::test_a_save_goes_on_without_a_vector_and_the_metric_says_so",
    "behaviour-75": "contract/test_save_expiry.py::test_the_expiry_of_a_save",
    "behaviour-77": "contract/test_save_expiry.py::test_the_expiry_of_a_save",
    "behaviour-78": "contract/test_expiry.py::test_the_expiry_of_a_write",
    "behaviour-79": "contract/test_expiry.py::test_without_a_policy_only_the_writer_and_the_flag_give_an_expiry",
    "behaviour-82": "contract/test_save_bad_bodies.py::test_a_field_at_fault_is_pointed_at",
    "behaviour-83": "contract/test_save.py::test_a_failing_write_leaves_neither_row_nor_audit",
    "behaviour-85": "contract/test_save_edit.py::test_another_scope_answers_404_and_changes_nothing",
    "behaviour-86": "contract/test_supersede.py::test_three_memories_give_way_to_one_text_under_the_first_id",
    "behaviour-87": "contract/test_supersede.py::test_one_foreign_id_among_ones_own_changes_nothing",
    "behaviour-89": "contract/test_relations.py::test_an_end_that_is_none_of_ours_is_404",
    # Saving: thresholds and duplicates
    "security-53": "contract/test_save_merge.py::test_pairs_at_the_threshold_are_all_decided_alike",
    "security-54": "contract/test_embedding_faults.py::test_a_zero_vector_is_no_vector",
    "security-55": "contract/test_embedding_faults.py::test_a_faulty_answer_gives_no_vector_of_the_batch",
    "security-57": "contract/test_embedding_faults.py::test_a_faulty_answer_gives_no_vector_of_the_batch",
    "security-58": "integration/embeddings/test_sweep.py::test_late_vectors_merge_nothing",
    "security-59": "contract/test_save_merge.py::test_only_the_same_user_container_agent_scope_class_and_type_merge",
    "security-61": "contract/test_save_merge.py::test_what_is_gone_is_neither_revived_nor_named",
    "security-62": "contract/test_policy_ranges.py::test_anything_else_is_refused",
    "security-63": "contract/test_policy_admission.py::test_an_update_need_not_put_right_what_it_does_not_touch",
    "security-65": "contract/test_save_merge.py::test_candidate_limit_caps_what_is_returned",
    "security-66": "contract/test_save_merge.py::test_disabled_every_save_inserts_and_names_no_duplicates",
    "security-67": "contract/test_save_merge.py::test_only_ones_own_are_named_as_duplicates",
    "security-69": "contract/test_save_reinforce.py::test_the_expiry_moves_to_the_later_of_the_two_capped_at_max_age",
    "security-70": "contract/test_save_reinforce.py::test_evidence_goes_by_the_database_clock",
    "security-71": "contract/test_save_about.py::test_a_key_that_is_none_is_refused",
    # Shared tiers
    "behaviour-127": "contract/test_shared_tiers.py::test_a_memory_is_the_operators_and_nobodys_own",
    "behaviour-129": "contract/test_shared_tiers.py::test_a_row_of_another_kind_is_not_deleted",
    "behaviour-130": "contract/test_shared_tiers.py::test_one_key_is_one_row_and_two_keys_are_two",
    "behaviour-131": "contract/test_shared_tiers.py::test_an_expiry_lies_ahead_and_is_kept",
    "behaviour-133": "contract/test_shared_tiers.py::test_a_write_and_a_forgetting_are_recalled_at_once",
    "behaviour-134": "contract/test_shared_tiers.py::test_a_limit_lies_within_its_range",
    # Ingestion
    "behaviour-171": "unit/memories/test_document.py::test_250_words_in_windows_of_100_with_20_shared",
    "behaviour-173": "unit/memories/test_document.py::test_the_first_sentences",
    "behaviour-174": "contract/test_ingestion.py::test_a_document_becomes_its_node_its_sections_and_its_chunks",
    "behaviour-175": "contract/test_ingestion.py::test_a_flag_stands_in_for_a_field_that_is_not_set",
    "behaviour-177": "contract/test_ingestion.py::test_a_workspace_is_needed",
    # Merging
    "field-57": "contract/test_conflicts.py::test_a_merge_that_replaces_a_fact_says_so_and_keeps_the_former",
    "field-58": "contract/test_conflicts.py::test_a_merge_that_replaces_a_fact_says_so_and_keeps_the_former",
    "field-59": "contract/test_save_reinforce.py::test_the_newer_wording_replaces_body_vector_and_text_index",
    "field-61": "contract/test_save_merge.py::test_the_closest_is_merged_among_lexical_decoys",
    "field-62": "integration/memories/test_large_scope.py::test_a_save_is_compared_inside_its_scope_index",
    "field-63": "contract/test_batch.py::test_the_second_twin_merges_into_the_first",
    "field-65": "contract/test_save_reinforce.py::test_evidence_counts_once_an_hour",
    "field-66": "contract/test_transfer.py::test_dedup_switched_off_is_off_here_too",
    "field-69": "contract/test_save_merge.py::test_only_the_same_user_container_agent_scope_class_and_type_merge",
    "field-70": "contract/test_supersede.py::test_three_memories_give_way_to_one_text_under_the_first_id",
    "field-71": "contract/test_relations.py::test_a_relation_stated_twice_is_one_edge_with_the_newer_weight",
    "field-73": "contract/test_save_about.py::test_the_same_key_again_replaces_the_text_and_keeps_the_id",
    "field-74": "integration/memories/test_races.py::test_one_idempotency_key_is_one_row",
    "field-75": "contract/test_save_reinforce.py::test_one_fact_told_in_ten_sessions_is_one_memory",
    # History
    "field-77": "contract/test_supersede.py::test_who_said_it_where_and_about_what_survives",
    "field-78": "contract/test_conflicts.py::test_the_audit_proves_which_text_gave_way_without_holding_it",
    "field-79": "contract/test_browse.py::test_what_changed_last_comes_first",
    "field-82": "contract/test_save_edit.py::test_an_expiry_is_settled_by_the_policy",
    "field-83": "contract/test_save_reinforce.py::test_merging_with_empty_metadata_keeps_the_old",
    "field-85": "integration/policies/test_races.py::test_one_of_several_edits_of_one_reading_wins",
    # Consent, expiry, erasure
    "security-293": "contract/test_consent.py::test_a_refused_save_says_so_and_leaves_one_mark_without_its_text",
    "security-294": "contract/test_consent.py::test_while_the_service_is_away_only_sensitive_memories_are_refused",
    "security-295": "contract/test_consent.py::test_the_action_of_the_policy_is_applied",
    "security-297": "contract/test_consent.py::test_all_that_was_said_under_it_goes_whatever_the_agent",
    "security-298": "contract/test_consent.py::test_a_sensitive_text_needs_the_grant_its_writer_did_not_mention",
    "security-309": "contract/test_save_bad_bodies.py::test_a_memory_is_gone_the_moment_it_expires",
    "security-310": "contract/test_expiry.py::test_the_expiry_of_a_write",
    "security-311": "contract/test_expiry.py::test_the_expiry_of_a_write",
    "security-313": "contract/test_transfer.py::test_every_row_of_the_user_is_there_whatever_the_agent",
    # Authorization
    "security-221": "contract/test_save.py::test_what_the_server_owns_is_ignored",
    "security-222": "contract/test_save_edit.py::test_owners_never_move",
    "security-223": "contract/test_supersede.py::test_one_foreign_id_among_ones_own_changes_nothing",
    "security-225": "contract/test_save_bad_bodies.py::test_a_scope_named_twice_must_agree",
    "security-226": "integration/policies/test_access.py::test_deleting_a_workspace_takes_its_permissions_so_that_none_is_inherited",
    "security-227": "integration/policies/test_access.py::test_a_global_permission_never_counts",
    "security-229": "contract/test_policy_editions.py::test_core_replaces_an_enterprise_section_by_its_default",
    # Recall, search, counting
    "behaviour-90": "contract/test_recall_text.py::test_words_match_whole_and_not_as_parts",
    "behaviour-91": "contract/test_recall_score.py::test_the_vector_value_is_the_cosine",
    "behaviour-93": "contract/test_recall.py::test_filters_narrow",
    "behaviour-95": "contract/test_recall.py::test_without_an_embedder_the_words_answer_alone",
    "behaviour-97": "contract/test_recall.py::test_a_scope_joins_its_tiers",
    "behaviour-98": "contract/test_recall.py::test_tier_weights_order_equal_rows",
    "behaviour-99": "contract/test_recall.py::test_limit_caps_the_answer",
    "behaviour-101": "unit/memories/test_ranking.py::test_age_counts_from_the_observation_or_the_last_reinforcement",
    "behaviour-102": "unit/memories/test_ranking.py::test_recency",
    "behaviour-103": "contract/test_policy_sections.py::test_half_life_per_tier",
    "behaviour-105": "contract/test_recall.py::test_the_core_edition_has_no_institutional_tier_and_no_weights",
    "behaviour-106": "contract/test_recall.py::test_what_is_gone_is_never_recalled",
    "behaviour-107": "contract/test_graph_expansion.py::test_the_policy_says_how_far_the_graph_is_walked",
    "behaviour-109": "contract/test_recall_lookups.py::test_a_lookup_finds_what_meets_every_condition_inside_the_scope",
    "behaviour-110": "contract/test_related.py::test_by_default_the_three_heaviest_are_shown_outgoing_only",
    "behaviour-111": "contract/test_recall.py::test_a_body_above_the_threshold_is_previewed_when_asked",
    "behaviour-115": "integration/memories/test_large_scope.py::test_the_plans_use_the_indexes",
    "behaviour-161": "contract/test_aggregate.py::test_memories_are_counted_by",
    "behaviour-162": "contract/test_aggregate.py::test_a_bad_question_is_refused_with_what_is_allowed",
    "field-86": "contract/test_recall_text.py::test_any_word_of_the_question_finds",
    "field-87": "contract/test_recall_score.py::test_an_old_exact_answer_stays_among_fresh_noise",
    "field-89": "contract/test_recall_text.py::test_cjk_and_ascii_words_of_one_question_both_count",
    "field-91": "contract/test_recall_text.py::test_the_query_is_capped",
    "field-93": "contract/test_transfer.py::test_every_imported_row_is_found_by_a_rare_word",
    "field-94": "contract/test_graph_expansion.py::test_the_filters_of_the_recall_hold_for_what_the_graph_adds",
    "field-95": "contract/test_recall.py::test_what_a_recall_does_not_take_is_refused",
    "field-97": "contract/test_recall_score.py::test_the_identical_text_ranks_first",
    "field-98": "contract/test_recall.py::test_a_filter_of_one_percent_still_fills_the_answer",
    "field-101": "contract/test_recall.py::test_what_a_recall_does_not_take_is_refused",
    "field-102": "contract/test_recall_text.py::test_filters_are_values",
    "field-103": "contract/test_save_about.py::test_commas_quotes_and_signs_come_back_as_they_are",
    "field-105": "contract/test_recall_text.py::test_any_query_answers_200_with_the_scopes_rows_only",
    "field-106": "contract/test_save_bad_bodies.py::test_any_printable_id_is_an_id",
    "field-107": "contract/test_recall.py::test_fifty_gone_rows_take_no_place_of_a_live_one",
    "field-109": "contract/test_relations.py::test_a_weight_that_is_no_number_is_refused",
    "field-111": "contract/test_recall.py::test_limit_caps_the_answer",
    "field-113": "contract/test_browse.py::test_a_search_finds_on_any_page",
    "field-114": "contract/test_browse.py::test_a_cursor_meets_every_row_once_while_rows_arrive",
    "field-115": "contract/test_browse.py::test_a_number_no_column_holds_is_refused",
    # Policy admission
    "security-230": "contract/test_policy_ranges.py::test_nothing_else_is_a_duration",
    "security-231": "contract/test_policy_status.py::test_a_default_longer_than_max_age_is_admitted_and_then_invalid",
    "security-233": "contract/test_policy_ranges.py::test_a_whole_number_is_taken_inside_its_range_and_refused_outside",
    "security-234": "contract/test_policy_sections.py::test_overlap_must_be_less_than_size",
    "security-235": "contract/test_policy_sections.py::test_multiplicative_must_be_set",
    "security-237": "contract/test_policy_sections.py::test_a_schema_that_is_refused",
    "security-238": "contract/test_policies_api.py::test_the_second_of_two_writers_is_told",
    "security-239": "contract/test_policies_api.py::test_a_list_for_a_patch_is_refused",
    "security-241": "integration/policies/test_races.py::test_edits_that_expect_nothing_follow_one_another",
    "security-242": "integration/policies/test_resolve.py::test_a_policy_in_phase_error_leaves_its_last_valid_spec_in_force",
    # Deletion and retention
    "field-29": "contract/test_browse_forget.py::test_a_forgotten_memory_is_gone_from_every_surface_at_once",
    "field-30": "contract/test_browse_forget.py::test_forget_everything_is_more_than_a_page",
    "field-33": "contract/test_purge.py::test_nothing_of_the_text_is_left",
    "field-35": "contract/test_ingestion.py::test_what_a_document_no_longer_says_is_gone",
    "field-38": "contract/test_purge.py::test_field_37_what_lies_in_the_trash_is_changed_by_nothing",
    "field-39": "contract/test_browse_forget.py::test_forget_everything_takes_history_keys_and_kept_answers_along",
    "field-41": "integration/memories/test_races.py::test_a_memory_is_forgotten_once",
    "field-42": "contract/test_browse_forget.py::test_ids_of_every_answer_work_in_open_and_forget",
    "field-45": "contract/test_browse_forget.py::test_forget_everything_is_more_than_a_page",
    "field-50": "contract/test_save_reinforce.py::test_the_expiry_moves_to_the_later_of_the_two_capped_at_max_age",
    "field-51": "contract/test_recall_score.py::test_reading_changes_nothing_on_the_row",
    "field-53": "integration/memories/test_maintenance.py::test_behaviour_141_what_expired_goes_on_every_tier_and_the_rest_stays",
    "field-54": "contract/test_save_expiry.py::test_the_expiry_of_a_save",
    "field-55": "contract/test_save_bad_bodies.py::test_an_expiry_lies_in_the_future",
    "behaviour-142": "contract/test_consent.py::test_it_expires_as_its_category_does",
    "behaviour-145": "contract/test_consent.py::test_the_action_of_the_policy_is_applied",
    "behaviour-149": "integration/policies/test_resolve.py::test_policies_and_the_lack_of_one_are_read_once",
    "behaviour-150": "contract/test_policy_ranges.py::test_a_duration_of_the_grammar_is_taken_whatever_its_length",
    # Caches and vectors
    "behaviour-135": "integration/embeddings/test_shared_cache.py::test_a_question_is_embedded_once_for_all_processes",
    "behaviour-139": "integration/embeddings/test_shared_cache.py::test_redis_that_is_away_is_asked_again_after_a_rest",
    "field-138": "contract/test_embedding_faults.py::test_a_faulty_answer_gives_no_vector_of_the_batch",
    "field-139": "contract/test_embedding_faults.py::test_a_faulty_answer_gives_no_vector_of_the_batch",
    "field-141": "integration/embeddings/test_sweep.py::test_a_known_model_keeps_its_row",
    "field-142": "unit/embeddings/test_vectors.py::test_prefixes_are_part_of_the_name",
    # Wiring
    "behaviour-185": "unit/audit/test_pseudonym.py::test_without_a_key_it_is_the_start_of_the_hash",
    # Browsing
    "behaviour-117": "contract/test_browse_forget.py::test_an_id_that_is_none_of_ours_is_404",
    "behaviour-118": "contract/test_browse_forget.py::test_an_id_that_is_none_of_ours_is_404",
    "behaviour-119": "contract/test_browse.py::test_a_reach_is_what_it_names",
    "behaviour-121": "contract/test_browse.py::test_filters_narrow_list_and_search_alike",
    "behaviour-123": "contract/test_save_bad_bodies.py::test_a_scope_named_twice_must_agree",
    "behaviour-125": "contract/test_batch.py::test_a_part_goes_at_a_time_until_nothing_is_left",
    "behaviour-126": "contract/test_conflicts.py::test_a_bad_question_is_refused",
    # Privacy
    "behaviour-151": "contract/test_consent.py::test_an_opt_out_lets_nothing_in",
    "behaviour-153": "contract/test_consent.py::test_the_shared_tiers_ask_nobody",
    "behaviour-157": "contract/test_consent.py::test_the_grants_of_a_request_stand_in_for_stored_ones",
    "behaviour-158": "contract/test_consent.py::test_a_refused_save_says_so_and_leaves_one_mark_without_its_text",
    "behaviour-159": "contract/test_consent.py::test_who_never_said_anything_has_granted_nothing_sensitive",
    # Logs and audit
    "security-317": "integration/audit/test_chain.py::test_the_database_refuses_changes",
    "security-318": "integration/api/test_context.py::test_a_refusal_is_logged_with_who",
    "security-319": "integration/api/test_context.py::test_no_label_takes_a_value_the_caller_chooses",
    # Text, bytes, numbers, time
    "field-121": "contract/test_save_bad_bodies.py::test_a_body_that_is_no_sound_object_is_refused",
    "field-122": "contract/test_browse.py::test_a_number_no_column_holds_is_refused",
    "field-123": "contract/test_embedding_faults.py::test_a_text_above_the_models_window_is_embedded_by_its_beginning",
    "field-125": "contract/test_embedding_faults.py::test_the_text_travels_as_it_is",
    "field-126": "contract/test_save_bad_bodies.py::test_a_field_at_fault_is_pointed_at",
    "field-127": "contract/test_save_bad_bodies.py::test_a_body_that_says_nothing_is_refused",
    "field-129": "contract/test_save_bad_bodies.py::test_a_field_at_fault_is_pointed_at",
    "field-130": "unit/api/test_moments.py::test_read",
    "field-131": "contract/test_save.py::test_the_time_zone_of_the_server_makes_no_difference",
    "field-133": "contract/test_save.py::test_when_it_was_observed_is_not_made_up",
    "field-134": "contract/test_browse.py::test_a_burst_is_listed_in_the_order_it_was_written",
    "field-135": "contract/test_save.py::test_a_body_over_max_body_bytes_is_rejected_never_truncated",
}
