"""What is said about vaults that are missing, and credentials that expire."""

from __future__ import annotations

import pytest

from prefs_testing import hinted


@pytest.mark.parametrize("by_option", [True, False])
def test_a_mistyped_vault_is_named(home, by_option):
  path = str(home.folder / "nowhere" / "vault")
  name, options = ("--vault", ["--vault", path]) if by_option else ("KEYCHAIN_VAULT", [])
  environment = {} if by_option else {"KEYCHAIN_VAULT": path}
  missed = home.run("get", "alice", *options, environment=environment, code=69)
  assert path in missed.error and name in hinted(missed)
  for command in "status", "doctor":
    assert "check the path" in hinted(home.run(command, *options, environment=environment))


def expiring(home) -> None:
  home.set("soon", b"x", "--service", "a", "--expires", "20d")
  home.set("later", b"x", "--service", "b", "--expires", "60d")
  home.set("never", b"x", "--service", "c")
  home.set("gone", b"x", "--service", "d", "--expires", "2020-01-01")
  home.set("long gone", b"x", "--service", "e", "--expires", "2010-01-01")


def test_doctor_counts_what_expires(home):
  home.set("never", b"x")
  nothing = home.run("doctor", "--json").json
  assert [nothing[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [0, 0, 0]
  assert b"expiry" not in home.run("doctor").out
  expiring(home)
  found = home.run("doctor", "--json").json
  assert [found[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [2, 1, 0]
  text = home.run("doctor").out.decode()
  assert "2 expired, 1 within 30 days\n" in text
  assert "run 'prefs keychain list --expiring-within 30d'" in text
  own = home.run("doctor", "--service", "a").out.decode()
  assert "0 expired, 1 within 30 days\n" in own and "list --service a --expiring-within 30d" in own


def test_doctor_unlocks_nothing_to_count(locked):
  locked.run("update", "always", "--expires", "2020-01-01")
  locked.run("lock", "--all")
  found = locked.run("doctor", "--json").json
  assert [found[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [1, 0, 2]
  assert "1 expired, 0 within 30 days; 2 items are locked" in locked.run("doctor").out.decode()
  assert locked.run("status", "--json").json["state"] == "locked"
