"""Any kernels, written in each text form and read back, are the same; no bytes crash a reader."""

from __future__ import annotations

import contextlib
import string

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.readers.text_helpers import Read, read_bytes, read_text

from ncuroof.errors import InputError
from ncuroof.testing import text_forms as forms
from ncuroof.testing.text_forms import Kernel, Style, Value

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
FEW = settings(max_examples=40, deadline=None, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])

_UNITS = ("byte", "ns", "hz", "byte/s", "byte/block", "%", "inst", "inst/cycle", "sector", "cycle", None)
_METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes.sum.per_second",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__cycles_elapsed.avg.per_second",
    "launch__waves_per_multiprocessor",
    "launch__func_cache_config",
    "l1tex__t_sectors.sum",
)
_STYLES = st.sampled_from(
    [
        Style(),
        Style(thousands="", decimals=6, none="no data"),
        Style(decimal=",", thousands="."),
        Style(decimal=",", thousands="\u00a0"),
        Style(decimal=",", thousands="\u202f", none="nan"),
        Style(thousands="'", none="(!) n/a"),
        Style(scaled=False, none="inf"),
        Style(decimal=",", thousands=""),
    ]
)
_NAMES = st.sampled_from(
    [
        "copy",
        "void gemm<float, 128>(const float *, float *)",
        'k<"a, b">(int)',
        "void at::native::<unnamed>::f<(int)4>(T1, T2)",
        "_Z17gemv_nvfp4_kernelPKaS0_S0_S0_P6__halfiiii",
        "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int>(T13)",
        "größe(Überlauf<é> &)",
    ]
)
_SIZES = st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 65535), st.integers(1, 65535))


@st.composite
def kernels(draw: st.DrawFn) -> list[Kernel]:
    """Kernels that have the same metrics with the same units, as those of one run do."""
    names = draw(st.lists(st.sampled_from(_METRICS), min_size=1, max_size=6, unique=True))
    units = {n: draw(st.sampled_from(_UNITS)) for n in names}
    whole = {n: draw(st.booleans()) for n in names}
    result = []
    for _ in range(draw(st.integers(1, 4))):
        metrics = {}
        for name in names:
            number = draw(
                st.integers(0, 2**50) if whole[name] else st.floats(0, 1e13, allow_nan=False, allow_infinity=False)
            )
            metrics[name] = Value(draw(st.sampled_from([number, number, number, None])), units[name])
        result.append(
            Kernel(
                draw(_NAMES),
                metrics,
                draw(_SIZES),
                draw(_SIZES),
                draw(st.integers(1, 2**31)),
                1,
                draw(st.integers(0, 99)),
            )
        )
    return result


def clear(some: list[Kernel], style: Style) -> bool:
    """Whether the printed numbers settle their own format: one with a separator of each kind it needs."""
    printed = [style.printed(v)[0] for k in some for v in k.metrics.values() if isinstance(v.number, (int, float))]
    decided = any(style.decimal in p and len(p.rpartition(style.decimal)[2]) == style.decimals for p in printed)
    return decided or not any(style.thousands and style.thousands in p for p in printed)


def check(read: Read, some: list[Kernel], style: Style, per_column: bool = False) -> None:
    assert len(read.launches) == len(some)
    for number, (launch, kernel) in enumerate(zip(read.launches, some, strict=True)):
        assert kernel.name in (launch["kernel_demangled"], launch["kernel_mangled"])
        assert tuple(launch[f"grid_{a}"] for a in "xyz") == kernel.grid
        assert tuple(launch[f"block_{a}"] for a in "xyz") == kernel.block
        assert launch["process_id"] == kernel.process
        for name, value in kernel.metrics.items():
            row = read.metrics[number, name]
            if value.number is None:
                assert row["value"] is None
                assert row["text"] is None
                continue
            unit = style.printed(value)[1]
            if per_column:
                largest = max((k.metrics[name] for k in some), key=lambda v: v.number if v.number is not None else -1)
                unit = style.printed(largest)[1]
            assert row["value"] == pytest.approx(value.number, abs=style.error(value, unit) * 1.001 + 1e-9, rel=1e-12)
            assert row["unit"] == value.unit
            if isinstance(value.number, int) and unit == value.unit:
                # A wide column that also holds fractions is read as floats at once.
                assert row["value_int"] == value.number or (per_column and row["value_int"] is None)


@FEW
@given(kernels(), _STYLES, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_wide_csv(some: list[Kernel], style: Style, quoted: bool, line_end: str) -> None:
    assume(clear(some, style))
    text = forms.wide_csv(some, style, quoted=quoted, line_end=line_end)
    read = read_text(text)
    assert read.reader == "ncu-csv-wide"
    check(read, some, style, per_column=True)


@FEW
@given(kernels(), _STYLES, st.booleans(), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_long_csv(some: list[Kernel], style: Style, quoted: bool, delimiter: str, rules: bool) -> None:
    assume(clear(some, style))
    read = read_text(forms.long_csv(some, style, quoted=quoted, delimiter=delimiter, rules=rules))
    assert read.reader == "ncu-csv-long"
    check(read, some, style)


@FEW
@given(kernels(), _STYLES)
def test_log(some: list[Kernel], style: Style) -> None:
    assume(clear(some, style))
    read = read_text("==PROF== Connected to process 1 (a.out)\nhello\n" + forms.log_text(some, style))
    assert read.reader == "ncu-text-log"
    check(read, some, style)


@FEW
@given(kernels(), _STYLES)
def test_gui_copy(some: list[Kernel], style: Style) -> None:
    assume(clear(some, style) and len(some[0].metrics) >= 2)
    read = read_text(forms.gui_copy(some, style, delimiter="\t"))
    assert read.reader == "ncu-gui-copy"
    for number, kernel in enumerate(some):
        for name, value in kernel.metrics.items():
            if value.number is None:
                assert read.value(number, name) is None
            else:
                largest = max((k.metrics[name] for k in some), key=lambda v: v.number if v.number is not None else -1)
                error = style.error(value, style.printed(largest)[1])
                assert read.value(number, name) == pytest.approx(value.number, abs=error * 1.001 + 1e-9, rel=1e-12)


@FEW
@given(kernels(), st.integers(1, 10**6))
def test_summary(some: list[Kernel], invocations: int) -> None:
    style = Style(thousands="")
    read = read_text(forms.summary_text(some, style, invocations))
    for number, kernel in enumerate(some):
        assert read.value(number, "summary__invocations") == invocations
        for name, value in kernel.metrics.items():
            if value.number is not None:
                error = style.error(value, style.printed(value)[1])
                for suffix in ("", ":min", ":max"):
                    assert read.value(number, name + suffix) == pytest.approx(value.number, abs=error * 1.001 + 1e-9)


@FEW
@given(kernels(), st.integers(0, 10**6), st.sampled_from(["wide_csv", "long_csv"]))
def test_a_file_cut_anywhere_gives_its_whole_rows_or_an_error(some: list[Kernel], place: int, form: str) -> None:
    style = Style(thousands="", decimals=6)
    text = getattr(forms, form)(some, style)
    cut = text[: place % (len(text) + 1)]
    assume(cut.strip())
    try:
        read = read_text(cut)
    except InputError:
        return
    whole = read_text(text)
    for key, row in read.metrics.items():
        assert row["value"] == whole.metrics[key]["value"]
    if not cut.endswith("\n") and not text.startswith(cut + "\n"):
        assert "cut-file" in read.kinds()


_PIECES = st.sampled_from(
    [
        b"==PROF== Connected to process 1 (a)\n",
        b"==ERROR== something\n",
        b'"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n',
        b'"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","launch__grid_size"\n',
        b'"","","","","us",""\n',
        b'"0","1","k(int)","gpu__time_duration.sum","ns","1,234"\n',
        b'"0","k","(1, 1, 1)","(2, 2, 2)","12.5","7"\n',
        b"  k(int) (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n",
        b"    Section: Occupancy\n",
        b"    ------------- ----------- ------------\n",
        b"    Metric Name   Metric Unit Metric Value\n",
        b"    Duration               us        12.50\n",
        b"    OPT   Est. Speedup: 44.99%\n          text\n",
        b'Time (%),Total Time (ns),Instances,Avg (ns),Name\n1.0,10,2,5.0,"k"\n',
        b"ID,0\nFunction Name,k\ngpu__time_duration.sum [us],1.5\nl1tex__t_bytes.sum [Kbyte],2\n",
        b'"',
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b",,,,\n",
        b"((((",
        b"\xa0",
        b"1.234.567,8\n",
    ]
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.one_of(_PIECES, st.binary(max_size=40), st.text(string.printable, max_size=40).map(str.encode)), max_size=14
    )
)
def test_no_bytes_crash_a_reader(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    assume(data)
    for only in (None, "ncu-csv-wide", "ncu-csv-long", "ncu-text-log", "ncu-gui-copy", "nsys-kernel-times"):
        with contextlib.suppress(InputError):  # every other exception is a bug
            read_bytes(data, only=only)


@settings(max_examples=60, deadline=None)
@given(kernels(), st.sampled_from(["utf-16-le", "utf-16-be", "utf-8-sig"]), st.booleans())
def test_encodings(some: list[Kernel], encoding: str, mark: bool) -> None:
    text = forms.long_csv(some, Style(thousands=""))
    data = text.encode(encoding)
    if mark and encoding.startswith("utf-16"):
        data = ("\ufeff" + text).encode(encoding)
    check(read_bytes(data), some, Style(thousands=""))
