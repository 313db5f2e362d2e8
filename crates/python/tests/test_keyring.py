"""Bundles under a keyring from an argument or from PRECAST_KEYRING."""

import shutil
import subprocess
import sys

import numpy as np
import precast
import pytest
from precast import _native

TEXT = ("x: f64[?]", "out = x * 3.0 + 7.0")


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Creates a directory with a keyring, a signed bundle and an unsigned copy."""
    place = tmp_path_factory.mktemp("keyring")

    def run(*arguments):
        ran = subprocess.run([sys.executable, "-m", "precast", *arguments], cwd=place, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

    precast.save(place / "signed.precast", {"f": precast.graph(*TEXT)})
    shutil.copy(place / "signed.precast", place / "unsigned.precast")
    run("keygen", "alice.key", "--no-password")
    run("trust", "new", "--expires", "2999-01-01", "--keyring", "test.keyring", "alice.pub")
    run("sign", "--key", "alice.key", "signed.precast")
    return place


def load(path, **keyring):
    return precast.load(path, **keyring)["f"]


def compile(path, **keyring):
    return precast.function(*TEXT, layers=[path], policy="strict", **keyring)


def explain(path, **keyring):
    assert precast.check(*TEXT, layers=[path], **keyring)
    return None


def modules(path, **keyring):
    _native.Modules(bundles=[str(path)], **keyring)
    return None


OPENERS = pytest.mark.parametrize("open", [load, compile, explain, modules])


def served(function):
    return function is None or function(np.array([1.0, 2.0])).tolist() == [10.0, 13.0]


@OPENERS
@pytest.mark.parametrize("by_argument", [True, False])
def test_keyring_is_enforced(open, by_argument, signed, monkeypatch):
    def opened(name, keyring):
        if by_argument:
            return open(signed / name, keyring=keyring)
        monkeypatch.setenv("PRECAST_KEYRING", str(keyring))
        return open(signed / name)

    # Load without signatures first: a cached runtime must not be reused under a keyring.
    assert served(open(signed / "unsigned.precast"))
    assert served(opened("signed.precast", signed / "test.keyring"))
    with pytest.raises(precast.BundleError, match="no signature found"):
        opened("unsigned.precast", signed / "test.keyring")
    with pytest.raises(precast.BundleError, match="absent.keyring` not found"):
        opened("signed.precast", signed / "absent.keyring")
    with pytest.raises(precast.BundleError, match="the keyring name is empty"):
        opened("signed.precast", "")


@OPENERS
def test_an_argument_takes_precedence_over_the_environment(open, signed, monkeypatch):
    monkeypatch.setenv("PRECAST_KEYRING", str(signed / "absent.keyring"))
    assert served(open(signed / "signed.precast", keyring=signed / "test.keyring"))


@OPENERS
def test_dates_are_enforced(open, signed, tmp_path):
    keyring = tmp_path / "test.keyring"
    text = (signed / "test.keyring").read_text()
    issued = next(line for line in text.splitlines() if line.startswith("issued="))
    keyring.write_text(text.replace(issued, "issued=2998-01-01"))
    with pytest.raises(precast.BundleError, match="the clock is wrong"):
        open(signed / "signed.precast", keyring=keyring)
    if not shutil.which("minisign"):
        pytest.skip("no minisign")
    # Keys and signatures have the format of minisign, which signs any comment.
    bundle = tmp_path / "expired.precast"
    shutil.copy(signed / "signed.precast", bundle)

    def sign(comment):
        command = ["minisign", "-S", "-s", signed / "alice.key", "-m", bundle, "-t", comment]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)

    sign("hashed\texpires:2020-01-01")
    with pytest.raises(precast.BundleError, match="the signature by `alice` expired on 2020-01-01"):
        open(bundle, keyring=signed / "test.keyring")
    sign("hashed\texpires:2999-01-01")
    assert served(open(bundle, keyring=signed / "test.keyring"))


def test_a_changed_keyring_is_read_again(signed, tmp_path):
    keyring = tmp_path / "test.keyring"
    shutil.copy(signed / "test.keyring", keyring)
    assert served(compile(signed / "signed.precast", keyring=keyring))
    keyring.write_text(keyring.read_text().replace("2999-01-01", "2020-01-01"))
    with pytest.raises(precast.BundleError, match="expired"):
        compile(signed / "signed.precast", keyring=keyring)


def test_a_missing_keyring_is_an_error_without_layers(tmp_path):
    with pytest.raises(precast.BundleError, match="absent.keyring` not found"):
        precast.function(*TEXT, keyring=tmp_path / "absent.keyring")
