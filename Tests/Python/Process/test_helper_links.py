"""Links by which clients find the program: made, listed, removed, and never foreign ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LINKS = ("docker-credential-prefs", "git-credential-prefs")


@pytest.fixture
def folder(home) -> Path:
  """A folder in PATH in front of all others."""
  folder = home.folder / "bin"
  folder.mkdir()
  home.environment["PATH"] = f"{folder}:{home.environment['PATH']}"
  return folder


def listed(home, helper: str) -> dict:
  return next(
    entry for entry in home.run("helpers", "list", "--json").json if entry["helper"] == helper)


def call(home, link: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess:
  return subprocess.run(
    [link, *words], input=given, env=home.environment, capture_output=True, timeout=60)


def test_links_lead_to_the_program_and_answer(home, folder):
  outcome = home.run("helpers", "install", "--folder", str(folder))
  for name in LINKS:
    assert os.path.samefile(folder / name, home.program)
  assert b"credential.helper prefs" in outcome.out
  assert b'"credsStore": "prefs"' in outcome.out
  assert b"--netrc-file @netrc@" in outcome.out
  assert call(home, folder / LINKS[0], "version").stdout.startswith(b"docker-credential-prefs (")
  assert call(home, folder / LINKS[1], "capability").stdout.startswith(b"version 0\n")


def test_a_helper_alone_is_installed_and_removed(home, folder):
  outcome = home.run("helpers", "install", "docker", "--folder", "bin")
  assert b"git" not in outcome.out and b"SwiftPM" not in outcome.out
  assert [path.name for path in folder.iterdir()] == [LINKS[0]]
  home.run("helpers", "remove", "git", "--folder", str(folder))
  home.run("helpers", "remove", "docker", "--folder", str(folder))
  assert list(folder.iterdir()) == []


def test_installing_again_changes_nothing(home, folder):
  home.run("helpers", "install", "--folder", str(folder))
  before = {path: os.lstat(path).st_mtime_ns for path in folder.iterdir()}
  home.run("helpers", "install", "--folder", f"{folder}/")
  assert {path: os.lstat(path).st_mtime_ns for path in folder.iterdir()} == before


def unread(path: Path) -> tuple[int, ...]:
  """What looking at a file leaves as it is."""
  status = os.lstat(path)
  return status.st_ino, status.st_mode, status.st_ctime_ns


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "folder"])
def test_foreign_files_are_neither_replaced_nor_removed(home, folder, kind):
  path = folder / LINKS[1]
  if kind == "file":
    path.write_text("mine")
  elif kind == "link":
    path.symlink_to("/bin/true")
  elif kind == "dangling":
    path.symlink_to("/nowhere/else")
  else:
    path.mkdir()
  before = unread(path)
  for command in ("install", "remove"):
    outcome = home.run("helpers", command, "--folder", str(folder), code=79)
    assert f"'{path}' is not a link to this program" in outcome.error
    assert unread(path) == before
  # Nothing was done before the refusal.
  assert [path.name for path in folder.iterdir()] == [LINKS[1]]


def test_the_folder_is_made(home):
  folder = home.folder / "new" / "bin"
  outcome = home.run("helpers", "install", "--folder", str(folder))
  assert (folder / LINKS[0]).is_symlink()
  assert f"{folder} is not in PATH" in outcome.error


def test_an_earlier_program_of_the_name_is_reported(home, folder):
  (folder / LINKS[0]).write_text("#!/bin/sh\n")
  (folder / LINKS[0]).chmod(0o755)
  later = home.folder / "later"
  later.mkdir()
  home.environment["PATH"] += f":{later}"
  outcome = home.run("helpers", "install", "docker", "--folder", str(later))
  assert f"{folder / LINKS[0]} comes earlier in PATH" in outcome.error


def test_links_lie_next_to_the_program_if_that_is_in_path(home, folder):
  """A relative link: both can be moved together, and an update replaces the program."""
  program = folder / "prefs"
  shutil.copy(home.program, program)
  home.program = str(program)
  home.run("helpers", "install")
  assert os.readlink(folder / LINKS[0]) == "prefs"
  program.rename(folder / "old")
  shutil.copy(folder / "old", program)
  assert call(home, folder / LINKS[0], "version").returncode == 0


def test_a_link_whose_program_moved_is_broken_and_mended(home, folder):
  first = home.folder / "first"
  first.mkdir()
  shutil.copy(home.program, first / "prefs")
  original, home.program = home.program, str(first / "prefs")
  home.run("helpers", "install", "docker", "--folder", str(folder))
  home.program = original
  shutil.rmtree(first)
  assert listed(home, "docker")["state"] == "broken"
  home.run("helpers", "install", "docker", "--folder", str(folder))
  assert os.path.samefile(folder / LINKS[0], original)


def test_the_list_says_what_is_set_up(home, folder):
  assert listed(home, "docker") == {
    "helper": "docker", "state": "missing", "link": listed(home, "docker")["link"], "inPath": False,
    "configuredBy": []}
  home.run("helpers", "install", "--folder", str(folder))
  docker = home.folder / ".docker" / "config.json"
  docker.parent.mkdir()
  docker.write_text(json.dumps({"credHelpers": {"registry.example.com": "prefs"}}))
  subprocess.run(
    ["git", "config", "--global", "credential.https://example.com.helper", "prefs"],
    env=home.environment, check=True)
  assert listed(home, "docker") == {
    "helper": "docker", "state": "installed", "link": str(folder / LINKS[0]), "inPath": True,
    "configuredBy": [str(docker)], "works": True}
  assert listed(home, "git")["configuredBy"] == ["credential.https://example.com.helper"]
  text = home.run("helpers", "list").out.decode().splitlines()
  assert text[0].split("\t") == ["docker", "installed", str(folder / LINKS[0]), str(docker)]


@pytest.mark.parametrize("value, is_ours", [
  ("prefs", True), ("!/opt/my\\ prefs/prefs keychain git-credential", True), ("store", False), ("/opt/bin/git-credential-prefs", True),
  ("!prefs keychain git-credential", True), ("!/opt/prefs keychain git-credential", True),
  ("/opt/prefs keychain git-credential", True), ("!'/my opt/prefs' keychain git-credential", True),
  ("!git-credential-prefs", True), ("!KEYCHAIN_VAULT=/v prefs keychain git-credential", True),
  ("prefs --store vault", True), ("!other keychain git-credential", False), ("", False),
  ("!prefs keychain get", False), ("/opt/git-credential-other", False), ("prefsy", False),
])
def test_settings_of_git_are_understood(home, value, is_ours):
  subprocess.run(
    ["git", "config", "--global", "credential.helper", value], env=home.environment, check=True)
  assert listed(home, "git")["configuredBy"] == (["credential.helper"] if is_ours else [])


@pytest.mark.parametrize("value, fault", [
  ("/nowhere/git-credential-prefs", "is not there or cannot be run"),
  ("OTHER/git-credential-prefs", "is another program"),
  ("!OTHER/prefs keychain git-credential", "is another program"),
  ("!prefs keychain git-credential", "is not there or cannot be run"),
  ("LINK/git-credential-prefs", None), ("PROGRAM keychain git-credential", None)])
def test_a_setting_of_git_is_not_believed(home, folder, value, fault):
  # The user may have an installed `prefs` in PATH.
  (folder / "git").symlink_to(shutil.which("git"))
  home.environment["PATH"] = str(folder)
  other, links = home.folder / "other", home.folder / "links"
  other.mkdir()
  for name in ("prefs", "git-credential-prefs"):
    (other / name).write_text("#!/bin/sh\n")
    (other / name).chmod(0o755)
  home.run("helpers", "install", "git", "--folder", str(links))
  value = value.replace("OTHER", str(other)).replace("LINK", str(links)).replace("PROGRAM", home.program)
  subprocess.run(
    ["git", "config", "--global", "credential.helper", value], env=home.environment, check=True)
  git = listed(home, "git")
  assert git["configuredBy"] == ["credential.helper"]
  assert git.get("unusable") == (["credential.helper"] if fault else None)
  text, doctor = home.run("helpers", "list").error, home.run("doctor").out.decode()
  assert (fault or "hint") in text if fault else text == ""
  assert ("names" in " ".join(doctor.split())) == bool(fault)


@pytest.mark.parametrize("text", [
  '{"credsStore": "prefs",}', '{"credsStore": "prefs"', '["prefs"]', '{ "credsStore": ', "garbage"])
def test_a_configuration_of_docker_that_is_no_json_is_reported(home, folder, text):
  home.run("helpers", "install", "--folder", str(folder))
  path = home.folder / ".docker" / "config.json"
  path.parent.mkdir()
  path.write_text(text)
  assert listed(home, "docker")["unusable"] == [str(path)]
  assert f"'{path}' is no JSON that docker reads" in home.run("helpers", "list").error
  assert "is no JSON" in " ".join(home.run("doctor").out.decode().split())
  # Docker accepts an empty file.
  for good in '{"credsStore": "prefs"}', "", "\n":
    path.write_text(good)
    assert "unusable" not in listed(home, "docker")


def test_an_empty_setting_of_git_drops_those_before_it(home):
  for value in ("prefs", ""):
    subprocess.run(
      ["git", "config", "--global", "--add", "credential.helper", value], env=home.environment,
      check=True)
  assert listed(home, "git")["configuredBy"] == []


def test_a_command_of_git_needs_no_link(home):
  subprocess.run(
    ["git", "config", "--global", "credential.helper", f"{home.program} keychain git-credential"],
    env=home.environment, check=True)
  assert b"git\tconfigured, needs no link\t" in home.run("helpers", "list").out


@pytest.mark.parametrize("text", [
  '[[registry]]\nlocation = "r"\ncredential-helpers = ["prefs"]\n',
  'credential-helpers = [] # "prefs"\n',
  'unqualified-search-registries = ["prefs"]\n',
  'short-name-mode = "credential-helpers"\nother = ["prefs"]\n',
])
def test_what_podman_ignores_is_no_setting(home, text):
  path = home.folder / ".config/containers/registries.conf"
  path.parent.mkdir(parents=True)
  path.write_text(text)
  assert listed(home, "docker")["configuredBy"] == []


def test_a_setting_of_docker_beside_a_wrong_one_is_found(home):
  path = home.folder / ".docker" / "config.json"
  path.parent.mkdir()
  path.write_text('{"credHelpers": {"r": "prefs", "s": 1}}')
  assert listed(home, "docker")["configuredBy"] == [str(path)]


@pytest.mark.parametrize("kind", ["file", "folder", "dangling"])
def test_what_clients_cannot_run_hides_no_link(home, folder, kind):
  later = home.folder / "later"
  home.environment["PATH"] += f":{later}"
  home.run("helpers", "install", "docker", "--folder", str(later))
  if kind == "file":
    (folder / LINKS[0]).write_text("mine")
  elif kind == "folder":
    (folder / LINKS[0]).mkdir()
  else:
    (folder / LINKS[0]).symlink_to("/nowhere/else")
  docker = listed(home, "docker")
  assert (docker["state"], docker["link"], docker["inPath"]) == (
    "installed", str(later / LINKS[0]), True)


def test_podman_uses_the_helper_of_docker(home, folder):
  home.run("helpers", "install", "podman", "--folder", str(folder))
  assert [path.name for path in folder.iterdir()] == [LINKS[0]]


def test_the_whole_path_of_gits_helper_is_printed(home, folder):
  outcome = home.run("helpers", "install", "git", "--folder", str(folder))
  line = f"git config --global credential.helper {folder / LINKS[1]}\n".encode()
  assert line in outcome.out


@pytest.mark.parametrize("name", [
  "$(touch ran)", "it's", "`touch ran`", "a b;touch ran", 'qu"ote', "back\\slash", "$HOME!"])
def test_printed_lines_run_nothing_but_git(home, name):
  """A person copies them into a shell, and git gives the value to another one."""
  folder = home.folder / name
  outcome = home.run("helpers", "install", "git", "--folder", str(folder))
  lines = [line for line in outcome.out.decode().splitlines() if "git config" in line]
  for shell in "sh", "bash":
    subprocess.run([shell, "-c", lines[1]], cwd=home.folder, env=home.environment, check=True)
    home.set("alice", b"secret", "--server", "h", "--protocol", "https")
    filled = subprocess.run(
      ["git", "credential", "fill"], input=b"protocol=https\nhost=h\n", cwd=home.folder,
      env=home.environment | {"GIT_TERMINAL_PROMPT": "0"}, capture_output=True, timeout=60)
    assert b"password=secret" in filled.stdout, filled
  assert not (home.folder / "ran").exists()
  assert listed(home, "git")["configuredBy"] == ["credential.helper"]
  assert "unusable" not in listed(home, "git")


def test_a_folder_that_cannot_be_printed_is_refused(home):
  refused = home.run("helpers", "install", "--folder", str(home.folder / "a\nb"), code=64)
  assert "control characters" in refused.error and not (home.folder / "a\nb").exists()


def test_a_folder_that_others_can_write_is_reported(home, folder):
  assert "other users" not in home.run("helpers", "install", "--folder", str(folder)).error
  folder.chmod(0o777)
  assert "other users can write to" in home.run("helpers", "install", "--folder", str(folder)).error


def test_what_a_stopped_installation_left_does_not_disturb(home, folder):
  (folder / LINKS[0]).symlink_to("/nowhere/prefs")
  (folder / f"{LINKS[0]}.new").write_text("left")
  home.run("helpers", "install", "docker", "--folder", str(folder))
  assert os.path.samefile(folder / LINKS[0], home.program)
  assert sorted(path.name for path in folder.iterdir()) == [LINKS[0], f"{LINKS[0]}.new"]


def test_several_installations_at_once_succeed(home, folder):
  for _ in range(5):
    (folder / LINKS[0]).unlink(missing_ok=True)
    (folder / LINKS[0]).symlink_to("/nowhere/prefs")
    running = [
      subprocess.Popen(
        [home.program, "keychain", "helpers", "install", "--quiet", "--folder", folder],
        env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
      for _ in range(6)]
    errors = [process.communicate(timeout=60)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 6, errors
    assert sorted(path.name for path in folder.iterdir()) == sorted(LINKS)


@pytest.mark.parametrize("file, text", [
  (".config/containers/registries.conf", 'credential-helpers = ["other", "prefs"]\n'),
  (".config/containers/registries.conf", "# [x]\n  credential-helpers=[ # a\n 'other',\n  'prefs'\n]\n"),
  ("config/containers/auth.json", '{"credHelpers": {"r": "prefs"}}'),
  ("runtime/containers/auth.json", '{"credHelpers": {"r": "prefs"}}'),
])
def test_settings_of_podman_are_understood(home, file, text):
  path = home.folder / file
  path.parent.mkdir(parents=True)
  path.write_text(text)
  assert listed(home, "docker")["configuredBy"] == [str(path)]
  path.write_text(text.replace("prefs", "prefix"))
  assert listed(home, "docker")["configuredBy"] == []


def test_the_doctor_reports_a_helper_that_is_configured_and_broken(home, folder):
  docker = home.folder / ".docker" / "config.json"
  docker.parent.mkdir()
  docker.write_text('{"credsStore": "prefs"}')
  outcome = home.run("doctor")
  assert "helpers install docker'" in outcome.out.decode()
  home.run("helpers", "install", "docker", "--folder", str(folder))
  outcome = home.run("doctor")
  assert "docker: installed; configured by" in " ".join(outcome.out.decode().split())
  assert b"helpers install" not in outcome.out
  assert home.run("doctor", "--json").json["helpers"][0]["state"] == "installed"


def test_the_doctor_is_silent_about_helpers_that_nobody_set_up(home):
  assert b"helper:" not in home.run("doctor").out


def test_an_unknown_helper_is_an_error(home, folder):
  home.run("helpers", "install", "npm", "--folder", str(folder), code=64)
  home.run("helpers", code=64)


@pytest.mark.parametrize("name", ["keychain", "docker-credential-other", "prefs.old", "x"])
def test_another_name_is_the_program_itself(home, folder, name):
  (folder / name).symlink_to(home.program)
  outcome = call(home, folder / name, "keychain", "docker-credential", "version")
  assert outcome.stdout.startswith(b"docker-credential-prefs (")


def test_a_process_without_a_name_is_the_program_itself(home):
  outcome = subprocess.run(
    [], executable=home.program, env=home.environment, capture_output=True, timeout=60)
  assert outcome.returncode == 64 or b"prefs" in outcome.stdout + outcome.stderr


def test_a_host_has_links_of_its_own_name(home, folder, sample_tool):
  home.program = sample_tool
  home.run("helpers", "install", "docker", "--folder", str(folder))
  link = folder / "docker-credential-mytool"
  assert call(home, link, "list").stdout == b"{}\n"
