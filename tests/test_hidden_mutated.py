"""Every entry of the table of secrets is needed: the oracle finds one that is gone or another."""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest

from events import lines as public
from events import views as table
from events.ledger import Record, Recorded
from events.lines import nonces_of
from events.match import Disclosure
from events.views import (
    FIELDS,
    Auditor,
    Fields,
    Public,
    Seated,
    Secret,
    check,
    match_openness,
    see_one,
    seen_as,
)
from tests.hidden_fields import WHO_SEES, hidden, is_open, is_there, sees, values
from tests.test_hidden_fields import EVENTS

KEY = nonces_of(bytes(32), "m")
VIEWERS = (None, 0, 1, 2)
KINDS = tuple(FIELDS)


class Mutant(NamedTuple):
    """What is changed of a kind of event, and what is said of it then."""

    what: str
    kind: type[Record]
    said: Fields


def mutants() -> Iterator[Mutant]:
    """Each field that is clear made a secret; each secret made clear, and its rule another."""
    for kind, said in FIELDS.items():
        for field in said.clear.split() if said.secrets else ():
            clear = " ".join(one for one in said.clear.split() if one != field)
            secrets = (*said.secrets, Secret(field))
            yield Mutant(f"{field} is hidden", kind, said._replace(clear=clear, secrets=secrets))
        for at, secret in enumerate(said.secrets):
            rest = (*said.secrets[:at], *said.secrets[at + 1 :])
            clear = f"{said.clear} {secret.field}"
            if secret.differ is None:
                open_to_all = said._replace(clear=clear, secrets=rest)
                yield Mutant(f"{secret.field} is clear", kind, open_to_all)
            yield Mutant(f"{secret.field} is gone", kind, said._replace(secrets=rest))
            for other in _others(secret, said):
                every = (*said.secrets[:at], other, *said.secrets[at + 1 :])
                yield Mutant(f"{other}", kind, said._replace(secrets=every))
        if said.withheld:
            yield Mutant("it is told", kind, said._replace(withheld=None))
            field, _ = said.withheld
            yield Mutant("another is", kind, said._replace(withheld=(field, "action")))


def _others(secret: Secret, said: Fields) -> Iterator[Secret]:
    """The same with one part changed."""
    yield secret._replace(holder="auditor" if secret.holder == "seat" else "seat")
    if secret.sealed_by is not None:
        yield secret._replace(sealed_by=None)
        yield secret._replace(sealed_by=None, revealed_by=secret.sealed_by)
    if secret.revealed_by is not None:
        yield secret._replace(revealed_by=None)
        yield secret._replace(revealed_by=None, sealed_by=secret.revealed_by)
    if secret.differ is not None:
        yield secret._replace(differ=("seat", "slot"))


@pytest.mark.parametrize("mutant", [*mutants()], ids=lambda one: f"{one.kind.__name__}: {one.what}")
def test_the_oracle_finds_what_is_changed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(mutant.kind)
    monkeypatch.setitem(FIELDS, mutant.kind, mutant.said)
    public._hiding.cache_clear()
    try:
        assert not agrees(mutant.kind)
    finally:
        public._hiding.cache_clear()


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.__name__)
def test_a_field_that_nobody_declares_is_refused(kind: type[Record]) -> None:
    """So nobody is shown a field that is new before somebody has said who sees it."""
    said = FIELDS[kind]
    check(FIELDS)
    fields = [*said.clear.split(), *said.flags.split()]
    for field in fields:
        clear, flags = (
            " ".join(one for one in words.split() if one != field)
            for words in (said.clear, said.flags)
        )
        _refused(kind, said._replace(clear=clear, flags=flags))
    for secret in said.secrets:
        if secret.differ is None:
            rest = tuple(one for one in said.secrets if one != secret)
            _refused(kind, said._replace(secrets=rest))
    _refused(kind, said._replace(clear=f"{said.clear} another"))
    with pytest.raises(TypeError, match=f"of {kind.__name__} .* declares"):
        check({one: it for one, it in FIELDS.items() if one is not kind})


def _refused(kind: type[Record], said: Fields) -> None:
    with pytest.raises(TypeError, match=f"of {kind.__name__} events/views.py declares"):
        check({**FIELDS, kind: said})


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.__name__)
def test_the_type_in_which_an_event_is_seen_may_hide_its_secrets_alone(kind: type[Record]) -> None:
    said, seen = FIELDS[kind], seen_as(kind)
    told = get_type_hints(seen)
    assert {one.field for one in said.secrets} == {it for it in told if "Hidden" in str(told[it])}
    assert set(told) == {*said.clear.split(), *(one.field for one in said.secrets)}


def test_what_is_open_is_what_the_oracle_says() -> None:
    for how in (None, *get_args(Disclosure)):
        for mirrored in (False, True):
            for over in (False, True):
                hands, own = is_open(how, over=over, mirrored=mirrored)
                found = match_openness(how, mirrored=mirrored, over=over)
                assert found == (hands, own, mirrored and not hands)
    assert table.FLAGS == ("told",)


def agrees(kind: type[Record]) -> bool:
    """Whether what is seen of events of a kind, their lines and openings are the oracle's."""
    events = [event for event in EVENTS if type(event) is kind]
    try:
        return all(_is_seen(event) and _is_committed(event) for event in events)
    except (AttributeError, LookupError, TypeError, ValueError):
        return False  # such a thing is not even made


def _is_seen(event: Record) -> bool:
    known = values(event)
    for viewer in VIEWERS:
        seen: Any = see_one(event, Public() if viewer is None else Seated(viewer))
        if is_there(event, viewer) != (seen is not None):
            return False
        for field in WHO_SEES[type(event).__name__] if seen is not None else ():
            if sees(event, field, viewer) != (getattr(seen, field) == known[field]):
                return False
    whole: Any = see_one(event, Auditor())
    return all(getattr(whole, it) == known[it] for it in WHO_SEES[type(event).__name__])


def _is_committed(event: Record) -> bool:
    recorded = [Recorded(0, "m/1", 0, 7, event)]
    own = set(hidden(event, None)) - {"changed"} if is_there(event, None) else set[str]()
    found = public.lines(recorded, KEY)
    if len(found) != is_there(event, None):
        return False
    for viewer in VIEWERS:
        who = Public() if viewer is None else Seated(viewer)
        opened_here = {one.field for one in public.openings(recorded, KEY, who)} - {"faults"}
        if opened_here != own - set(hidden(event, viewer)):
            return False
    return True
