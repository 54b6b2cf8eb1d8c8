"""Long work as it goes by: whoever asks may be shown how far it is."""

from collections.abc import Callable, Iterable
from typing import Any

ShowProgress = Callable[[Iterable[Any], str, int], Iterable[Any]]


def without_progress(items: Iterable[Any], doing: str, total: int) -> Iterable[Any]:
    """Nobody looks."""
    return items
