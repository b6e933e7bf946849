import math

import pytest
from pydantic import TypeAdapter, ValidationError

from jaxmbs.loaders._fields import Boolean, Integer, Number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e5", 1e5),
        ("7e7", 7e7),
        (".5e3", 500.0),
        ("+2e-3", 0.002),
        ("1E5", 1e5),
        ("5", 5.0),
        ("-0", 0.0),
        ("5.", 5.0),
        ("010", 10.0),
    ],
)
def test_numbers(text, value):
    number = TypeAdapter(Number).validate_python(text)
    assert type(number) is float
    assert number == value


@pytest.mark.parametrize("text", ["abc", "1_000", "0x10", "1e", "", ".", "1 2", "1,5", "٣", None, True, [1], {}])
def test_no_numbers(text):
    with pytest.raises(ValidationError, match="needs a number"):
        TypeAdapter(Number).validate_python(text)


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "inf", "nan", "1e999", math.inf, math.nan])
def test_numbers_that_are_not_finite(text):
    with pytest.raises(ValidationError, match="finite number"):
        TypeAdapter(Number).validate_python(text)


def test_numbers_whose_powers_overflow():
    with pytest.raises(ValidationError, match=r"below 1e\+100"):
        TypeAdapter(Number).validate_python("1e101")


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "yes", "On", "y"])
def test_true(word):
    assert TypeAdapter(Boolean).validate_python(word) is True


@pytest.mark.parametrize("word", ["false", "False", "no", "NO", "off", "n"])
def test_false(word):
    assert TypeAdapter(Boolean).validate_python(word) is False


@pytest.mark.parametrize("word", ["1", "tRUE", "maybe", "", None, 1])
def test_no_booleans(word):
    with pytest.raises(ValidationError, match="needs true or false"):
        TypeAdapter(Boolean).validate_python(word)


@pytest.mark.parametrize("text", ["1.0", "1e2", "x", "9" * 5000, None, False])
def test_no_integers(text):
    with pytest.raises(ValidationError, match="needs an integer"):
        TypeAdapter(Integer).validate_python(text)


def test_integers():
    assert TypeAdapter(Integer).validate_python("-12") == -12
