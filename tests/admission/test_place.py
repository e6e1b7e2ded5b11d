"""Where the user's files are, in every environment that there may be."""

from __future__ import annotations

import os
import pwd
from types import SimpleNamespace

import platformdirs
import pytest

from okld.base import place as base
from okrun.admission import place

HOME = pwd.getpwuid(os.geteuid()).pw_dir
VARIABLES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "OKRUN_CACHE_DIR")


@pytest.mark.spec("CAC-9")
@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"HOME": "/home/me"}, id="HOME"),
        pytest.param({"HOME": "/home/me/"}, id="HOME with a slash"),
        pytest.param({"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/s"}, id="XDG"),
        pytest.param({"HOME": "/h", "XDG_CACHE_HOME": "/c/"}, id="XDG with a slash"),
        pytest.param({"HOME": "/h", "XDG_CACHE_HOME": "c", "XDG_CONFIG_HOME": "s"}, id="relative"),
        pytest.param({"HOME": "/h", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}, id="empty XDG"),
        pytest.param({}, id="no HOME"),
        pytest.param({"HOME": ""}, id="empty HOME"),
        pytest.param({"HOME": "me"}, id="relative HOME"),
        pytest.param({"XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/s"}, id="XDG, no HOME"),
    ],
)
def test_as_platformdirs_has_it(monkeypatch, environment):
    """The two directories are those of platformdirs, which the start does not import."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    wanted = (platformdirs.user_config_dir("okrun"), platformdirs.user_cache_dir("okrun"))
    assert tuple(map(os.path.normpath, place.places(environment))) == wanted
    assert (place.config_dir(), place.cache_dir()) == place.places(environment)


@pytest.mark.spec("CAC-9")
def test_a_place_of_its_own():
    """OKRUN_CACHE_DIR is the cache's directory; a relative one is none."""
    environment = {"HOME": "/h", "XDG_CACHE_HOME": "/c", "OKRUN_CACHE_DIR": "/own"}
    assert place.cache_dir(environment) == "/own"
    assert place.cache_dir(environment | {"OKRUN_CACHE_DIR": ""}) == "/c/okrun"
    assert place.cache_dir(environment | {"OKRUN_CACHE_DIR": "own"}) is None


@pytest.mark.spec("CAC-9", "CAC-10")
def test_nobodys_home(monkeypatch):
    """Without a home, and where the home is the root directory, there is no place."""
    assert place.places({"HOME": "/"}) == (None, None)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_dir="/"))
    assert place.places({}) == (None, None)

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert place.places({}) == (None, None)
    assert place.places({"XDG_CACHE_HOME": "/c"}) == (None, "/c/okrun")


@pytest.mark.spec("CAC-10")
@pytest.mark.parametrize("which", ["getuid", "getgid"])
def test_other_rights_than_the_starters(monkeypatch, which):
    """With the rights of another user or group nothing of the environment is believed."""
    real = getattr(os, which)()
    monkeypatch.setattr(os, which, lambda: real + 1)
    environment = {
        "HOME": "/h",
        "XDG_CONFIG_HOME": "/s",
        "XDG_CACHE_HOME": "/c",
        "OKRUN_CACHE_DIR": "/own",
    }
    config, cache = place.places(environment)
    assert cache is None
    assert config == f"{HOME.rstrip('/')}/.config/okrun"


@pytest.mark.spec("CAC-10")
def test_what_the_kernel_says():
    """AT_SECURE is read from the auxiliary vector, which ends anywhere."""

    def pairs(*words):
        return b"".join(word.to_bytes(8, "little") for word in words)

    assert base._auxiliary(pairs(6, 4096, 23, 1, 0, 0), 23) == 1
    assert base._auxiliary(pairs(6, 23, 23, 0, 0, 0), 23) == 0
    assert base._auxiliary(pairs(6, 4096, 23), 23) == 0
    assert base._auxiliary(b"", 23) == 0
    with open("/proc/self/auxv", "rb") as file:
        assert base._auxiliary(file.read(), 6) == os.sysconf("SC_PAGESIZE")
    assert base.is_elevated() is False
