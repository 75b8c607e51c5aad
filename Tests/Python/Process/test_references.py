"""References to credentials, which `read` prints from every kind of store."""

from __future__ import annotations

import pytest

from desktop_session import desktop, lock_keyring, secret_tool
from prefs_testing import ended, hinted

WEB = ("--server", "git.example.com", "--protocol", "https")


@pytest.fixture
def store(home):
  """A home whose credentials go into a keyring."""
  with desktop(home):
    home.environment["KEYCHAIN_STORE"] = "secret-service"
    yield home


def read(home, reference: str, *options: str, **more) -> bytes:
  return home.run("read", reference, *options, **more).out


def test_fields_of_a_credential_are_printed(store):
  secret = b"\x00hunter2\n\xff"
  store.set("alice", secret, "--service", "a/b", "--label", "Mine", "--attribute", "stage=live")
  assert read(store, "keychain://a%2Fb/alice") == secret
  assert read(store, "keychain://a%2Fb/alice?encoding=base64") == b"AGh1bnRlcjIK/w=="
  assert read(store, "KEYCHAIN://a%2Fb/alice?field=username") == b"alice"
  assert read(store, "keychain://a%2Fb/alice?field=label") == b"Mine"
  assert read(store, "keychain://a%2Fb/alice?field=attribute:stage") == b"live"
  assert "has no attribute 'x'" in store.run(
    "read", "keychain://a%2Fb/alice?field=attribute:x", code=44).error
  assert read(store, "keychain://a%2Fb/alice?field=attribute:x&optional") == b""


def test_the_service_is_the_default_one_where_it_is_empty(store):
  store.set("api", b"one")
  store.set("api", b"two", "--access-group", "team")
  assert read(store, "keychain:///api") == b"one"
  assert read(store, "keychain:///api?group=team") == b"two"
  store.run("read", "keychain:///api?group=other", code=44)


def test_internet_passwords_match_by_protocol_host_and_port(store):
  store.set("alice", b"plain", *WEB)
  store.set("bob", b"port", *WEB, "--port", "8443", "--path", "a.git")
  assert read(store, "keychain+https://git.example.com") == b"plain"
  assert read(store, "keychain+https://GIT.example.com:443") == b"plain"
  assert read(store, "keychain+https://git.example.com:8443") == b"port"
  assert read(store, "keychain+https://bob@git.example.com:8443/a.git?field=url") == (
    b"https://git.example.com:8443/a.git")
  for reference in ("keychain+http://git.example.com", "keychain+https://git.example.com:1",
                    "keychain+https://example.com", "keychain+https://eve@git.example.com",
                    "keychain+https://git.example.com:8443/b.git"):
    refused = store.run("read", reference, code=44)
    assert f"no internet password matches '{reference}'" in refused.error
    assert read(store, f"{reference}?optional") == b""
  store.set("carol", b"third", *WEB)
  ambiguous = store.run("read", "keychain+https://git.example.com?optional", code=76)
  assert "'alice'" in ambiguous.error and "'carol'" in ambiguous.error
  assert "plain" not in ambiguous.error and "third" not in ambiguous.error
  assert read(store, "keychain+https://carol@git.example.com") == b"third"


def test_absent_credential_is_not_found(store):
  store.set("alice", b"x", "--service", "s")
  absent = store.run("read", "keychain://s/alic", code=44)
  assert absent.out == b"" and "'alic' of service 's'" in absent.error
  assert "alice" in hinted(absent)
  assert read(store, "keychain://s/alic?optional&field=label") == b""


def test_an_expired_secret_is_printed_only_if_asked_for(store):
  store.set("alice", b"old", "--service", "s", "--label", "L", "--expires", "2020-01-01T00:00:00Z")
  refused = store.run("read", "keychain://s/alice?optional", code=80)
  assert refused.out == b"" and "--allow-expired" in hinted(refused)
  assert read(store, "keychain://s/alice", "--allow-expired") == b"old"
  assert read(store, "keychain://s/alice?field=username") == b"alice"


def test_a_locked_vault_is_not_an_absent_credential(locked):
  locked.set("alice", b"web", *WEB, *locked.passphrase())
  locked.run("lock", "--all")
  for reference in ("keychain:///whenUnlocked", "keychain:///whenUnlocked?optional",
                    "keychain+https://git.example.com", "keychain+https://alice@git.example.com",
                    "keychain+https://git.example.com?optional&field=label"):
    refused = locked.run("read", reference, code=77)
    assert refused.out == b"" and "locked" in refused.error
  assert read(locked, "keychain:///always") == b"always"
  assert read(locked, "keychain+https://git.example.com", *locked.passphrase()) == b"web"
  assert read(locked, "keychain:///whenUnlocked", *locked.passphrase()) == b"whenUnlocked"


def test_a_damaged_credential_is_not_an_absent_one(home):
  home.set("alice", b"x")
  home.set("alice", b"x", *WEB)
  home.spoil_secrets()
  for reference in ("keychain:///alice", "keychain:///alice?optional",
                    "keychain+https://git.example.com?optional",
                    "keychain+https://alice@git.example.com"):
    assert home.run("read", reference, code=65).out == b""


def test_a_missing_keyring_is_not_an_absent_credential(home):
  home.environment |= {"KEYCHAIN_STORE": "secret-service", "DBUS_SESSION_BUS_ADDRESS": None}
  for reference in ("keychain:///a?optional", "keychain+https://host?optional"):
    assert home.run("read", reference, code=69).out == b""


def test_a_locked_keyring_is_not_an_absent_credential(home):
  """Other programs record no store: their items are found because the keyring is looked at."""
  with desktop(home) as variables:
    home.environment["KEYCHAIN_NO_PROMPT"] = "1"
    secret_tool(
      variables, "store", "--label", "Git", "server", "host", "user", "alice", "protocol", "https",
      "port", "8443", input=b"theirs")
    reference = "keychain+https://host:8443"
    assert read(home, reference) == b"theirs"
    lock_keyring(variables)
    for text in reference, f"{reference}?optional", "keychain://s/alice?optional":
      refused = home.run("read", text, code=77)
      assert refused.out == b"" and "desktop keyring" in refused.error
      assert "--store vault" in hinted(refused)
    home.run("get", "alice", "--server", "host", code=77)
    home.run("delete", "alice", "--server", "host", code=77)
    home.run("run", "-e", f"A={reference}?optional", "--", "true", code=77)
    home.run("run", "--netrc", "host:8443", "--", "true", code=77)
    asked = home.run("git-credential", "get", input=b"protocol=https\nhost=host:8443\n\n", code=None)
    assert asked.out == b"quit=1\n" and "locked" in asked.error
    # A first credential goes to the vault, and its service is no longer looked for elsewhere.
    home.set("bob", b"x", "--service", "new")
    assert read(home, "keychain://new/bob") == b"x"
    assert read(home, "keychain://new/alice?optional") == b""
    home.run("read", "keychain://s/alice", code=77)
    home.run("read", "keychain://s/alice", "--store", "vault", code=44)


def test_an_own_item_takes_the_place_of_another_programs(home):
  with desktop(home) as variables:
    home.environment["KEYCHAIN_STORE"] = "secret-service"
    for host, more in ("one", ()), ("two", ("port", "443")), ("three", ("object", "a")):
      secret_tool(
        variables, "store", "--label", "Git", "server", host, "user", "alice", "protocol", "https",
        *more, input=b"theirs")
      assert read(home, f"keychain+https://{host}") == b"theirs"
    for host, *more in ("one",), ("two",), ("three", "--path", "/a"):
      home.set("alice", b"ours", "--server", host, "--protocol", "https", *more)
      assert read(home, f"keychain+https://{host}") == b"ours"
    for host in "one", "alice@one", "two":
      shown = home.run("run", "--netrc", host, "--", "cat", "@netrc@").out
      assert b"ours" in shown and b"theirs" not in shown
    # Another account is no copy.
    home.set("bob", b"his", "--server", "one", "--protocol", "https")
    home.run("read", "keychain+https://one", code=76)


def test_items_that_git_stored_are_matched_by_port(home):
  with desktop(home) as variables:
    home.environment["KEYCHAIN_STORE"] = "secret-service"
    for port, secret in (("", b"plain"), ("8443", b"other")):
      more = ("port", port) if port else ()
      secret_tool(
        variables, "store", "--label", "Git: https://host/", "xdg:schema", "org.git.Password",
        "user", "alice", "object", f"x{port}.git", "protocol", "https", "server", "host", *more,
        input=secret)
    assert read(home, "keychain+https://host") == b"plain"
    assert read(home, "keychain+https://alice@host") == b"plain"
    assert read(home, "keychain+https://alice@host/x.git") == b"plain"
    assert read(home, "keychain+https://host:8443") == b"other"
    assert read(home, "keychain+https://host:8443?field=url") == b"https://host:8443/x8443.git"
    home.run("read", "keychain+https://host:1", code=44)
    home.run("read", "keychain+http://alice@host", code=44)
    secret_tool(
      variables, "clear", "object", "x.git", "server", "host", "protocol", "https")
    # The keyring finds the item with the port for names without one.
    home.run("read", "keychain+https://alice@host", code=44)
    home.run("read", "keychain+https://alice@host/x8443.git", code=44)


def test_a_host_is_found_as_it_was_stored(store):
  """Stores compare bytes, and so does a lookup: in small letters, and as it is written."""
  for host in "Git.Example.com", "small.example.com":
    store.set("alice", b"secret", "--server", host, "--protocol", "https")
  for host in "Git.Example.com", "small.example.com", "SMALL.example.com":
    assert read(store, f"keychain+https://{host}") == b"secret"
    assert b"secret" in store.run("run", "--netrc", host, "--", "cat", "@netrc@").out


def test_a_message_about_an_invalid_reference_does_not_repeat_it(home):
  refused = home.run("read", "keychain://s/hunter2\n", code=64)
  assert refused.out == b"" and "reference is invalid" in refused.error
  assert "hunter2" not in refused.error


def test_secret_is_printed_as_by_get(home):
  home.set("alice", b"x", "--service", "s")
  assert read(home, "keychain://s/alice", "--newline", "always") == b"x\n"
  assert read(home, "keychain://s/alice", "--output", "file") == b""
  assert (home.folder / "file").read_bytes() == b"x"
  home.run("read", "keychain://s/alice", "--output", "file", code=75)
  read(home, "keychain://s/alice?field=label&optional", "--output", "file", "--overwrite")
  assert (home.folder / "file").read_bytes() == b""
  code, shown = ended(home.terminal("read", "keychain://s/alice"))
  assert (code, shown) == (0, "x\r\n")
