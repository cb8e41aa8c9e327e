"""What reading misses today: expected failures, each with its reason."""

from __future__ import annotations

import pytest

_TIES = "what rests on what is told too freely"
_NOT_SEEN = "the change is not seen, and both stand"
MISSED = {
    ("test_a_rule_whose_case_is_so_already_holds", ""): "a rule whose case is so already waits",
    ("test_what_rests_on_a_known_thing_falls_with_it", "If you want to know"): _TIES,
    ("test_a_reason_told_in_the_same_breath_is_what_the_other_rests_on", "Why is that"): _TIES,
    ("test_a_reason_told_in_the_same_breath_is_what_the_other_rests_on", "Going by"): _TIES,
    ("test_a_reason_told_in_the_same_breath_is_what_the_other_rests_on", "on account"): _TIES,
    ("test_a_rule_may_take_two_sentences", ""): "a rule is read within one sentence",
    ("test_a_change_keeps_one_statement_of_the_thing", ""): _NOT_SEEN,
    ("test_what_is_removed_and_then_said_to_be_gone_is_one_thing", ""): _NOT_SEEN,
    ("test_the_end_of_a_change_is_not_the_end_of_the_thing", ""): "the end of a change is not told",
    (
        "test_a_thing_goes_with_what_is_told_of_it",
        "",
    ): "a bare question is let go",
    ("test_a_what_if_of_courtesy_is_meant", ""): "a request put as a wish is not done",
    (
        "test_what_is_asked_for_instead_takes_the_place_of_what_was_asked_for",
        "Mill Road Station",
    ): _NOT_SEEN,
    ("test_a_turn_from_before_the_last_replaces_nothing", "No, $900."): "a late correction is kept",
    ("test_a_late_correction_of_a_request_changes_nothing", ""): "a late correction is kept",
    ("test_erasures_within_a_turn_go_together", "My phone number is 555-0199. Forget"): (
        "what a turn brings is not known to a request of the same turn"
    ),
    ("test_what_is_tried_out_leaves_the_real_alone", ""): "a what-if in a branch has no name",
    ("test_code_stays_word_for_word", ""): "a value in code is taken for a change",
    ("test_what_is_left_of_a_statement_keeps_its_terms", ""): "a correction loses the term",
    ("test_whatever_form_a_turn_has_it_is_taken", "&lt;b&gt;My budget"): (
        "a statement goes that should stand"
    ),
    (
        "test_whatever_form_a_turn_has_it_is_taken",
        "SELECT",
    ): "a value in code is taken for a change",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = getattr(item, "originalname", item.name)
        for (wanted, part), reason in MISSED.items():
            if name == wanted and part in item.name:
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
