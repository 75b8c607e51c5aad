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


def test_link_whose_program_moved_is_replaced(home, folder):
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


def test_the_doctor_reports_a_setting_that_is_of_no_use(home):
  (home.folder / ".gitconfig").write_text("[credential]\n\thelper = /nowhere/git-credential-prefs\n")
  (home.folder / ".docker").mkdir()
  (home.folder / ".docker" / "config.json").write_text("garbage")
  text = " ".join(home.run("doctor").out.decode().split())
  assert "names '/nowhere/git-credential-prefs', which is not there" in text and "is not JSON" in text


def test_the_doctor_is_silent_about_helpers_that_nobody_set_up(home):
  assert b"helper:" not in home.run("doctor").out


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
