from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reporters.hostile import NAMES, SURROGATE

from ncuroof.reporters._names import clean, cut, shorten, visible

anything = st.text(st.characters(), max_size=200)
brackets = st.text(st.sampled_from("<>()[]{},:: operator->abf…"), max_size=80)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("saxpy", "saxpy"),
        ("a\nb", "a\\x0ab"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202e", "\\u202e"),
        ("\udcff", "\\udcff"),
        ("\U000e0001", "\\U000e0001"),  # a language tag: invisible, beyond 16 bits
        ("µ × Grüße 核", "µ × Grüße 核"),
    ],
)
def test_visible(raw, shown):
    assert visible(raw) == shown


@given(anything)
def test_visible_prints_and_encodes(text):
    shown = visible(text)
    assert shown.isprintable()
    shown.encode("utf-8")


@given(st.one_of(anything, brackets), st.integers(0, 60))
def test_nothing_is_wider_than_asked(text, width):
    for shown in (cut(text, width), shorten(text, width)):
        assert len(shown) <= width
        assert shown.isprintable()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_hostile_names_stay_short_and_printable(name):
    for width in (1, 8, 33, 300):
        assert len(shorten(name, width)) <= width
        assert shorten(name, width).isprintable()


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("saxpy(int, float, float*, float*)", 80, "saxpy"),
        ("void foo<float>(float*) const", 80, "foo<float>"),
        ("(anonymous namespace)::foo(int)", 80, "(anonymous namespace)::foo"),
        ("(anonymous namespace)::foo(int)", 10, "foo"),
        ("a::b::Functor::operator()(int) const", 80, "a::b::Functor::operator()"),
        ("bool ns::operator<(ns::A, ns::B)", 80, "ns::operator<"),
        ("void f<(int)3, (bool)1>(float)", 80, "f<(int)3, (bool)1>"),
        ("ampere_sgemm_128x64_nn", 80, "ampere_sgemm_128x64_nn"),
        ("a<b", 80, "a<b"),  # no name: stays as it is
        ("", 80, ""),
    ],
)
def test_return_type_and_parameters_go_first(name, width, shown):
    assert shorten(name, width) == shown


ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >"
    "(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"
)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        # Namespaces go before arguments, arguments from the back, the function name last of all.
        (70, "vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, …>"),
        (40, "vectorized_elementwise_kernel<4, …>"),
        (32, "vectorized_elementwise_kernel<…>"),
    ],
)
def test_template_arguments_become_an_ellipsis(width, shown):
    assert shorten(ELEMENTWISE, width) == shown


def test_a_long_first_argument_is_shown_as_far_as_it_fits():
    name = "void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_128x64_64x3_tn_align8>(cutlass::Params)"
    shown = shorten(name, 33)
    assert shown.startswith("Kernel<cutlass_80_tensorop")
    assert shown.endswith("…>")


def test_a_name_that_was_cut_off_keeps_its_function():
    assert shorten("void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::Mma<", 30).startswith(
        "Kernel<"
    )


def test_clean_keeps_everything_that_encodes():
    assert clean("ok \x1b\n") == "ok \x1b\n"
    assert clean(SURROGATE).encode("utf-8")
    assert "bad" in clean(SURROGATE)
