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


def test_errors_name_the_link_that_was_seen(home):
  folders = [home.folder / name for name in ("one", "two")]
  for folder in folders:
    folder.mkdir(mode=0o700)
  link = home.folder / "current"

  def lead(folder) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(folder)

  lead(folders[0])
  vault = ["--vault", link / "v"]
  home.set("api", b"1", *vault)
  lead(folders[1])
  gone = home.run("set", "api", *vault, input=b"2", code=69)
  assert f"the vault {link / 'v'} was seen here before, and is gone" in gone.error
  home.set("api", b"2", "--vault", folders[1] / "v")
  refused = home.run("get", "api", *vault, code=65)
  assert f"another vault is at {link / 'v'} than the one seen here before" in refused.error
  assert home.get("api", "--vault", folders[1] / "v") == b"2"
  lead(folders[0])
  assert home.get("api", *vault) == b"1"


# They lead elsewhere in each process.
def test_links_of_processes_are_not_names(home):
  vault = ["--vault", "/proc/self/cwd/v"]
  folders = [home.folder / name for name in ("one", "two")]
  for number, folder in enumerate(folders):
    folder.mkdir(mode=0o700)
    home.set("api", b"%d" % number, *vault, through=["env", "-C", folder])
  for number, folder in enumerate(folders):
    assert home.get("api", *vault, through=["env", "-C", folder]) == b"%d" % number
