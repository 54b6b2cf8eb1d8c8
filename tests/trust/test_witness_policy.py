"""Policies, as C2SP tlog-policy has them: which logs, which witnesses, how many are enough."""

import pytest

from api.evidence import verify as script
from store.proof.checkpoint import Checkpoint, cosign, sign
from store.proof.note import WITNESSES, Note, Signature, Signer, parse
from store.proof.tree import Refuted, leaf_hash
from store.proof.witness_policy import read_policy

LOG = Signer("poker.example/log", bytes(range(32)))
OTHER = Signer("poker.example/other", bytes(range(1, 33)))
W = [Signer(f"w{n}.example", bytes(range(10 + n, 42 + n)), WITNESSES) for n in range(5)]
NOTE = sign(Checkpoint("poker.example/log", 1, leaf_hash(b"0")), LOG)
WITNESS_LINES = "".join(f"witness w{n} {one.key.text()}\n" for n, one in enumerate(W))
TWO_LEVELS = f"""\
# three of one house, two of another
log {LOG.key.text()} https://poker.example/log

{WITNESS_LINES}
group\tx 2 w0  w1 w2
group y any w3 w4
group both all x y
  quorum both
"""


def cosigned(*numbers: int) -> bytes:
    note = NOTE
    for number in numbers:
        note = cosign(note, W[number], 1_700_000_000)
    return note


def both_open(lines: str, note: bytes) -> bool:
    """Whether the note fits the policy, by the ledger's reader and by the one in each bundle."""
    try:
        read_policy(lines.encode()).opened(note, [LOG.key])
        here = True
    except Refuted:
        here = False
    try:
        script.cosigners(note, script.read_policy("policy", lines.encode()))
        alone = True
    except script.Refusal:
        alone = False
    assert here == alone
    return here


@pytest.mark.parametrize("numbers", [(0, 1, 3), (1, 2, 4), (0, 1, 2, 3, 4)])
def test_a_quorum_of_groups_of_groups_is_met(numbers: tuple[int, ...]) -> None:
    assert both_open(TWO_LEVELS, cosigned(*numbers))


@pytest.mark.parametrize("numbers", [(), (0, 1), (0, 3), (3, 4), (0, 3, 4)])
def test_too_few_witnesses_are_no_quorum(numbers: tuple[int, ...]) -> None:
    assert not both_open(TWO_LEVELS, cosigned(*numbers))
    policy = read_policy(TWO_LEVELS.encode())
    with pytest.raises(Refuted, match="the policy asks for both"):
        policy.opened(cosigned(*numbers))


def test_one_witness_counts_once_however_often_he_signs() -> None:
    lines = f"log {LOG.key.text()}\n{WITNESS_LINES}group two 2 w0 w1\nquorum two\n"
    assert not both_open(lines, cosign(cosigned(0), W[0], 1_700_000_001))
    policy = read_policy(lines.encode())
    with pytest.raises(Refuted, match="cosigned by w0: the policy asks for two"):
        policy.opened(cosign(cosigned(0), W[0], 1_700_000_001))


def test_a_second_cosignature_that_does_not_hold_spoils_the_note() -> None:
    """As any signature of a known key does: no reader stops at the first."""
    lines = f"log {LOG.key.text()}\n{WITNESS_LINES}quorum w0\n"
    twice = cosign(cosigned(0), W[0], 1_700_000_001)
    assert both_open(lines, twice)
    assert not both_open(lines, spoilt(twice))


def spoilt(note: bytes) -> bytes:
    """Its last signature is another."""
    at = len(note) - 20
    return note[:at] + (b"A" if note[at : at + 1] != b"A" else b"B") + note[at + 1 :]


def test_a_checkpoint_of_another_log_fits_no_policy() -> None:
    lines = f"log {OTHER.key.text()}\nquorum none\n"
    with pytest.raises(Refuted, match="of which no key is known"):
        read_policy(lines.encode()).opened(NOTE)


def test_a_policy_without_logs_takes_them_from_elsewhere() -> None:
    policy = read_policy(b"quorum none\n")
    assert 1 == policy.opened(NOTE, [LOG.key]).checkpoint.size


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "a policy without a line `quorum NAME`"),
        ("quorum none\nquorum none\n", "line 2 of the policy: a second quorum"),
        ("quorum w9\n", "line 1 of the policy: no witness or group above is called w9"),
        ("log nonsense\nquorum none\n", "line 1 of the policy: a public key is a name"),
        (f"log {W[0].key.text()}\nquorum none\n", "is not a log's, which signs"),
        (f"witness a {LOG.key.text()}\nquorum none\n", "is not a witness's, which cosigns"),
        (f"{WITNESS_LINES}witness w0 {LOG.key.text()}\n", "w0 names something else already"),
        (f"{WITNESS_LINES}witness w9 {W[0].key.text()}\n", "stands above already"),
        (f"{WITNESS_LINES}group none any w0\nquorum none\n", "none names something else already"),
        (f"{WITNESS_LINES}group g any none\nquorum g\n", "none cannot be a member here"),
        (f"{WITNESS_LINES}group g any w0 w0\nquorum g\n", "w0 cannot be a member here"),
        (
            f"{WITNESS_LINES}group g any w0\ngroup h any w0\nquorum h\n",
            "w0 cannot be a member here",
        ),
        (f"{WITNESS_LINES}group g 3 w0 w1\nquorum g\n", r"3 of the 2 members of g: 1\.\.2"),
        (f"{WITNESS_LINES}group g 0 w0 w1\nquorum g\n", "a number of its members, not '0'"),
        ("witnesses 3\nquorum none\n", "is none of: log KEY"),
    ],
)
def test_a_policy_that_says_nonsense_is_refused_by_its_line(lines: str, sentence: str) -> None:
    with pytest.raises(Refuted, match=sentence):
        read_policy(lines.encode())
    with pytest.raises(script.Refusal):
        script.read_policy("policy", lines.encode())


def test_a_cosignature_that_does_not_hold_spoils_the_checkpoint() -> None:
    """Of a witness that is known: changed, of another text, of a time that does not exist."""
    lines = f"log {LOG.key.text()}\n{WITNESS_LINES}quorum none\n"
    other = sign(Checkpoint("poker.example/log", 2, leaf_hash(b"1")), LOG)
    parts = parse(cosigned(0)), parse(cosign(other, W[0], 1_700_000_000))
    mixed = Note(parts[0].text, (parts[0].signatures[0], parts[1].signatures[1]))
    last = parts[0].signatures[1]
    later = Signature(last.name, last.id, b"\xff" * 8 + last.signed[8:])
    assert both_open(lines, cosigned(0))
    assert not both_open(lines, mixed.format())
    assert not both_open(lines, Note(parts[0].text, (parts[0].signatures[0], later)).format())
