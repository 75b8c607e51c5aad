"""git takes its credentials from a vault: real git, and a server on this machine."""

from __future__ import annotations

import json

import pytest

from git_server import Git, GitServer
from prefs_testing import PASSPHRASE, ended


@pytest.fixture
def server(home):
  folder = home.folder / "served"
  folder.mkdir()
  with GitServer(folder) as server:
    server.add("a.git")
    yield server


@pytest.fixture
def git(home) -> Git:
  return Git(home)


def put(home, server, secret=b"secret", account="alice", *options):
  home.set(
    account, secret, "--server", "127.0.0.1", "--protocol", "http", "--port", str(server.port),
    *options)


def listed(home):
  return [(item["account"], item["path"]) for item in home.run("list", "--json").json]


def accounts(home):
  return [item["account"] for item in home.run("list", "--json").json]


def ask_for(terminal, user: str | None, password: str):
  if user is not None:
    terminal.expect("Username for .*: ")
    terminal.sendline(user)
  terminal.expect("Password for .*: ")
  terminal.sendline(password)


def test_clone_with_a_stored_password(home, server, git):
  put(home, server)
  git.run("clone", "-q", server.url("a.git"), "copy")
  assert (home.folder / "copy" / ".git").is_dir()
  assert server.given and set(server.given) == {("alice", "secret")}


def test_typed_password_is_stored_and_used_without_a_change(home, server, git):
  terminal = git.terminal("ls-remote", server.url("a.git"))
  ask_for(terminal, "alice", "secret")
  code, out = ended(terminal)
  assert code == 0 and "refs/heads/main" in out
  before = home.run("list", "--json").json
  assert [item["account"] for item in before] == ["alice"]
  assert (before[0]["server"], before[0]["port"], before[0]["protocol"]) == (
    "127.0.0.1", server.port, "http")
  home.run("list", "--json")
  assert git.run("ls-remote", server.url("a.git")) == ""
  assert home.run("list", "--json").json == before


def test_wrong_password_is_erased_and_asked_for(home, server, git):
  put(home, server, b"wrong")
  assert "Authentication failed" in git.run("ls-remote", server.url("a.git"), code=128)
  assert listed(home) == []
  put(home, server, b"wrong")
  terminal = git.terminal("ls-remote", server.url("a.git"))
  code, out = ended(terminal)
  assert code == 128 and "Authentication failed" in out, "git asks in the next call"
  terminal = git.terminal("ls-remote", server.url("a.git"))
  ask_for(terminal, "alice", "secret")
  assert ended(terminal)[0] == 0
  assert git.run("ls-remote", server.url("a.git")) == ""


def test_password_that_was_renewed_at_the_server(home, server, git):
  put(home, server)
  git.run("ls-remote", server.url("a.git"))
  server.accounts = {None: {("alice", "renewed")}}
  git.run("ls-remote", server.url("a.git"), code=128)
  terminal = git.terminal("ls-remote", server.url("a.git", "alice"))
  ask_for(terminal, None, "renewed")
  assert ended(terminal)[0] == 0
  git.run("ls-remote", server.url("a.git"))
  assert listed(home) == [("alice", "")]


def test_a_mistyped_user_does_not_erase_a_token_for_every_user(home, server, git):
  put(home, server, b"secret", "")
  terminal = git.terminal("ls-remote", server.url("a.git"))
  terminal.expect("Username for .*: ")
  terminal.sendline("alcie")
  code, out = ended(terminal)
  assert code == 128 and "Authentication failed" in out and "which stays" in out
  assert listed(home) == [("", "")]
  git.run("ls-remote", server.url("a.git", "alice"))


def test_one_path_that_is_refused_does_not_erase_the_password_of_all(home, server, git):
  server.add("b.git")
  server.accounts = {"a.git": {("alice", "secret")}, "b.git": {("bob", "2")}}
  put(home, server)
  sent = ["credential.useHttpPath=true"]
  refused = git.run("ls-remote", server.url("b.git"), code=128, settings=sent)
  assert "Authentication failed" in refused and "which stays" in refused
  git.run("ls-remote", server.url("a.git"), settings=sent)
  assert ("alice", "") in listed(home)


def test_path_is_used_if_git_sends_it(home, server, git):
  server.add("b.git")
  server.accounts = {"a.git": {("alice", "1")}, "b.git": {("bob", "2")}}
  put(home, server, b"1", "alice", "--path", "a.git")
  put(home, server, b"2", "bob", "--path", "b.git")
  for name in "a.git", "b.git":
    git.run("ls-remote", server.url(name), settings=["credential.useHttpPath=true"])
  assert server.given[0] == ("alice", "1") and server.given[-1] == ("bob", "2")
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "2 credentials match" in refused and "'bob' of server" in refused
  assert len(listed(home)) == 2


def test_user_in_the_url(home, server, git):
  server.accounts = {None: {("bob", "2")}}
  put(home, server, b"1", "alice")
  put(home, server, b"2", "bob")
  git.run("ls-remote", server.url("a.git", "bob"))
  # git tries the user of the URL without a password first.
  assert set(server.given) == {("bob", ""), ("bob", "2")}
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "2 credentials match" in refused and "credential.https://HOST.username" in refused
  git.run("ls-remote", server.url("a.git"), settings=[f"credential.http://{server.host}.username=bob"])
  assert len(listed(home)) == 2
  assert "could not read Password" in git.run("ls-remote", server.url("a.git", "carol"), code=128)


@pytest.mark.parametrize("url", [
  "http://127.0.0.1:{port}%0ahost=example.com/a.git",
  "http://%0ahost=example.com%0a@127.0.0.1:{port}/a.git",
  "http:///a.git", "http://@/a.git", "http://alice%0d@127.0.0.1:{port}/a.git",
  "http://example.com%2f@127.0.0.1:{port}/a.git", "http://example.com:443@127.0.0.1:{port}/a.git",
  "http://127.0.0.1:{port}#@example.com/a.git"])
def test_hostile_urls_get_no_password_of_another_server(home, server, git, url):
  home.set("alice", b"for example.com", "--server", "example.com", "--protocol", "http")
  home.set("alice", b"for example.com", "--server", "example.com", "--protocol", "https")
  git.run("ls-remote", url.format(port=server.port), code=128)
  assert all(password != "for example.com" for _, password in server.given)


def test_the_second_helper_of_a_chain_is_asked_and_both_store(home, server, git):
  other = home.folder / "other.sh"
  other.write_text(
    "#!/bin/sh\ncat >> requests\nif [ $1 = get ]; then echo username=alice; echo password=secret; fi\n")
  other.chmod(0o700)
  git.run("ls-remote", server.url("a.git"), settings=[f"credential.helper={other}"])
  assert listed(home) == [("alice", "")]
  (home.folder / "requests").unlink()
  git.run("ls-remote", server.url("a.git"), settings=[f"credential.helper={other}"])
  assert b"password=secret" in (home.folder / "requests").read_bytes(), "the other one stores, too"


def test_absent_is_silence(home, server, git):
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "prefs:" not in refused and "terminal prompts disabled" in refused


def lock_away(home, server):
  home.run("unlock", *home.passphrase())
  put(home, server)
  home.run("lock", "--all")


def test_locked_stops_git(locked, server):
  git = Git(locked)
  assert "prefs: error" not in git.run("ls-remote", server.url("a.git"), code=128), "it is absent"
  lock_away(locked, server)
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "told us to quit" in refused and "prefs: error: " in refused and "locked" in refused
  assert "hint: " in refused and server.given == []


def test_passphrase_is_asked_for_unless_git_must_not_ask(locked, server):
  lock_away(locked, server)
  git = Git(locked)
  for no in "0", "00", "No":
    terminal = git.terminal("ls-remote", server.url("a.git"), GIT_TERMINAL_PROMPT=no)
    code, out = ended(terminal)
    assert code == 128 and "told us to quit" in out and "passphrase of" not in out.split("error")[0]
  terminal = git.terminal("ls-remote", server.url("a.git"))
  terminal.expect("assphrase.*: ")
  terminal.sendline(PASSPHRASE.decode())
  code, out = ended(terminal)
  assert code == 0 and "refs/heads/main" in out


def test_passphrase_typed_for_a_locked_vault_is_not_kept(locked, server):
  terminal = Git(locked).terminal("ls-remote", server.url("a.git"), KEYCHAIN_NO_PROMPT="1")
  ask_for(terminal, "alice", "secret")
  code, out = ended(terminal)
  assert code == 0 and "refs/heads/main" in out and "is locked" in out
  locked.run("unlock", *locked.passphrase())
  assert "alice" not in accounts(locked)


def test_typed_secret_is_kept_if_the_passphrase_is_given(locked, server):
  terminal = Git(locked).terminal("ls-remote", server.url("a.git"))
  ask_for(terminal, "alice", "secret")
  terminal.expect("assphrase.*: ")
  terminal.sendline(PASSPHRASE.decode())
  assert ended(terminal)[0] == 0
  assert "alice" in accounts(locked)


def test_expired_password_is_not_sent(home, server, git):
  put(home, server, b"secret", "alice", "--expires", "2020-01-01")
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "could not read Password" in refused and server.given == []
  assert refused.startswith("prefs: the password of ") and "has expired\nprefs: hint: " in refused
  terminal = git.terminal("ls-remote", server.url("a.git"))
  ask_for(terminal, None, "secret")
  assert ended(terminal)[0] == 0
  assert "expires" not in json.dumps(home.run("list", "--json").json[0])


def test_damaged_items_stop_git(home, server, git):
  put(home, server)
  home.spoil_secrets()
  refused = git.run("ls-remote", server.url("a.git"), code=128)
  assert "told us to quit" in refused and "damaged" in refused and server.given == []


def test_desktop_keyring_that_is_gone_stops_git(home, server, git):
  refused = git.run(
    "ls-remote", server.url("a.git"), code=128, KEYCHAIN_STORE="secret-service",
    DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent")
  assert "told us to quit" in refused and "prefs: error: " in refused and server.given == []


def exchange(home, operation, *lines, code=0, **options):
  text = "".join(line + "\n" for line in lines).encode()
  return home.run("git-credential", operation, input=text, code=code, **options)


def test_a_wrong_setting_stops_git(home, server):
  """What is typed could not be stored, and the setting would be asked about in each call."""
  for wrong in ("--unknown",), ("--passphrase-fd", "0"), ("--deadline", "soon"):
    refused = Git(home, *wrong).run("ls-remote", server.url("a.git"), code=128)
    assert "told us to quit" in refused and "prefs: error: " in refused
    assert exchange(home, *wrong, "store", code=64).out == b""


def test_with_paths_and_several_accounts_an_answer_is_stored_for_its_path(home, server, git):
  """Else git asks in each call, although the answer is right."""
  server.accounts = {None: {("alice", "1"), ("bob", "2")}}
  put(home, server, b"1", "alice")
  put(home, server, b"2", "bob")
  sent = ["credential.useHttpPath=true"]
  terminal = git.terminal("ls-remote", server.url("a.git"), settings=sent)
  ask_for(terminal, "bob", "2")
  assert ended(terminal)[0] == 0
  assert listed(home) == [("alice", ""), ("bob", ""), ("bob", "a.git")]
  before = home.run("list", "--json").json
  git.run("ls-remote", server.url("a.git"), settings=sent)
  assert server.given[-1] == ("bob", "2") and home.run("list", "--json").json == before


def test_request_that_does_not_end_is_not_waited_for(home):
  with home.start("git-credential", "get", "--deadline", "300ms", stdin=-1) as process:
    process.stdin.write(b"protocol=https\n")
    process.stdin.flush()
    assert process.wait(timeout=20) == 75
    assert process.stdout.read() == b"quit=1\n"


def test_an_empty_line_ends_a_request(home):
  put_server = ("protocol=https", "host=h", "username=a", "password=b")
  exchange(home, "store", *put_server)
  with home.start("git-credential", "get", stdin=-1) as process:
    process.stdin.write(b"protocol=https\nhost=h\n\n")
    process.stdin.flush()
    assert process.wait(timeout=20) == 0
    assert process.stdout.read() == b"username=a\npassword=b\n"


def test_closed_output_is_an_error(home):
  exchange(home, "store", "protocol=https", "host=h", "username=a", "password=b")
  refused = exchange(home, "get", "protocol=https", "host=h", code=74, through=[
    "sh", "-c", 'exec "$@" >&-', "sh"])
  assert "standard output" in refused.error or "write" in refused.error


def test_called_by_the_helpers_name(home, server, git):
  put(home, server)
  folder = home.folder / "bin"
  folder.mkdir()
  (folder / "git-credential-prefs").symlink_to(home.program)
  git.run(
    "ls-remote", server.url("a.git"), settings=["credential.helper=", "credential.helper=prefs"],
    PATH=f"{folder}:{home.environment['PATH']}")
  assert set(server.given) == {("alice", "secret")}


def test_interrupted_question_stops_git(locked, server):
  lock_away(locked, server)
  terminal = Git(locked).terminal("ls-remote", server.url("a.git"))
  terminal.expect("assphrase.*: ")
  terminal.sendintr()
  code, out = ended(terminal)
  assert code != 0 and "Username for" not in out and server.given == []


def test_question_ends_at_the_deadline(locked, server):
  lock_away(locked, server)
  terminal = Git(locked, "--deadline", "1s").terminal("ls-remote", server.url("a.git"))
  terminal.expect("assphrase.*: ")
  code, out = ended(terminal)
  assert code == 128 and "told us to quit" in out and "in time" in out
