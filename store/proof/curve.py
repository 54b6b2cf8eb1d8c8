"""Which 32 bytes can be an Ed25519 public key that somebody drew: a point of the prime order L.

The library that checks signatures takes any 32 bytes for a key. Under a point of small order a
signature may hold for many messages, and a point that is spelled in a second way gives a second
name to one key; no key that was drawn is either (RFC 8032, 5.1.3 and 5.1.5).
"""

from functools import lru_cache

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_CURVE = -121665 * pow(121666, -1, _PRIME) % _PRIME
_ROOT = pow(2, (_PRIME - 1) // 4, _PRIME)  # of -1
_NOTHING = (0, 1, 1, 0)  # the neutral point
NEUTRAL = b"\x01" + bytes(31)

Point = tuple[int, int, int, int]  # x / z, y / z, z and x * y / z


@lru_cache(maxsize=256)
def is_drawn(public: bytes) -> bool:
    """Whether these bytes are a point of order L in its one spelling."""
    point = _point(public)
    return point is not None and public != NEUTRAL and _is_nothing(_times(_ORDER, point))


def _point(packed: bytes) -> Point | None:
    """The point with this y and this sign of x; none if y is spelled too large, or has no x."""
    number = int.from_bytes(packed, "little")
    y, sign = number & (2**255 - 1), number >> 255
    squared = (y * y - 1) * pow(_CURVE * y * y + 1, -1, _PRIME) % _PRIME
    x = pow(squared, (_PRIME + 3) // 8, _PRIME)
    if x * x % _PRIME != squared:
        x = x * _ROOT % _PRIME
    if len(packed) != 32 or y >= _PRIME or x * x % _PRIME != squared or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else _PRIME - x
    return x, y, 1, x * y % _PRIME


def _is_nothing(point: Point) -> bool:
    x, y, z, _ = point
    return x % _PRIME == 0 and (y - z) % _PRIME == 0


def _times(factor: int, point: Point) -> Point:
    total: Point = _NOTHING
    for bit in f"{factor:b}":
        total = _sum(total, total)
        if bit == "1":
            total = _sum(total, point)
    return total


def _sum(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % _PRIME
    c = 2 * one[3] * other[3] * _CURVE % _PRIME
    d = 2 * one[2] * other[2] % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME
