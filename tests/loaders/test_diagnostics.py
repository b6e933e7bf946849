import pickle

import pytest

from jaxmbs._description import ModelError
from jaxmbs.loaders import LoadError
from jaxmbs.loaders._diagnostics import Diagnostic, Diagnostics, Mark


def test_a_diagnostic_reads_well():
    found = Diagnostic("unknown key 'axes'", "f.yaml", Mark(3, 7), "joint 'hinge'", "did you mean 'axis'?")
    assert str(found) == "f.yaml:3:7: joint 'hinge': unknown key 'axes' (did you mean 'axis'?)"
    assert (found.line, found.column) == (3, 7)
    assert str(Diagnostic("there is no such file", "f.yaml")) == "f.yaml: there is no such file"


def test_a_report_is_in_the_order_of_the_files():
    diagnostics = Diagnostics()
    diagnostics.error("late", "a.yaml", Mark(9, 1))
    diagnostics.error("other", "b.yaml", Mark(1, 1))
    diagnostics.error("early", "a.yaml", Mark(2, 5))
    diagnostics.error("early", "a.yaml", Mark(2, 5))
    diagnostics.warning("careful", "a.yaml")
    with pytest.raises(LoadError) as caught:
        diagnostics.raise_errors()
    assert isinstance(caught.value, ModelError)
    assert [error.message for error in caught.value.errors] == ["early", "late", "other"]
    assert [warning.message for warning in caught.value.warnings] == ["careful"]
    assert str(caught.value).splitlines() == [
        "3 errors:",
        "  a.yaml:2:5: early",
        "  a.yaml:9:1: late",
        "  b.yaml:1:1: other",
        "(1 warning beside)",
    ]


def test_an_error_survives_another_process():
    error = LoadError((Diagnostic("bad", "a.yaml", Mark(1, 2)),))
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.errors, copy.warnings, str(copy)) == (error.errors, (), "1 error:\n  a.yaml:1:2: bad")


def test_a_long_report_is_cut():
    diagnostics = Diagnostics()
    for line in range(150):
        diagnostics.error("bad", "a.yaml", Mark(line + 1, 1))
    with pytest.raises(LoadError) as caught:
        diagnostics.raise_errors()
    assert len(caught.value.errors) == 150
    assert str(caught.value).splitlines()[-1] == "  ... and 50 more"


def test_no_errors_no_exception():
    diagnostics = Diagnostics()
    diagnostics.warning("careful", "a.yaml")
    diagnostics.raise_errors()
