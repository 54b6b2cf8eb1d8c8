"""The columns of `decisions`, and the words that stand in them; `docs/decisions.md` says each.

What the others of a row tell is counted when it is asked for (`SHOWN`).
"""

import pyarrow as pa

ACTIONS = ("fold", "check", "call", "bet", "raise", "bid", "straddle", "show", "muck")
FOLD, CHECK, CALL, BET, RAISE, BID, STRADDLE, SHOW, MUCK = range(len(ACTIONS))
FACED = ("nothing", "blind", "bet", "raise", "straddle", "auction", "showdown")
ROUND = FACED[:4]  # what is faced in a round of betting
ORIGINS = ("chosen", "forced", "default", "recorded")
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "ruleset": pa.string(),
        "idx": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.string(),
        "street": pa.string(),
        "place": pa.int32(),
        "rivals": pa.int32(),
        "faced": pa.string(),
        "faced_size": pa.int64(),
        "called": pa.int64(),  # what others have put in since the last bet or raise
        "to_call": pa.int64(),
        "pot": pa.int64(),
        "stack": pa.int64(),
        "effective": pa.int64(),
        "raises": pa.int32(),
        "raiser": pa.int32(),
        "may_raise": pa.bool_(),
        "raise_min": pa.int64(),
        "raise_max": pa.int64(),
        "action": pa.string(),
        "amount": pa.int64(),
        "raised_to": pa.int64(),
        "origin": pa.string(),
        "sealed": pa.bool_(),
        "think_ms": pa.int64(),
        "hole": pa.string(),
        "board": pa.string(),
        "shown": pa.bool_(),
        "tenth": pa.int32(),
        "made": pa.string(),
    }
)
_SIZED = "action IN ('bet', 'raise') AND amount >= to_call"
_COUNTED = {
    "called": "faced_size / nullif(pot - called - faced_size, 0) AS faced_share",
    "raised_to": f"""
        raised_to,
        CASE WHEN {_SIZED} THEN amount - to_call END AS size,
        CASE WHEN {_SIZED} THEN (amount - to_call) / nullif(pot + to_call, 0) END AS share,
        CASE WHEN action NOT IN ('bid', 'show', 'muck') THEN amount > 0 AND amount = stack END
            AS all_in""",
}
SHOWN = ", ".join(_COUNTED.get(name, name) for name in SCHEMA.names[1:])
