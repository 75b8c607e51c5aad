"""A process that gives the vault's names to other files while commands run: nothing older counts, and nothing is lost."""

from __future__ import annotations

import os
import threading
import time

import pytest

from prefs_testing import hinted


# Done, damaged or older, gone, a link where a file was, busy, not a file.
TOLD = (0, 65, 69, 74, 75, 79)


class Racer(threading.Thread):
  """Calls a function again and again until it is stopped."""

  def __init__(self, step) -> None:
    super().__init__(daemon=True)
    self.step = step
    self.ends = threading.Event()
    self.failure: BaseException | None = None

  def run(self) -> None:
    try:
      while not self.ends.is_set():
        self.step()
    except BaseException as failure:  # re-raised at the end
      self.failure = failure

  def __enter__(self) -> Racer:
    self.start()
    return self

  def __exit__(self, *_) -> None:
    self.ends.set()
    self.join()
    if self.failure is not None:
      raise self.failure


@pytest.mark.parametrize("leads_to", ["older copy", "nothing"])
def test_a_link_that_comes_and_goes(home, leads_to):
  home.set("api", b"old")
  old = home.copy_vault("old.db")
  home.set("api", b"new")
  link, aside = home.vault.with_name("link"), home.vault.with_name("aside")
  link.symlink_to(old if leads_to == "older copy" else home.folder / "nowhere.db")

  def flip() -> None:
    # The vault keeps its inode, and so its lock.
    os.rename(home.vault, aside)
    os.rename(link, home.vault)
    time.sleep(0.002)
    os.rename(home.vault, link)
    os.rename(aside, home.vault)
    time.sleep(0.002)

  last, codes = b"new", set()
  with Racer(flip):
    for number in range(40):
      outcome = home.run("get", "api", code=None)
      codes.add(outcome.code)
      assert outcome.code in TOLD and (outcome.code != 0 or outcome.out == last), outcome
      secret = b"%d" % number
      outcome = home.set("api", secret, code=None)
      codes.add(outcome.code)
      assert outcome.code in TOLD, outcome
      if outcome.code == 0:
        last = secret
  assert home.get("api") == last and home.run("verify").code == 0
  assert not (home.folder / "nowhere.db").exists()
  assert codes - {0}, "the race never happened"


def test_files_of_others_named_new_stay(home):
  """Somebody copies, edits or mounts something under the name in which a vault is made anew."""
  home.set("api", b"secret")
  home.file("mine", b"notes")
  copies = home.vault.with_name("vault.new"), home.folder / "backup.new"
  for path in copies:
    path.write_bytes(b"notes")
  for words in (["backup", "backup"], ["rekey", "--yes"], ["compact"], ["slots", "add", "--new-key-file", "key"]):
    refused = home.run(*words, code=79)
    assert ".new" in refused.error and "move it away" in hinted(refused)
  assert not (home.folder / "key").exists()
  # What needs no new file goes on.
  home.set("api", b"newer")
  assert home.get("api") == b"newer" and all(path.read_bytes() == b"notes" for path in copies)
  for path in copies:
    path.unlink()
  home.set("x", b"1", "--vault", "v")
  home.set("y", b"2", "--vault", "v.new")
  for number in range(3):
    home.set("x", b"%d" % number, "--vault", "v")
  assert home.get("y", "--vault", "v.new") == b"2" and home.get("x", "--vault", "v") == b"2"
  # A first vault is made where a vault has the name, too.
  home.set("y", b"3", "--vault", "w.new")
  home.run("set", "x", "--vault", "w", input=b"1", code=79)
  assert home.get("y", "--vault", "w.new") == b"3"


def test_the_name_of_a_new_file_is_taken_while_it_is_made(home):
  home.set("api", b"secret")
  old = home.vault.read_bytes()
  new, theirs = home.vault.with_name("vault.new"), home.folder / "theirs"

  def take() -> None:
    theirs.write_bytes(old)
    theirs.chmod(0o600)
    os.rename(theirs, new)
    time.sleep(0.001)

  codes = []
  with Racer(take):
    for _ in range(25):
      before = home.layout().epoch
      outcome = home.run("rekey", "--yes", code=None)
      codes.append(outcome.code)
      assert outcome.code in (0, 74, 75, 79, 81), outcome
      # Done means that the new keys are the vault's, and otherwise it is as before.
      assert home.layout().epoch == before + (outcome.code == 0), outcome
      assert home.get("api") == b"secret"
  assert set(codes) - {0}, "the race never happened"
  new.unlink(missing_ok=True)
  home.run("rekey", "--yes")
  assert home.get("api") == b"secret" and home.run("verify").code == 0
