"""The study file's reading of codes against the core's, which judges everything else of them."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

import resilver
from resilver import ConfigError
from resilver.spec.code import ErasureCode, code_of
from tests.scale import times

FAMILIES = ["rs", "RS", "lrc", "copies", "Copies", "product", "x", "over", "local", "raid"]
NUMBERS = ["0", "1", "2", "4", "4+2", "8+3", "0+1", "3+0", "2 + 1", "4+ 2", "-1+2", "+", "9" * 10]

code_texts = st.recursive(
    st.one_of(
        st.builds("rs {}+{}".format, st.integers(0, 9), st.integers(0, 4)),
        st.builds("LRC {} + {} local {}".format, st.integers(0, 9), st.integers(0, 6),
                  st.integers(0, 4)),
        st.builds("lrc {}+{} +{}".format, st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)),
        st.builds("copies {}".format, st.integers(0, 5)),
    ),
    lambda codes: st.builds("product {} x {}".format, codes, codes),
    max_leaves=3,
)  # fmt: skip


def of_study(text: str) -> ErasureCode | None:
    try:
        return code_of(text)
    except ConfigError:
        return None


def of_core(text: str) -> resilver.Code | None:
    try:
        return resilver.redundancy(text)
    except ConfigError:
        return None


@settings(max_examples=times(150), deadline=None)
@given(
    text=st.one_of(
        code_texts, st.lists(st.sampled_from(FAMILIES + NUMBERS), max_size=7).map(" ".join)
    )
)
@example(text="rs 2+1 over rs 2+1")
@example(text="copies 2 over rs 2+1 over copies 1")
@example(text="rs 17+3 over rs 8+2")
@example(text="product rs 4+2 x rs 3+1")
@example(text="product rs 2+1 x copies 1")
@example(text="lrc 12+2+2")
@example(text="lrc 8+2+3")
@example(text="rs 60+5")
@example(text="ＲＳ 8+3")
@example(text="rs ٣+1")
def test_both_take_the_same_texts_for_the_same_codes(text: str) -> None:
    study, core = of_study(text), of_core(text)
    assert (study is None) == (core is None)
    if study is None or core is None:
        return
    assert (study.label, study.data, study.parity) == (core.name, core.data, core.parity)
    assert not study.is_separable or core.fault_tolerance == core.parity
    # What a repair gathers is the study's expectation of work, and no more than the core's most.
    assert study.repair_pieces <= max(core.locality, 1)
