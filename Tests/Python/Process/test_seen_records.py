"""What was seen cannot be read for a moment: it is not missing, and nothing older counts."""

from __future__ import annotations

import re

import pytest

from test_unknown_outcomes import failing


def restored(home) -> None:
  """Puts an older copy in the place of the vault."""
  home.set("api", b"old")
  old = home.vault.read_bytes()
  home.set("api", b"new")
  home.vault.write_bytes(old)


@pytest.mark.parametrize("call", ["openat", "pread64"])
@pytest.mark.parametrize("words", [["get", "api"], ["set", "api"]])
def test_a_record_that_cannot_be_read_once(home, tracing, call, words):
  restored(home)
  old = home.vault.read_bytes()
  records = list((home.state / "seen").iterdir())
  assert len(records) == 1
  seen = records[0].read_bytes()
  given = {"input": b"newer"} if words[0] == "set" else {}
  home.run(*words, code=65, through=["strace", "-f", "-qq", "-o", str(home.folder / "trace"), "-e", f"trace={call}"],
           **given)
  calls = len(re.findall(rf"^\d+ +{call}\(", (home.folder / "trace").read_text(), re.MULTILINE))
  for number in range(max(1, calls - 25), calls + 1):
    outcome = home.run(*words, code=None, through=failing(home, call, number, how="error=EMFILE"), **given)
    assert outcome.code not in (0, 44) and outcome.out != b"old", (number, outcome)
    assert home.vault.read_bytes() == old and records[0].read_bytes() == seen, (number, outcome)


def test_a_record_that_can_never_be_read(home, tracing):
  """A volume that is not mounted must not look like an empty vault, although nothing can be known of it."""
  home.set("api", b"secret")
  record = next((home.state / "seen").iterdir())
  away = home.vault.rename(home.folder / "away")
  through = failing(home, "openat", "1+", record)
  assert "cannot read" in home.set("api", b"newer", code=74, through=through).error
  assert not home.vault.exists()
  home.run("get", "api", code=74, through=through)
  away.rename(home.vault)
  home.run("get", "api", code=74, through=through)
  assert home.get("api") == b"secret"
