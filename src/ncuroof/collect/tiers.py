"""What a tier asks for on one GPU, and how many replay passes that takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.collect._data import toml
from ncuroof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncuroof.collect.availability import Availability

COMMON_TYPES = ("fp16", "bf16", "tf32")
"""Tensor input types asked for where nothing tells which ones the program uses."""


@dataclass(frozen=True)
class Request:
    """What to ask ncu for.

    Attributes:
        tier: its name.
        metrics: full metric names.
        sections: section identifiers, for Nsight Compute's own rules.
        section_set: name of a section set, or None.
        missing: metrics of the tier that this GPU does not have.
        passes: replay passes of each kernel, estimated; None if unknown for this GPU.
    """

    tier: str
    metrics: tuple[str, ...]
    sections: tuple[str, ...]
    section_set: str | None
    missing: tuple[str, ...]
    passes: int | None


def tiers() -> dict[str, str]:
    """Return every tier with its meaning, smallest first."""
    return {name: tier["meaning"] for name, tier in toml("tiers.toml")["tier"].items()}


def tensor_types() -> tuple[str, ...]:
    """Return the tensor input types that can be asked for."""
    return tuple(toml("tiers.toml")["tensor"])


def check(tier: str, tensor: Sequence[str] = ()) -> None:
    """Check the words of the user.

    Raises:
        UsageError: for an unknown tier or tensor type.
    """
    if tier not in tiers():
        msg = f"there is no tier {tier!r}; known are {', '.join(tiers())}"
        raise UsageError(msg)
    unknown = [name for name in tensor if name not in tensor_types()]
    if unknown:
        msg = f"there is no tensor type {unknown[0]!r}; known are {', '.join(tensor_types())}"
        raise UsageError(msg)


def request(tier: str, available: Availability, cc: str | None, tensor: Sequence[str] = COMMON_TYPES) -> Request:
    """Choose the metrics of a tier.

    Args:
        tier: name of the tier.
        available: what exists on the GPU.
        cc: its compute capability; None if unknown.
        tensor: tensor input types to count, each about one more pass.

    Raises:
        UsageError: for an unknown tier or tensor type.
    """
    check(tier, tensor)
    table = toml("tiers.toml")
    chosen: dict[str, None] = {}
    missing: list[str] = []
    tensor_count = 0
    for group in table["tier"][tier]["groups"]:
        if group == "tensor":
            for name in tensor:
                found = _first(table["tensor"][name], available)
                tensor_count += bool(found)
                chosen.update(dict.fromkeys(found))
                missing.extend([] if found else [f"tensor {name}"])
            continue
        for entry in table["group"][group]:
            found = _first([[entry]] if isinstance(entry, str) else entry, available)
            chosen.update(dict.fromkeys(found))
            missing.extend([] if found else [entry if isinstance(entry, str) else " + ".join(entry[0])])
    base = table["passes"][tier].get(cc or "")
    # The first tensor type shares a pass with the FLOP counters, each further one takes its own; full has them all.
    extra = max(0, tensor_count - 1) if tier in ("roofline", "rules") else 0
    return Request(
        tier,
        tuple(chosen),
        tuple(table["tier"][tier].get("sections", ())),
        table["tier"][tier].get("set"),
        tuple(dict.fromkeys(missing)),
        None if base is None else base + extra,
    )


def _first(alternatives: Iterable[Sequence[str]], available: Availability) -> Sequence[str]:
    """Return the first alternative that exists as a whole; empty if none does."""
    return next((names for names in alternatives if all(available.has(name) for name in names)), ())


def warm_replay(passes: int | None) -> str:
    """Return the replay mode that shows warm caches as the program leaves them.

    A kernel that is replayed in several passes finds, from the second on, what its own first pass left in L2;
    then the program is run again for each pass instead.
    """
    limit: int = toml("tiers.toml")["warm"]["kernel_replay_passes"]
    return "kernel" if passes is not None and passes <= limit else "application"
