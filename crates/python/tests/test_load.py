"""Bundles, their graphs, and their descriptions."""

import copy
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import precast
import pytest


def test_a_model_is_a_mapping_of_functions(bundle, model):
    assert "score" in model and "nothing" not in model and 3 not in model
    assert set(model) == set(model.entries) and len(model) == len(model.entries)
    assert list(model.entries) == sorted(model.entries)
    assert model["score"].__name__ == model.score.__name__ == "score"
    assert "score" in dir(model) and "entries" in dir(model)
    assert repr(model).startswith("<precast.Model ") and "score" in repr(model)
    assert precast.load(os.fspath(bundle)).entries == model.entries


def test_entry_named_like_an_attribute_is_an_item(model):
    assert isinstance(model.entries, tuple)
    x = np.array([3.0, 1.0])
    assert model["entries"](x, x).tolist() == [0.0, 0.0]


def test_function_shows_its_signature(model):
    score = model.score
    assert score.signature == "(x: f64[?], y: f64[?], z: f64[?]) -> (out: f64[])"
    assert repr(score) == f"<precast.Function score{score.signature}>"
    assert [port.name for port in score.inputs] == ["x", "y", "z"]
    assert score.outputs == (("out", "f64[]"),) and str(score.outputs[0]) == "out: f64[]"


def test_missing_entry_error_lists_available_entries(model):
    with pytest.raises(precast.EntryError, match="has no entry `scor`; available: .*score"):
        model["scor"]
    with pytest.raises(KeyError):
        model["scor"]
    assert not hasattr(model, "scor")


def test_missing_file_raises_file_not_found_error(tmp_path):
    path = tmp_path / "none.precast"
    with pytest.raises(FileNotFoundError) as caught:
        precast.load(path)
    assert isinstance(caught.value, precast.BundleError)
    assert caught.value.errno == 2 and caught.value.filename == str(path)
    assert "precast build" in str(caught.value)


def test_directory_raises_an_os_error(tmp_path):
    with pytest.raises(precast.BundleError):
        precast.load(tmp_path)


def test_a_path_is_a_path():
    with pytest.raises(TypeError):
        precast.load(3)


@pytest.mark.parametrize("length", [0, 7, 8, 60, 1000])
def test_truncated_bundle_is_rejected(bundle, tmp_path, length):
    path = tmp_path / "cut.precast"
    path.write_bytes(bundle.read_bytes()[:length])
    with pytest.raises(precast.BundleError) as caught:
        precast.load(path)
    assert str(path) in str(caught.value)


def test_error_message_contains_the_hint(bundle, tmp_path):
    path = tmp_path / "cut.precast"
    path.write_bytes(bundle.read_bytes()[:-1])
    with pytest.raises(precast.BundleError, match="\nhint: copy or download it again"):
        precast.load(path)


def test_damaged_bundle_raises_our_errors_or_works(bundle, tmp_path):
    whole = bundle.read_bytes()
    path = tmp_path / "damaged.precast"
    x = np.ones(3)
    refused = 0
    for at in range(0, len(whole), len(whole) // 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            assert precast.load(path).score(x, x, x) == pytest.approx(3 * np.exp(-1.0) + 3)
        except (precast.BundleError, precast.EntryError) as error:
            refused += 1
            assert str(path) in str(error)
            if isinstance(error, (precast.MissError, precast.EntryError)):
                assert "is damaged" in str(error) and "\nhint: copy or download it again" in str(error), error
                hints = [line.startswith("hint: ") for line in str(error).splitlines()]
                assert hints == sorted(hints), error
    assert refused > 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can change the owner of a file")
def test_world_writable_bundle_is_rejected(bundle, tmp_path):
    path = tmp_path / "shared.precast"
    shutil.copy(bundle, path)
    path.chmod(0o666)
    with pytest.raises(precast.BundleError, match="hint: "):
        precast.load(path)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_immutable_objects_are_identical(model, copied):
    graph = precast.graph("x: f64[?]", "out = sum(x)")
    for each in (model, model.scale, graph):
        assert copied(each) is each
    kept = copied({"model": model, "x": np.zeros(3)})
    assert kept["model"] is model


def test_pickling_error_has_a_hint(model):
    graph = precast.graph("x: f64[?]", "out = sum(x)")
    for each in (model.scale, graph):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot pickle a `precast.") as caught:
                pickle.dumps(each, protocol)
            assert "hint: " in str(caught.value)


def test_model_is_pickled_as_its_path_and_hash(bundle, tmp_path, monkeypatch):
    shutil.copy(bundle, tmp_path / "m.precast")
    monkeypatch.chdir(tmp_path)
    model = precast.load("m.precast")
    monkeypatch.chdir("/")
    x = np.ones(3)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(model, protocol)
        assert len(pickled) < 1000
        assert pickle.loads(pickled).score(x, x, x) == model.score(x, x, x)
    code = "import pickle, sys; print(len(pickle.load(sys.stdin.buffer)))"
    shown = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True)
    assert int(shown.stdout) == len(model)


def test_pickled_model_of_a_changed_file_is_rejected(bundle, tmp_path):
    path = tmp_path / "m.precast"
    shutil.copy(bundle, path)
    pickled = pickle.dumps(precast.load(path))
    precast.save(path, {"other": precast.graph("x: f64[?]", "out = sum(x)")})
    with pytest.raises(precast.BundleError, match="has changed since the model was pickled\nhint: "):
        pickle.loads(pickled)
    path.unlink()
    with pytest.raises(precast.BundleNotFoundError):
        pickle.loads(pickled)


def test_messages_about_damage_are_short(bundle, tmp_path):
    """A message names the first and the last op of a module, and damage hides no entry silently."""
    whole, path = bundle.read_bytes(), tmp_path / "damaged.precast"
    names = precast.load(bundle).entries
    for at in range(0, len(whole), max(1, len(whole) // 61)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        for name in names:
            try:
                precast.load(path)[name]
            except (precast.BundleError, precast.EntryError) as error:
                assert max(map(len, str(error).splitlines())) < 700, error
                if isinstance(error, precast.EntryError) and "page" not in str(error):
                    assert "cannot be read" in str(error), error
