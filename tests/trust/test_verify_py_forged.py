"""Forgeries with a plan: what somebody without the log's key tries, and how far signing helps."""

from collections.abc import Callable
from typing import Any

import pytest

from events.types import BidPlaced, Shown
from tests.trust.naive_tree import head, path
from tests.trust.own_bundles import (
    ORIGIN,
    Draft,
    Files,
    Log,
    b64,
    problem,
    verdict,
    with_kinds,
)


def _draft(view: str = "auditor") -> Draft:
    return Draft(with_kinds("auction-2024", BidPlaced, Shown), view)


# Who has no key can only change files: the contents tell. Here even the contents are signed again.


def _record(change: Callable[[list[bytes]], None]) -> Files:
    """The record changed below the leaf that the tree holds."""
    draft = _draft()
    files = draft.files()
    lines = files["events.jsonl"].splitlines()
    change(lines)
    files["events.jsonl"] = b"".join(line + b"\n" for line in lines)
    del files["contents"]
    return draft.sealed(files)


def _raise_amount(lines: list[bytes]) -> None:
    lines[8] = lines[8].replace(b'"amount":64', b'"amount":65')


def _swap_lines(lines: list[bytes]) -> None:
    lines[4], lines[5] = lines[5], lines[4]


def _drop_line(lines: list[bytes]) -> None:
    del lines[19:21]


def _add_line(lines: list[bytes]) -> None:
    lines.insert(20, lines[19])


def _move_time(lines: list[bytes]) -> None:
    lines[7] = lines[7].replace(b'"at":1790000001750', b'"at":1790000001751')


def _open_in_place(lines: list[bytes]) -> None:
    lines[4] = lines[4].replace(lines[4][29:101], b'["As","Ad"]')


@pytest.mark.parametrize(
    "change", [_raise_amount, _swap_lines, _drop_line, _add_line, _move_time, _open_in_place]
)
def test_a_record_that_is_not_the_one_in_the_tree_is_refused(
    change: Callable[[list[bytes]], None],
) -> None:
    expected = "events.jsonl is not the record that the leaf names: its digest is another"
    assert expected == problem(_record(change))


def _other_leaves(draft: Draft, files: Files) -> list[bytes]:
    leaves = list(draft.others)
    leaves[draft.place] = files["leaf.json"]
    return leaves


def _receipt(draft: Draft, leaves: list[bytes], index: int, proof: list[bytes]) -> Files:
    """The same hand, with a receipt that leads from somewhere in these leaves to their root."""
    files = draft.files()
    draft.place = index
    record, leaf = files["events.jsonl"], files["leaf.json"]
    return draft.signed(record, leaf, leaves, proof)


def test_another_hands_proof_is_refused() -> None:
    draft = _draft()
    leaves = _other_leaves(draft, draft.files())
    files = _receipt(draft, leaves, 3, path(3, leaves))
    assert "the receipt is for leaf 3, not for leaf 7" == problem(files)
    files = _receipt(_draft(), leaves, 7, path(3, leaves))
    assert problem(files) == "the receipt does not lead from this leaf to the root in checkpoint"


def test_an_old_checkpoint_is_refused() -> None:
    draft = _draft()
    leaves = _other_leaves(draft, draft.files())[:5]
    files = _receipt(draft, leaves, 7, path(4, leaves))
    assert "the checkpoint is too old: leaf 7 is not among its 5 leaves" == problem(files)


def test_a_checkpoint_beside_the_receipt_must_be_the_receipts() -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    leaves = [*_other_leaves(draft, files), b"one more"]
    files["checkpoint"] = draft.log.note(f"{ORIGIN}\n13\n{b64(head(leaves))}\n")
    expected = "the receipt ends with another checkpoint than the one in checkpoint"
    assert expected == problem(draft.sealed(files))


def _dropped(leaves: list[bytes]) -> list[bytes]:
    return [*leaves[:3], *leaves[4:], b"a later hand"]


def _reordered(leaves: list[bytes]) -> list[bytes]:
    return [*leaves[:4], leaves[5], leaves[4], *leaves[6:]]


def _forked(leaves: list[bytes]) -> list[bytes]:
    return [*leaves[:9], b"another", *leaves[10:]]


@pytest.mark.parametrize("history", [_dropped, _reordered, _forked])
def test_another_history_does_not_hold_the_hand_where_its_receipt_says(
    history: Callable[[list[bytes]], list[bytes]],
) -> None:
    """The old receipt's path under the root of a tree in which something else happened."""
    draft = _draft()
    leaves = _other_leaves(draft, draft.files())
    files = _receipt(draft, history(leaves), 7, path(7, leaves))
    assert problem(files) == "the receipt does not lead from this leaf to the root in checkpoint"


def test_a_path_of_another_length_is_refused() -> None:
    draft = _draft()
    leaves = _other_leaves(draft, draft.files())
    whole = path(7, leaves)
    assert "more hashes than the tree has levels" in problem(
        _receipt(_draft(), leaves, 7, [*whole, whole[0]])
    )
    assert "fewer hashes than the tree has levels" in problem(
        _receipt(_draft(), leaves, 7, whole[:-1])
    )


def test_a_fork_proves_its_own_hands_and_so_checkpoints_must_be_compared() -> None:
    """One log can sign two histories. A bundle alone cannot show it; two checkpoints do."""
    draft, fork = _draft(), _draft()
    fork.others[9] = b"another"
    assert verdict(draft).proved == verdict(fork).proved
    assert draft.files()["checkpoint"] != fork.files()["checkpoint"]


# Keys.


def test_contents_of_another_key_are_refused() -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    draft.log = Log(2)
    expected = f"contents is not signed by the key in key, {Log().key}"
    assert expected == problem(draft.sealed(files))


def test_a_signature_under_a_name_and_mark_that_are_not_its_own_is_refused() -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    draft.log = Log(2)
    draft.log.mark = Log().mark
    expected = f"contents was changed after {ORIGIN} signed it, or another key signed it"
    assert expected == problem(draft.sealed(files))


def test_a_checkpoint_of_another_key_or_log_is_refused() -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    above = files["receipt.tlog-proof"].partition(b"\n\n")[0] + b"\n\n"
    text = files["checkpoint"].decode().partition("\n\n")[0] + "\n"
    for note, expected in (
        (Log(2).note(text), "checkpoint is not signed by the key in key"),
        (Log().note(text.replace(ORIGIN, "another.log")), 'checkpoint is of the log "another.log"'),
        (Log().note(text + "an extension\n"), "checkpoint is not three lines"),
        (Log().note(text.replace("\n12\n", "\n012\n")), "checkpoint is not three lines"),
    ):
        changed = {**files, "checkpoint": note, "receipt.tlog-proof": above + note}
        assert expected in problem(draft.sealed(changed))


def test_contents_are_no_checkpoint_and_a_checkpoint_no_contents() -> None:
    """One key signs both: neither can be taken for the other."""
    files = _draft().files()
    assert "contents begins with" in problem({**files, "contents": files["checkpoint"]})


def test_a_witness_may_sign_the_checkpoint_too() -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    line = Log(9, "witness.example").note("x\n").split(b"\n\n")[1]
    for name in ("checkpoint", "receipt.tlog-proof"):
        files[name] += line
    assert () == verdict(draft, lambda _: draft.sealed(files)).problems


# The list of files.


def test_a_file_that_the_contents_do_not_name_is_refused() -> None:
    files = {**_draft().files(), "report.txt": b"AGREE\n"}
    assert "contents does not name report.txt" == problem(files)


def test_a_file_that_is_named_and_missing_is_refused() -> None:
    draft = _draft()
    draft.more = {"report.txt": b"AGREE\n"}
    files = draft.files()
    del files["report.txt"]
    assert '"report.txt" is in contents, but missing' == problem(files)


@pytest.mark.parametrize("name", ["notes.txt", "json.py", "../verify.py", "VERIFY.PY", "a\x1b[2J"])
def test_a_file_that_no_bundle_has_is_refused_even_if_it_is_signed(name: str) -> None:
    draft = _draft()
    draft.more = {name: b"x"}
    sentence = problem(draft.files())
    assert "is no file of a bundle: take it out of the folder" in sentence
    assert sentence.isprintable()


def test_a_huge_file_is_refused() -> None:
    draft = _draft()
    draft.more = {"report.txt": bytes(8 * 1024 * 1024 + 1)}
    expected = '"report.txt" has 8388609 bytes, and no file of a bundle more than 8388608'
    assert expected == problem(draft.files())


# Openings.


def _opened(change: Callable[[list[dict[str, Any]], Draft], object]) -> str:
    draft = _draft()
    draft.openings = [dict(one) for one in draft.openings]
    change(draft.openings, draft)
    return problem(draft.files())


def test_a_wrong_value_nonce_line_or_field_opens_nothing() -> None:
    wrong = 'the opening of "cards" in line 5 is wrong: the line commits to another value or nonce'
    assert wrong == _opened(lambda all_, _: all_[0].update(value=["As", "Ad"]))
    assert wrong == _opened(lambda all_, _: all_[0].update(value=all_[0]["value"][::-1]))
    assert wrong == _opened(lambda all_, _: all_[0].update(nonce="0" * 64))
    assert wrong == _opened(lambda all_, _: all_[0].update(nonce=all_[1]["nonce"]))
    nothing = "opens nothing: no such thing is hidden there"
    assert nothing in _opened(lambda all_, _: all_[0].update(line=7))
    assert nothing in _opened(lambda all_, _: all_[0].update(line=900))
    assert nothing in _opened(lambda all_, _: all_[0].update(field="seat"))


def test_an_opening_that_is_moved_to_another_line_opens_nothing_there() -> None:
    def move(openings: list[dict[str, Any]], draft: Draft) -> None:
        del openings[1]
        openings[0]["line"] += 1

    assert "in line 6 is wrong" in _opened(move)


def test_what_cannot_be_the_value_is_refused() -> None:
    for value in ("As", ["As", "Kx"], ["As", None], None, 7, True, {"As": 1}):
        assert "cannot be its value" in _opened(lambda all_, _, v=value: all_[0].update(value=v))  # type: ignore[misc]


def test_nothing_is_opened_twice_and_an_auditor_closes_nothing() -> None:
    assert "stands there twice" in _opened(lambda all_, _: all_.append(all_[0]))
    expected = "openings.json is for the auditor, and leaves 1 hidden values closed"
    assert expected == _opened(lambda all_, _: all_.pop())


def test_as_many_cards_are_opened_as_the_line_says() -> None:
    """The log lied about the number when it wrote the line."""
    draft = _draft()
    assert "HoleDealt" == draft.lines[4]["type"]
    draft.lines[4]["cards"]["count"] = 3
    assert "commits to another value" in problem(draft.files())


def test_a_view_of_nobody_is_refused() -> None:
    draft = _draft("public")
    for view in ("seat:nobody", "seat:", "Auditor", ""):
        draft.view = view
        assert "nobody of that name is in this hand" in problem(draft.files())
