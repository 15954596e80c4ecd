"""The study file's reading of codes against the core's, which judges everything else of them."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import resilver
from resilver import ConfigError, _core
from resilver.core_errors import core_errors
from resilver.simulate.codes import code_of_core
from resilver.spec.code import CODE_SCHEMA, ErasureCode, code_of
from tests.scale import times

FAMILIES = ["rs", "RS", "lrc", "copies", "Copies", "product", "x", "over", "local", "raid", "raid6"]
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
        with core_errors():
            return code_of_core(_core.Code(text))
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
    if study is not None and core is None:
        # In other systems' words, of which the core is told the label.
        core = of_core(study.label)
    assert (study is None) == (core is None)
    if study is None or core is None:
        return
    assert (study.label, study.data, study.parity) == (core.name, core.data, core.parity)
    assert not study.is_separable or core.fault_tolerance == core.parity
    # What a repair gathers is the study's expectation of work, and no more than the core's most.
    assert study.repair_pieces <= max(core.locality, 1)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("ec 8+3", "rs 8+3"),
        ("EC 8 + 3", "rs 8+3"),
        ("8+3", "rs 8+3"),
        ("replica 3", "copies 3"),
        ("mirror 2", "copies 2"),
        ("raid1 2", "copies 2"),
        ("raid5 4+1", "rs 4+1"),
        ("raid6 8+2", "rs 8+2"),
        ("RAID6 10", "rs 8+2"),
        ("raidz2 10", "rs 8+2"),
        ("raidz 5", "rs 4+1"),
        ("raidz3 11", "rs 8+3"),
        ("8+3 over raidz2 10", "rs 8+3 over rs 8+2"),
        ("product ec 4+2 x 3+1", "product rs 4+2 x rs 3+1"),
    ],
)
def test_codes_are_read_in_the_words_of_other_systems(text: str, label: str) -> None:
    """The numbers of a RAID level are its disks, of which its name says how many are parity."""
    assert resilver.code_tree(text).name == label
    assert re.fullmatch(CODE_SCHEMA["pattern"], text)
    study = of_study(text)
    assert study is None or study.label == label
    assert (study is None) == (resilver.code_tree(text).pieces > 64)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("raid6 8+3", "a set of raid6 has 2 parity disks"),
        ("raidz2 2", "a set of raidz2 has 2 parity disks"),
        ("raid5 8+2", "a set of raid5 has 1 parity disk"),
        ("raid 6", "this is not a code"),
        ("replca 3", 'did you mean "replica"'),
        ("8+3+2", "this is not a code"),
    ],
)
def test_what_is_no_code_is_refused_with_the_forms(text: str, rule: str) -> None:
    for read in (code_of, resilver.code_tree, resilver.redundancy):
        with pytest.raises(ConfigError) as refused:
            read(text)
        said = str(refused.value)
        assert rule in said and '"raidz2 10"' in said and '"ec 8+3"' in said
