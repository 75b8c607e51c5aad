"""Exports and imports as people and scripts make them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import sample_export
from export_content import Content, ExportedItem
from export_reader import read_export, report
from prefs_testing import FIXTURES, LIMIT, LITTLE_MEMORY, PASSPHRASE, ended, hinted
from sample_vault import generic
from test_disks import mounted

EXPORT_PASSPHRASE = b"a passphrase for the way"
MEBIBYTE = 1 << 20


def given(home, value: bytes = EXPORT_PASSPHRASE) -> tuple[str, str]:
  return "--export-passphrase-file", home.file(f"pass-{value.hex()[:32]}", value + b"\n")


def export(home, name: str = "moved.export", *options: str) -> str:
  home.run("export", name, *given(home), *options, through=LITTLE_MEMORY)
  return str(home.folder / name)


def names(home) -> set[str]:
  return {item["account"] for item in home.run("list", "--all-groups", "--json").json}


def test_credentials_move_to_another_machine(make_home):
  one, other = make_home(), make_home()
  one.set("alice", b"\0secret\n", "--label", "L", "--expires", "2099-01-01", "--attribute", "a=b")
  one.set("bob", b"", "--allow-empty", "--access-group", "team", "--accessibility", "always")
  one.set("stays", b"x", "--accessibility", "whenUnlockedThisDeviceOnly")
  made = one.run("export", "moved.export", *given(one), through=LITTLE_MEMORY)
  assert "exported 2 items" in made.error and "1 item stays behind" in made.error
  assert made.out == b""
  path = one.folder / "moved.export"
  assert path.stat().st_mode & 0o777 == 0o600
  taken = other.run("import", str(path), *given(other))
  assert "created the vault" in taken.error and "imported 2 items" in taken.error
  assert other.get("alice") == b"\0secret\n"
  assert other.get("bob", "--access-group", "team") == b""
  before = one.run("show", "alice", "--json").json
  after = other.run("show", "alice", "--json").json
  assert before | {"version": 0} == after | {"version": 0}
  other.run("verify")
  again = other.run("import", str(path), *given(other), "--json")
  assert again.json == {
    "added": 0, "differing": [], "dryRun": False, "leftAlone": 0, "leftOut": 1, "overwritten": 0,
    "unchanged": 2}


def test_long_items_are_named_and_nothing_is_imported(home):
  texts = {"short": 65536 - len("sshort"), "long": 65537 - len("slong"), "longer": 1_000_000}
  items = tuple(
    ExportedItem(0, generic("s", account, comment="c" * count), b"secret")
    for account, count in texts.items())
  path = home.file("x", sample_export.make_export(Content(0, 0, items).encoded()))
  options = given(home, sample_export.PASSPHRASE)
  for more in (["--dry-run"], [], ["--overwrite"]):
    refused = home.run("import", path, *options, *more, code=79)
    assert "2 credentials have more than 65536 bytes" in refused.error
    assert "'long' of service 's'; 'longer' of service 's'" in refused.error
    assert "'short'" not in refused.error and "secret" not in refused.error.replace("as a secret", "")
  assert not home.vault.exists()
  path = home.file("y", sample_export.make_export(Content(0, 0, items[:1]).encoded()))
  assert "imported 1 item" in home.run("import", path, *options).error


def test_an_empty_pipe_is_named(home):
  refused = home.run("import", "-", *given(home), input=b"", code=65)
  assert "standard input is empty" in refused.error
  refused = home.run("import", home.file("nothing", b""), *given(home), code=65)
  assert "nothing is empty" in refused.error


def test_existing_items_stay_unless_overwritten(home):
  home.set("alice", b"old", "--service=s")
  home.set("bob", b"same", "--service=s")
  path = export(home)
  home.set("alice", b"newer", "--service=s")
  home.run("delete", "bob", "--service=s")
  tried = home.run("import", path, *given(home), "--dry-run", "--json")
  assert tried.json["dryRun"] and tried.json["added"] == 1 and tried.json["leftAlone"] == 1
  assert tried.json["differing"] == [
    {"kind": "genericPassword", "accessGroup": "", "account": "alice", "service": "s"}]
  assert "would be left alone: 'alice' of service 's'" in tried.error
  assert names(home) == {"alice"} and home.get("alice", "--service=s") == b"newer"
  taken = home.run("import", path, *given(home))
  assert "imported 1 item; 1 left alone" in taken.error and "--overwrite" in hinted(taken)
  assert "prefs: left alone: 'alice' of service 's'" in taken.error
  assert home.get("alice", "--service=s") == b"newer"
  taken = home.run("import", path, *given(home), "--overwrite", "--json")
  assert taken.json["overwritten"] == 1 and taken.json["unchanged"] == 1
  assert home.get("alice", "--service=s") == b"old"
  assert home.run("export", "second.export", *given(home), "--json").json == {
    "file": "second.export", "items": 2, "leftOut": 0}


@pytest.mark.parametrize("name", ["export1-swift", "export1-python"])
def test_old_export_is_always_importable(home, name):
  expected = json.loads((FIXTURES / f"{name}.expected.json").read_text("utf-8"))
  options = ("--export-passphrase-file",
             home.file("pass", (FIXTURES / "test-export-passphrase").read_bytes()))
  home.run("import", str(FIXTURES / f"{name}.pkexport"), *options)
  home.run("export", "again", *options)
  again = report(
    read_export((home.folder / "again").read_bytes(), sample_export.PASSPHRASE), True)
  assert again["items"] == expected["items"] and len(again["items"]) > 10
  assert again["left-out"] == 0


def test_services_are_exported_alone(make_home):
  one, other = make_home(), make_home()
  for account, service in ("alice", "web"), ("bob", "web"), ("carol", "mail"), ("dave", "other"):
    one.set(account, b"x", "--service", service)
  one.set("erin", b"x", "--server", "example.org")
  one.set("stays", b"x", "--service", "web", "--accessibility", "whenUnlockedThisDeviceOnly")
  made = one.run("export", "some", "--service", "web", "--service", "mail", "--server", "example.org",
                 *given(one))
  assert "exported 4 items" in made.error and "1 item stays behind" in made.error
  other.run("import", str(one.folder / "some"), *given(other))
  assert names(other) == {"alice", "bob", "carol", "erin"}
  # Nobody is asked for a passphrase of an export that would lack what was named.
  for options in (["--service", "web", "--service", "typo"], ["--server", "typo"]):
    refused = one.run("export", "none", *options, code=44)
    assert "typo" in refused.error and "prefs keychain list" in hinted(refused)
  assert not (one.folder / "none").exists()


def test_through_a_pipe(make_home):
  one, other = make_home(), make_home()
  secret = os.urandom(300_000)
  one.set("alice", secret)
  sender = one.start("export", "-", *given(one), through=LITTLE_MEMORY)
  taken = other.run("import", "-", *given(other), stdin=sender.stdout)
  sender.communicate(timeout=LIMIT)
  assert sender.returncode == 0 and "imported 1 item" in taken.error
  assert other.get("alice") == secret
  # The same from a file as standard input, and by descriptors.
  path = export(one)
  read, write = os.pipe()
  os.write(write, EXPORT_PASSPHRASE)
  os.close(write)
  with open(path, "rb") as file:
    other.run("import", "-", "--export-passphrase-fd", str(read), stdin=file, pass_fds=[read])
  os.close(read)


def test_a_pipe_that_ends_early_changes_nothing(home):
  home.set("alice", os.urandom(200_000))
  whole = home.run("export", "-", *given(home), through=LITTLE_MEMORY).out
  home.run("delete", "alice")
  before = home.vault.read_bytes()
  for part in (whole[:-1], whole[:100_000], whole[:130], whole + b"\n"):
    home.run("import", "-", *given(home), input=part, code=65)
  assert home.vault.read_bytes() == before
  home.run("import", "-", *given(home), input=whole)
  assert sorted(os.listdir(home.state)) == ["choice.lock", "device.key", "kdf.lock", "seen", "stores"]


def test_what_is_refused(home):
  home.set("alice", b"x")
  path = export(home)
  again = home.run("export", path, *given(home), code=75)
  assert "exists already" in again.error
  refused = home.run("import", path, *given(home, b"wrong"), code=78)
  assert "passphrase" in refused.error and "wrong" not in refused.error
  for name, contents in (("empty", b""), ("stranger", b"x" * 500)):
    refused = home.run("import", home.file(name, contents), *given(home), code=65)
    assert "not an export" in refused.error and "prefs keychain export" in hinted(refused)
  # Somebody who restores a backup may well try this first.
  home.run("backup", "copy.db")
  refused = home.run("import", "copy.db", *given(home), code=65)
  assert "is a vault" in refused.error and "accept-restored" in hinted(refused)
  home.run("import", "missing", *given(home), code=74)
  home.run("export", "missing/x", *given(home), code=74)
  home.run("export", "other", *given(home, b""), code=79)
  home.run("export", "other", code=64)
  home.run("import", path, code=64)
  home.run("export", "-", "--json", *given(home), code=64)
  home.run("import", "-", "--export-passphrase-fd", "0", input=b"", code=64)
  home.run("export", "x", *given(home), "--export-passphrase-fd", "5", code=64)
  home.run(
    "export", "x", "--passphrase-fd", "5", "--export-passphrase-fd", "5", code=64)
  made = {name for name in os.listdir(home.folder) if "export" in name or name in ("x", "other")}
  assert made == {"moved.export"}


def test_without_a_vault(home):
  refused = home.run("export", "x", *given(home), code=69)
  assert "no vault" in refused.error
  assert not (home.folder / "x").exists() and not home.vault.exists()
  path = home.file("x", sample_export.make_export(sample_export.make_content().encoded()))
  options = given(home, sample_export.PASSPHRASE)
  home.run("import", path, *options, "--dry-run")
  home.run("import", path, *given(home, b"wrong"), code=78)
  assert not home.vault.exists()
  home.run("import", path, *options)
  home.run("verify")


def test_a_locked_vault(locked):
  refused = locked.run("export", "x", *given(locked), code=77)
  assert "unlock" in hinted(refused) and not (locked.folder / "x").exists()
  locked.run("export", "x", *given(locked), *locked.passphrase(b"wrong"), code=78)
  path = export(locked, "x", *locked.passphrase())
  locked.run("import", path, *given(locked), code=77)
  taken = locked.run("import", path, *given(locked), *locked.passphrase())
  assert "3 there already" in taken.error


def test_a_damaged_vault_is_not_exported(home):
  home.set("alice", b"x")
  home.set("bob", b"x")
  home.spoil_secrets(1)
  refused = home.run("export", "x", *given(home), code=65)
  assert "not intact" in refused.error and "verify" in hinted(refused)
  assert home.run("export", "-", *given(home), code=65).out == b""
  assert not [name for name in os.listdir(home.folder) if name.startswith("x")]


def test_questions_on_a_terminal(home):
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  home.run("lock", "--all")
  terminal = home.terminal("export", "moved.export")
  # First what unlocks the vault, then what will open the export.
  terminal.expect("passphrase of .*/vault: ")
  terminal.sendline(PASSPHRASE.decode())
  for question in ("new passphrase of the export: ", "again: "):
    terminal.expect_exact(question)
    terminal.sendline(EXPORT_PASSPHRASE.decode())
  code, shown = ended(terminal)
  assert code == 0 and "exported 1 item" in shown and EXPORT_PASSPHRASE.decode() not in shown
  # Nobody chooses a passphrase for what cannot be made.
  assert ended(home.terminal("export", "moved.export"))[0] == 75
  home.run("delete", "alice")
  terminal = home.terminal("import", "moved.export")
  terminal.expect_exact("passphrase of the export: ")
  terminal.sendline(EXPORT_PASSPHRASE.decode())
  assert ended(terminal)[0] == 0
  assert home.get("alice") == b"secret"


def test_short_passphrase_is_reported(home):
  home.set("alice", b"1")
  for passphrase, is_short in (b"hello", True), (b"a longer one", False):
    path = home.folder / "export.pass"
    path.write_bytes(passphrase)
    path.chmod(0o600)
    made = home.run(
      "export", f"{len(passphrase)}.export", "--export-passphrase-file", str(path), through=LITTLE_MEMORY)
    assert ("the passphrase of the export is short" in made.error) == is_short


def test_no_export_on_a_terminal(home):
  home.set("alice", b"secret")
  code, shown = ended(home.terminal("export", "-", *given(home)))
  assert code == 79 and "not written to a terminal" in shown
  code, shown = ended(home.terminal("import", "-", *given(home)))
  assert code == 79 and "not read from a terminal" in shown


def test_a_full_disk_leaves_nothing(home, mounting):
  home.set("alice", os.urandom(3 * MEBIBYTE))
  with mounted(home.folder / "small", "1m") as small:
    refused = home.run("export", str(small / "x.export"), *given(home), code=74)
    assert "no space" in refused.error and "free some space" in hinted(refused)
    assert list(small.iterdir()) == []


def test_an_import_that_does_not_fit_changes_nothing(make_home, mounting):
  one, other = make_home(), make_home()
  one.set("alice", os.urandom(3 * MEBIBYTE))
  path = export(one)
  with mounted(other.folder / "data", "1m"):
    other.set("bob", b"x")
    before = other.vault.read_bytes()
    refused = other.run("import", path, *given(other), code=74)
    assert "full" in refused.error
    # The next program that opens the vault takes back the written part of the import.
    other.run("verify")
    assert other.vault.read_bytes() == before and names(other) == {"bob"}


def peak(home, *arguments: str, before: str = "pass") -> int:
  """The most memory that a command took, in bytes.

  A small process starts it: what a large one forks begins with the peak of its parent.
  """
  report = home.folder / "peak"
  home.run(*arguments, through=[
    sys.executable, "-c",
    f"import resource, subprocess, sys\n{before}\n"
    "code = subprocess.run(sys.argv[2:]).returncode\n"
    "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
    "open(sys.argv[1], 'w').write(str(peak))\nsys.exit(code)", str(report)])
  return int(report.read_text()) * 1024


def items(count: int) -> bytes:
  secret = os.urandom(MEBIBYTE)
  content = Content(0, 0, tuple(
    ExportedItem(0, generic("s", str(number)), secret) for number in range(count)))
  return sample_export.make_export(content.encoded())


def test_memory_does_not_grow_with_the_vault(make_home):
  """But for an import, which holds what it adds until all of it was read."""
  small, large = make_home(), make_home()
  peaks = {}
  for home, count in ((small, 2), (large, 160)):
    given_export = home.file("given.export", items(count))
    options = given(home, sample_export.PASSPHRASE)
    # More than the hash of this export takes, which hides less.
    peaks["import", count] = peak(home, "import", given_export, *options)
    peaks["rehearsal", count] = peak(home, "import", given_export, *options, "--dry-run")
    # The hash of a new export would hide it, were the address space not so small that a cheaper one
    # is taken.
    peaks["export", count] = peak(
      home, "export", "made.export", *options,
      before=f"resource.setrlimit(resource.RLIMIT_AS, ({300 * MEBIBYTE},) * 2)")
  assert peaks["import", 160] < peaks["import", 2] + (160 + 16) * MEBIBYTE, peaks
  assert peaks["rehearsal", 160] < peaks["rehearsal", 2] + 16 * MEBIBYTE, peaks
  assert peaks["rehearsal", 160] < 120 * MEBIBYTE, peaks
  assert peaks["export", 160] < peaks["export", 2] + 16 * MEBIBYTE, peaks
  assert peaks["export", 160] < 120 * MEBIBYTE, peaks


def test_killed_in_the_middle(home):
  """A complete vault is left, and no export with that name."""
  for number in range(30):
    home.set(f"k{number}", os.urandom(50_000))
  whole = export(home)
  for number in range(6):
    target = home.folder / f"killed-{number}.export"
    process = home.start("export", str(target), *given(home))
    try:
      process.wait(0.15 * (number + 1))
    except subprocess.TimeoutExpired:
      process.kill()
    process.communicate()
    if target.exists():
      tried = home.run("import", str(target), *given(home), "--dry-run", "--json").json
      assert tried["unchanged"] == 30
  # Nor is there a part of one under another name.
  assert {path.suffix for path in home.folder.iterdir() if path.is_file()} <= {".export", ""}
  home.run("verify")
  assert home.run("import", whole, *given(home), "--json").json["unchanged"] == 30


def test_a_folder_by_another_name(home):
  home.set("alice", b"x")
  (home.folder / "stick").mkdir()
  (home.folder / "link").symlink_to("stick")
  export(home, "link/moved.export")
  assert home.run("import", "stick/moved.export", *given(home), "--json").json["unchanged"] == 1


def test_other_files_are_not_exports(home):
  """Nobody is asked for the passphrase of a file that is none."""
  for name, text in (("a.csv", b"name,password\n"), ("b", b"machine a login b password c\n")):
    home.file(name, text)
    refused = home.run("import", name, code=65)
    assert "not an export" in refused.error and "--format netrc" in hinted(refused)
