"""Which peers are installed here, and in which version."""

from importlib import metadata, util

from bench.runner import Contender


def installed(package: str) -> bool:
    """Whether this peer can be imported; a bench goes on without those that cannot."""
    return util.find_spec(package) is not None


def label(contender: Contender) -> str:
    """A contender's name, with its version where it is somebody else's."""
    if contender.package is None:
        return contender.name
    return f"{contender.name} ({contender.package} {metadata.version(contender.package)})"
