"""How ``ncuroof bound`` prints an answer: at most 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.cli._roofs_text import rate, table, wrap
from ncuroof.roofs import units
from ncuroof.roofs.bound import LAUNCH_FLOOR_S
from ncuroof.verdict_words import MEMORY
from ncuroof.workloads import formulas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.cli._bound import Asked, Machine
    from ncuroof.roofs.record import Roof


def seconds(value: float) -> str:
    """A time with four significant digits: 4.584 ms."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def amount(value: float, unit: str) -> str:
    """FLOP or bytes with a decimal prefix and four significant digits: 14.14 GB."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def report(wanted: Asked, places: Sequence[Machine]) -> list[str]:
    """The whole answer."""
    lines = wrap(wanted.title)
    if wanted.op:
        lines += ["", *_operation(wanted)]
    for machine in places:
        lines += ["", *_machine(wanted, machine)]
    return lines


def _operation(wanted: Asked) -> list[str]:
    module = formulas.operations()[wanted.op or ""]
    ratio = wanted.cost.intensity
    intensity = f"{units.digits(ratio)} FLOP/byte" if ratio is not None else "no byte moves"
    return [
        *_formula("W", amount(wanted.cost.flop, "FLOP"), module.WORK),
        *_formula("Q", amount(wanted.cost.bytes, "B"), module.BYTES),
        f"I  {intensity}",
    ]


def _formula(letter: str, value: str, formula: str) -> list[str]:
    """A quantity and its formula; a long formula goes on below itself."""
    first, *rest = wrap(formula, " " * 20)
    return [f"{letter}  {value:14} = {first.strip()}", *rest]


def _machine(wanted: Asked, machine: Machine) -> list[str]:
    bound = machine.bound
    lines = wrap(f"{machine.name}{f', {bound.flat.path} path' if bound.flat else ''}")
    facts = [["  bandwidth B", rate(bound.slope), _from(bound.slope)]]
    if bound.flat:
        facts.insert(0, ["  peak F", rate(bound.flat), _from(bound.flat)])
    if bound.ridge is not None:
        facts.append(["  ridge F/B", f"{_ridge(bound.ridge)} FLOP/byte", ""])
    reached = bound.attainable_flop_s
    if bound.flat and reached is not None and bound.percent_of_peak is not None:
        share = f"{bound.percent_of_peak:.2f} % of the peak"
        facts.append(["  attainable", f"{reached / 1e12:.4g} {rate(bound.flat).split()[1]}", share])
    if wanted.op:
        facts.append(["  W/F", seconds(bound.compute_s), ""])
        facts.append(["  Q/B", seconds(bound.memory_s), ""])
        facts.append(["  time bound", seconds(bound.time_s), "max(W/F, Q/B)"])
    lines += table(facts, right=(1,))
    if wanted.op and len(wanted.cost.ledger) > 1:
        rows = [
            [f"    {flow.label}", amount(flow.bytes, "B"), seconds(flow.bytes / bound.slope.value)]
            for flow in wanted.cost.ledger
        ]
        lines += ["  of Q:", *table(rows, right=(1, 2))]
    if wanted.op and machine.fits_l2 and machine.l2_bytes:
        lines += wrap(
            f"Q fits in the L2 of {machine.l2_bytes / 2**20:g} MiB: Q/B holds where the launch finds nothing there; "
            "data that a launch before has left in L2 need no DRAM, and then it can be faster than this bound.",
            "  ",
        )
    return lines + wrap(f"{bound.verdict}: {_advice(wanted, machine)}", "  ")


def _from(roof: Roof) -> str:
    return roof.citation if roof.source == "user" else f"{roof.source}: {roof.citation.split(';')[0]}"


def _ridge(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _advice(wanted: Asked, machine: Machine) -> str:
    """What to ask next: left of the ridge bytes, right of it units, near it counters."""
    bound = machine.bound
    if wanted.op and bound.time_s < LAUNCH_FLOOR_S:
        return (
            f"the bound of {seconds(bound.time_s)} is below the few microseconds that every launch costs. Fuse it with "
            "its neighbours, or batch many of them into one launch."
        )
    if bound.near_ridge:
        return "near the ridge point, where both sides matter: measure the bytes that really move before choosing."
    if bound.verdict == MEMORY:
        if bound.flat is None:
            return "it only moves data: fewer bytes, or none of it (fusion), is all that helps."
        return (
            "a higher peak changes nothing. Move right: fewer bytes for the same work (fusion, tiling, smaller types, "
            "larger batch)."
        )
    return "fewer bytes change little. Move up: a path with a higher peak, or work that is not done at all."


def operations() -> list[str]:
    """All operations with their sizes and formulas."""
    lines: list[str] = []
    for name, module in formulas.operations().items():
        lines += [name, *wrap(f"W = {module.WORK}", "  "), *wrap(f"Q = {module.BYTES}", "  ")]
        for key, meaning in module.KEYS.items():
            lines += wrap(f"--{key}: {meaning}", "    ")
        optional = ", ".join(f"--{key} {meaning}" for key, meaning in module.OPTIONAL.items())
        lines += wrap(f"optional: {optional}", "    ") if optional else []
    return [*lines, "", "All take --dtype: fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, nvfp4, int8 ..."]
