from __future__ import annotations

import pytest

from ncuroof.ncurep.command_line import option, own_options


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("ncu ./app --cache-control none", ""),
        ("ncu -o x --set full python x.py --clock-control base", "-o x --set full"),
        ("ncu --nvtx -f -o x ./app --set basic", "--nvtx -f -o x"),
        ("ncu -ox ./app --set basic", "-ox"),
        ("ncu --set=full ./app --set basic", "--set=full"),
        ("ncu -k regex:gemm -c 1 -- --set basic", "-k regex:gemm -c 1"),
        ("ncu --set full -- ./app --set basic", "--set full"),
        ("ncu env X=1 ./app --set basic", ""),
        ("env LANG=C ncu --set full ./app", "--set full"),
        ("sudo -E /usr/local/cuda/bin/ncu --set full ./app", "--set full"),
        ("srun -n 2 nv-nsight-cu-cli --set full ./app", "--set full"),
        ('"C:\\Program Files\\NVIDIA\\ncu.exe" --replay-mode "app-range" app.exe --set x', "--replay-mode app-range"),
        ("C:\\Program Files\\NVIDIA\\ncu.exe --set full app.exe", "--set full"),
        ("'/opt/my tools/ncu' --set full -o 'my report' './my app' --set basic", "--set full -o my report"),
        # Under a name of its own, or without any.
        ("ncu-2025 --set full ./app", "--set full"),
        ("--set full ./app", "--set full"),
        # An option that is not known here takes a value.
        ("ncu --of-tomorrow 3 --set full ./app --set basic", "--of-tomorrow 3 --set full"),
        ("ncu --set", "--set"),
        ("ncu", ""),
        ("", ""),
    ],
)
def test_what_stands_after_the_program_is_the_programs(line: str, own: str) -> None:
    assert " ".join(own_options(line)) == own


def test_the_last_value_counts() -> None:
    assert option(["--set", "basic", "--set=full"], "--set") == "full"
    assert option(["--set", "basic", "--set"], "--set") == "basic"
    assert option(["--set", "basic"], "--set", ("full",)) is None
    assert option(["-o", "x"], "--set") is None
