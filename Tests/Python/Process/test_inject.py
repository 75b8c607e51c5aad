"""`inject`: templates with secrets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from prefs_testing import ROOT, Home


@pytest.fixture
def vault(home: Home) -> Home:
  home.set("token", b"s3{{ keychain://s/token }}", "--service", "s")
  return home


def test_real_readers_read_what_was_stored(vault):
  secret = "a'b\"c\\d$(e)`f` {x}: #%&\n\t\x7f\u0085\u2028\ufeff\ufffeü😀 \\"
  vault.set("hard", secret.encode(), "--service", "s")
  readers = {
    "json": (
      '{"a": {{ R | json }}, "b": "pre {{ R | json }} post"}', json.loads),
    "yaml": (
      'a: {{ R | yaml }}\nb: "pre {{ R | yaml }} post"\n', yaml.safe_load),
    "shell": (
      "a={{ R | shell }}\nb='pre '{{ R | shell }}\" post\"\nc='pre {{ R | shell }} post'\n"
      'd="pre {{ R | shell }} post"\n', sourced),
    "url": (
      "https://h/?b=pre%20{{ R | url }}%20post&a={{R|url}}",
      lambda text: {name: value for name, [value] in parse_qs(urlsplit(text).query).items()})}
  for form, (text, read) in readers.items():
    template = vault.file("in", text.replace("R", "keychain://s/hard").encode())
    found = read(vault.run("inject", template).out.decode())
    assert found.pop("a") == secret, form
    assert found and all(value == f"pre {secret} post" for value in found.values()), form


def sourced(text: str) -> dict[str, str]:
  """The variables that a shell sets."""
  out = subprocess.run(
    ["sh", "-c", f'{text}\nprintf "%s\\0" "$a" "$b" "$c" "$d"'], capture_output=True, check=True).stdout
  return dict(zip("abcd", out.decode().split("\0")))


def test_nothing_is_written_if_a_reference_fails(vault):
  for text, code, place in [
      (b"{{ keychain://s/token }}\n {{ keychain://s/nobody }}", 44, "line 2, column 2"),
      (b"{{ .Values.x }}", 65, "line 1, column 1"), (b"\n{{", 65, "line 2, column 1"),
      (b"{{ keychain:s3cret }}", 64, "line 1, column 1")]:
    template = vault.file("in", text)
    outcome = vault.run("inject", template, "--output", "out", code=code)
    assert place in outcome.error and "s3cret" not in outcome.error
    assert vault.run("inject", template, code=code).out == b""
  assert not (vault.folder / "out").exists()


def test_the_template_is_never_overwritten(vault):
  text = b"{{ keychain://s/token }}"
  template = vault.file("in", text)
  os.symlink("in", vault.folder / "link")
  os.link(template, vault.folder / "hard")
  for output in ["in", "./in", "link", "hard", template]:
    vault.run("inject", template, "--output", output, "--overwrite", code=79)
  with open(template, "rb") as given:
    vault.run("inject", "-", "--output", "in", "--overwrite", stdin=given, code=79)
  with open(template, "rb") as given:
    vault.run("inject", "/dev/stdin", "--output", "in", "--overwrite", stdin=given, code=79)
  with open(template, "ab") as appended:
    vault.run("inject", template, stdout=appended, code=79)
    vault.run("inject", template, "--output", "/dev/stdout", stdout=appended, code=79)
  assert (vault.folder / "in").read_bytes() == text


def test_files_of_the_vault_are_never_overwritten(vault):
  vault.file("in", b"{{ keychain://s/token }}")
  key = vault.file("key", os.urandom(32), 0o600)
  link = vault.folder / "vault-link"
  os.link(vault.vault, link)
  ours = [*vault.state.glob("seen/*"), *vault.state.glob("stores/*"), vault.state / "choice.lock"]
  assert len(ours) > 2, "there are no records"
  before = {path: path.read_bytes() for path in (vault.vault, vault.state / "device.key", Path(key), *ours)}
  for words, output, given in [
      (("inject", "in"), vault.vault, {}), (("inject", "in"), link, {}),
      (("read", "keychain://s/token"), vault.vault, {}), (("get", "token", "--service", "s"), vault.vault, {}),
      (("inject", "in"), vault.state / "device.key", {}),
      *((("inject", "in"), path, {}) for path in ours), (("inject", "in"), key, {"KEYCHAIN_KEY_FILE": key})]:
    refused = vault.run(*words, "--output", str(output), "--overwrite", code=79, environment=given)
    assert "would be lost" in refused.error
  assert before == {path: path.read_bytes() for path in before}
  vault.run("slots", "add", "--with-key-file", key)
  vault.run("inject", "in", "--key-file", key, "--output", key, "--overwrite", code=79)
  assert Path(key).read_bytes() == before[Path(key)]


def names_in_state() -> set[str]:
  """What lies in the state folder: the names in the manual, and the locks in the sources."""
  page = (ROOT / "Documentation/Reference.md").read_text()
  listed = re.findall(r"(?m)^\| `~/\.local/state/keychain/([^`*/]+)/?`", page)
  locks = {name for source in (ROOT / "Sources/Keychain").rglob("*.swift")
           for name in re.findall(r'["/]([a-z-]+\.(?:lock|turnstile))"', source.read_text())}
  return {*listed, *locks}


def test_nothing_in_the_state_folder_is_overwritten(vault):
  names = names_in_state()
  assert len(names) > 9
  for name in sorted(names):
    path = vault.state / name
    if path.is_dir():
      path = next(path.iterdir())
    path.touch(mode=0o600)
    before = path.read_bytes()
    refused = vault.run(
      "read", "keychain://s/token", "--output", str(path), "--overwrite", code=79)
    assert "would be lost" in refused.error and path.read_bytes() == before, name


def test_a_signal_leaves_no_second_file(vault):
  vault.file("in", b"{{ keychain://s/token }}")
  vault.file("out", b"")
  for number in range(20):
    with vault.start("inject", "in", "--output", "out", "--overwrite") as process:
      time.sleep(number / 400)
      process.terminate()
      process.wait()
  assert not [name for name in os.listdir(vault.folder) if name.endswith(".unfinished-file")]


def test_many_markers_on_one_line_are_read_in_time(vault):
  template = vault.file("in", b'{{"{{"}}' * 100_000)
  start = time.monotonic()
  assert vault.run("inject", template).out == b"{{" * 100_000
  assert time.monotonic() - start < 10
