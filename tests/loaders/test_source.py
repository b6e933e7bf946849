import os

import pytest

from jaxmbs.loaders import LoaderChrono, _source, describe
from tests.loaders.texts import DATA, GROUND, model, only_error


def test_a_path_a_string_and_a_text_give_the_same(tmp_path):
    text = model()
    file = tmp_path / "model.yaml"
    file.write_text(text)
    for source in (text, file, str(file)):
        assert [body.name for body in describe(source).bodies] == ["ground", "rod"]


def test_a_text_on_one_line():
    text = f"{{chrono-version: 10.0, model: {{bodies: [{GROUND}]}}}}"
    assert describe(text).bodies[0].fixed


def test_a_byte_order_mark_is_skipped(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + model().encode())
    assert len(describe(file).bodies) == 2


def test_a_missing_file(tmp_path):
    found = only_error(tmp_path / "nothing.yaml")
    assert found.message == "there is no such file"
    assert found.file == str(tmp_path / "nothing.yaml")


def test_a_directory(tmp_path):
    assert only_error(tmp_path).message == "this is a directory, not a file"


def test_a_binary_file(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    assert "not a text in UTF-8" in only_error(file).message
    file.write_bytes(b"a: 1\n\0")
    assert "binary file" in only_error(file).message


@pytest.mark.parametrize("content", ["", "# a comment\n", "---\n", "null\n", "~"])
def test_an_empty_file(tmp_path, content):
    file = tmp_path / "model.yaml"
    file.write_text(content)
    assert only_error(file).message == "the file is empty"


@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source(source):
    assert only_error(source).message == "the source is empty"


@pytest.mark.parametrize("source", ["x" * 5000, "a\0b"])
def test_names_that_the_system_refuses(source):
    assert "cannot be read" in only_error(source).message


def test_a_file_without_read_permission(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(model())
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    assert "cannot be read" in only_error(file).message


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert only_error(tmp_path / "pipe").message == "this is not a regular file"


def test_a_huge_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "MAX_BYTES", 100)
    file = tmp_path / "model.yaml"
    file.write_text("#" * 101)
    assert only_error(file).message == "the file has more than 100 bytes"


def test_a_loader_and_a_dialect_exclude_each_other():
    with pytest.raises(ValueError, match="either a loader or a dialect"):
        describe(DATA / "run.yaml", loader=LoaderChrono(), dialect="seed")


def test_an_unknown_dialect():
    with pytest.raises(ValueError, match="choose from seed, chrono-10"):
        describe(DATA / "run.yaml", dialect="chrono")
