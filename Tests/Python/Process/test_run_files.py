"""Files of `run`: who can open them, how long they last, and what removes those with names."""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from glob import glob
from pathlib import Path

import pytest

from client_servers import HOST, WebServer, basic, running
from prefs_testing import LIMIT, ended
from run_testing import vault  # fixtures

FILE = ("--file", "F=keychain://s/token")

# A child of Python, which closes what it inherits, as Node, Java and many daemons do.
CHILD = ("/usr/bin/env", sys.executable, "-S", "-c",
         "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode)")

WATCHER = "keychain-files"


@pytest.fixture
def memory(vault):
  """A folder in memory, as the system gives to each session."""
  folder = tempfile.mkdtemp(prefix="prefs-test.", dir="/dev/shm")
  vault.environment["XDG_RUNTIME_DIR"] = folder
  yield Path(folder)
  shutil.rmtree(folder)


@pytest.fixture
def named(vault, memory):
  """Runs commands with files that have names, and checks that nothing is left."""
  def run(*words, **more):
    return vault.run("run", "--named-files", *FILE, "--", *words, **more)
  yield run
  until(lambda: not list(memory.iterdir()))


def until(condition) -> None:
  deadline = time.monotonic() + LIMIT
  while not condition():
    assert time.monotonic() < deadline
    time.sleep(0.005)


def test_children_that_close_what_they_inherit_open_a_file(vault):
  assert vault.run("run", *FILE, "--", *CHILD, "cat", "@F@").out == b"s3cret"
  # A number that a child uses for a file of its own does not matter.
  script = 'exec 10</dev/null 11</dev/null 12</dev/null; cat "$F"'
  assert vault.run("run", *FILE, "--", *CHILD, "bash", "-c", script).out == b"s3cret"


def test_curl_in_a_child_gets_a_password(vault):
  vault.set("alice", b"pw", "--server", HOST, "--protocol", "https")
  with running(WebServer(basic("alice", "pw"))) as server:
    got = vault.run("run", "--netrc", HOST, "--", *CHILD, "curl", "-sSf", "--netrc-file", "@netrc@", server.url)
    assert got.out == b"welcome\n"


def test_a_file_without_processes_in_proc_is_refused(vault, superuser, mounting):
  # Without /proc, nothing says that a user namespace hides the owner of /dev.
  script = 'mount -t tmpfs -o mode=700 none "$XDG_RUNTIME_DIR" && mount -t tmpfs none /proc && exec "$@"'
  hiding = ("unshare", "--mount", "sh", "-c", script, "sh")
  refused = vault.run("run", *FILE, "--", "touch", "started", code=79, through=hiding)
  assert "/proc is not mounted" in refused.error and not (vault.folder / "started").exists()
  assert vault.run("run", "--named-files", *FILE, "--", "cat", "@F@", through=hiding).out == b"s3cret"


def test_a_file_where_processes_have_other_numbers(vault, superuser, mounting):
  assert vault.run("run", *FILE, "--", "cat", "@F@", through=("unshare", "--pid", "--fork")).out == b"s3cret"


def test_ssh_reads_a_key_that_has_a_name(vault, named):
  key = vault.folder / "key"
  subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=LIMIT)
  vault.set("token", key.read_bytes(), "--service", "s")
  ssh = ("ssh", "-F", "none", "-o", "ProxyCommand=false", "-i", "@F@", "user@host")
  # ssh closes all files first.
  assert "not accessible" in vault.run("run", *FILE, "--", *ssh, code=255).error
  assert "not accessible" not in named(*ssh, code=255).error
  public = Path(f"{key}.pub").read_bytes().split()[:2]
  assert named("ssh-keygen", "-y", "-f", "@F@").out.split()[:2] == public
  assert vault.run("run", *FILE, "--", "ssh-keygen", "-y", "-f", "@F@").out.split()[:2] == public


def test_a_file_with_a_name(vault, memory, named):
  vault.set("alice", b"pw", "--server", "example.com", "--protocol", "https")
  script = 'echo $F $NETRC $1; cat $F; stat -c %a $F ${F%/*}; cat $NETRC; ls -l /proc/$$/fd | grep -c memfd; true'
  outcome = vault.run("run", "--named-files", *FILE, "--netrc", "example.com", "--", "sh", "-c", script, "sh", "@netrc@")
  first, rest = outcome.out.decode().split("\n", 1)
  file, netrc, argument = first.split()
  assert Path(file).parent.parent == memory and Path(netrc).parent == Path(file).parent and argument == netrc
  assert rest.startswith("s3cret600\n700\nmachine example.com") and rest.endswith("\n0\n")
  assert named(*CHILD, "cat", "@F@").out == b"s3cret"
  # A program may write next to its files.
  named("sh", "-c", 'mkdir "${F%/*}/more"; cp "$F" "${F%/*}/more/copy"')


def test_files_with_names_are_removed_when_nothing_is_started(vault, memory, named):
  named("no-such-command", code=127)
  plain = vault.file("closed", b"", 0o600)
  named(plain, code=126)
  vault.run("run", "--named-files", "--file", "F=keychain://s/nobody", "--", "true", code=44)


def test_folders_for_names_are_checked(vault, memory):
  words = ("run", "--named-files", *FILE, "--", "touch", "started")
  missing = vault.run(*words, code=79, environment={"XDG_RUNTIME_DIR": None})
  assert "names no folder" in missing.error and "XDG_RUNTIME_DIR=" in missing.error
  vault.run(*words, code=79, environment={"XDG_RUNTIME_DIR": "relative"})
  vault.run(*words, code=79, environment={"XDG_RUNTIME_DIR": str(memory / "missing")})
  assert "on a disk" in vault.run(*words, code=79, environment={"XDG_RUNTIME_DIR": str(vault.folder / "runtime")}).error
  memory.chmod(0o750)
  assert "is not yours alone" in vault.run(*words, code=79).error
  memory.chmod(0o700)
  assert vault.run("run", "--named-files", "--", "true", code=64).out == b""
  assert not (vault.folder / "started").exists() and not list(memory.iterdir())


def test_hint_does_not_close_a_folder_that_others_need(vault, memory):
  apostrophe = memory / "it's"
  apostrophe.mkdir(0o755)
  for folder in "/dev/shm", str(apostrophe):
    refused = vault.run("run", "--named-files", *FILE, "--", "true", code=79, environment={"XDG_RUNTIME_DIR": folder})
    assert "is not yours alone" in refused.error and "chmod" not in refused.error
    assert "mkdir -m 700 /dev/shm/" in refused.error


# The command becomes the first process of a container.
FIRST = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def test_the_first_process_removes_files_with_names(vault, memory, named, superuser, mounting):
  assert named(*CHILD, "cat", "@F@", through=FIRST).out == b"s3cret"
  # A program in the background ends with its container.
  script = 'sleep 60 >&- 2>&- & head -c 6 "$F"; exec 2>&-; read -r word; echo "$word $$ $(cat /proc/1/comm)"; exit 3'
  answer = named("sh", "-c", script, through=FIRST, input=b"word", code=3)
  assert answer.out.split()[0] == b"s3cretword" and answer.out.split()[2] == WATCHER.encode()
  assert answer.out.split()[1] != b"1"
  assert not list(memory.iterdir())
  named("no-such-command", code=127, through=FIRST)
  named("sh", "-c", "kill -TERM $$", code=128 + signal.SIGTERM, through=FIRST)
  vault.run("run", "--named-files", "--file", "F=keychain://s/nobody", "--", "true", code=44, through=FIRST)


def test_the_first_process_keeps_files_of_a_program_that_closes_what_it_inherits(
    vault, memory, named, program, superuser, mounting):
  script = """
    for file in /proc/self/fd/*; do number=${file##*/}; ((number < 3)) || eval "exec $number>&-"; done
    "$0" keychain run --named-files --file F=keychain://s/token -- true && cat "$F"
    """
  assert named("bash", "-c", script, program, through=FIRST).out == b"s3cret"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_the_first_process_passes_signals_on_and_reaps(vault, memory, named, superuser, mounting, number):
  script = """
    trap 'echo ended; exit 5' TERM HUP INT USR1
    (sh -c 'echo $$ > new; mv new orphan' &)
    until [ -e orphan ]; do sleep 0.01; done
    while [ -e "/proc/$(cat orphan)" ]; do sleep 0.01; done
    echo $$
    while :; do sleep 0.01; done"""
  words = ("run", "--named-files", *FILE, "--", "sh", "-c", script)
  with vault.start(*words, through=FIRST) as unshare:
    try:
      until(lambda: select.select([unshare.stdout], [], [], 0)[0])
      assert int(unshare.stdout.readline()) > 1
      [first] = Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text().split()
      os.kill(int(first), number)
      assert unshare.communicate(timeout=LIMIT) == (b"ended\n", b"")
    finally:
      unshare.kill()
  assert unshare.returncode == 5


def test_a_key_reaches_the_command_once(vault, memory, named, superuser, mounting):
  """The terminal sends it to the first process, too."""
  script = "trap 'echo interrupted' INT; echo rea''dy; until read -r line; do :; done; echo got $line"
  terminal = vault.terminal("run", "--named-files", *FILE, "--", "bash", "-c", script, through=FIRST)
  terminal.expect("ready")
  terminal.sendintr()
  terminal.expect("interrupted")
  terminal.sendline("typed")
  code, text = ended(terminal)
  assert code == 0 and "got typed" in text and "interrupted" not in text


@pytest.mark.parametrize("script", [
  'chmod 500 "${F%/*}"', 'chmod 0 "${F%/*}"', 'mkdir -p "${F%/*}/a/b"; chmod 0 "${F%/*}/a/b" "${F%/*}/a"'])
def test_modes_keep_no_file(vault, memory, named, script):
  as_user = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
  named("sh", "-c", script, through=as_user)


SET_CHILD_SUBREAPER = 36


def adopt() -> None:
  """Makes the process that is about to be started the parent of the watcher, which then can be found: its
  open files are hidden from its user."""
  ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)


def started(vault, *words) -> subprocess.Popen:
  """Starts a program that says its number when it runs."""
  process = vault.start("run", "--named-files", *FILE, "--", *words, preexec_fn=adopt)
  assert int(process.stdout.readline()) == process.pid
  return process


WAITING = ("sh", "-c", "echo $$; exec sleep 60")


def watcher_of(process: subprocess.Popen) -> int:
  """The only child of a program that was started by `started`, and starts none itself."""
  return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())


def has_ended(process: int) -> bool:
  try:
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
  except (FileNotFoundError, ProcessLookupError):
    return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_program_leaves_nothing(vault, memory, named, number):
  with started(vault, *WAITING) as process:
    watcher = watcher_of(process)
    # It is stopped with the program, and has work to do then.
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
      os.kill(watcher, ending)
    assert len(list(memory.glob("*/F"))) == 1
    process.send_signal(number)
  until(lambda: not list(memory.iterdir()))
  until(lambda: has_ended(watcher))


def test_leftover_of_a_killed_watcher_is_removed_by_the_next(vault, memory, named):
  with started(vault, *WAITING) as process:
    watcher = watcher_of(process)
    os.kill(watcher, signal.SIGKILL)
    until(lambda: has_ended(watcher))
    # The program has its file open, so it is not taken away.
    assert named("cat", "@F@").out == b"s3cret"
    until(lambda: len(list(memory.iterdir())) == 1)
    process.kill()
  assert len(list(memory.glob("*/F"))) == 1
  (memory / "keychain").mkdir()
  assert named("ls", str(memory)).out.splitlines()[0] == b"keychain"
  until(lambda: [path.name for path in memory.iterdir()] == ["keychain"])
  (memory / "keychain").rmdir()


def test_background_programs_keep_files_with_names(vault, memory, named):
  script = 'echo $$; (until [ -e go ]; do sleep 0.01; done; cat "$F" > new; mv new late) >&- 2>&- &'
  with started(vault, "sh", "-c", script) as process:
    process.communicate()
  assert len(list(memory.glob("*/F"))) == 1
  vault.file("go", b"")
  until((vault.folder / "late").exists)
  assert (vault.folder / "late").read_bytes() == b"s3cret"


def holders(folder: Path) -> list[int]:
  """The processes whose standard output is a folder."""
  found = []
  for path in glob("/proc/[0-9]*/fd/1"):
    with suppress(OSError):
      found += [int(path.split("/")[2])] if os.readlink(path) == str(folder) else []
  return found


def test_the_watcher_is_nobodys_child_and_has_nothing_of_the_program(vault, memory, named, tracing):
  passphrase = {"KEYCHAIN_PASSPHRASE": "hunter2 hunter2"}
  with vault.start("run", "--named-files", *FILE, "--", *WAITING, environment=passphrase) as process:
    assert int(process.stdout.readline()) == process.pid
    [watcher] = holders(memory)
    status = Path(f"/proc/{watcher}/stat").read_text().rsplit(")", 1)[1].split()
    parent, group, session, terminal = (int(field) for field in status[1:5])
    assert parent != process.pid and group == session == watcher and terminal == 0
    assert sorted(os.listdir(f"/proc/{watcher}/fd")) == ["0", "1", "2"]
    assert b"hunter2" not in Path(f"/proc/{watcher}/environ").read_bytes()
    assert Path(f"/proc/{watcher}/cmdline").read_bytes().rstrip(b"\0") == WATCHER.encode()
    assert not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    secrets = [b"s3" + b"cret", b"hunter2 " + b"hunter2"]
    with open(f"/proc/{watcher}/maps") as maps, open(f"/proc/{watcher}/mem", "rb", 0) as contents:
      for line in maps:
        bounds, rights = line.split()[:2]
        if not rights.startswith("rw"):
          continue
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        contents.seek(start)
        try:
          region = contents.read(end - start)
        except OSError:
          continue
        assert not [secret for secret in secrets if secret in region], line
    process.kill()


def test_a_pipe_ends_with_the_program_and_not_with_the_watcher(vault, memory, named):
  with started(vault, "sh", "-c", "echo $$; exec >&- 2>&-; exec sleep 60") as process:
    assert process.stdout.read() == b"" and process.stderr.read() == b""
    process.kill()


def test_a_detached_tmux_reads_a_file_with_a_name(vault, memory, named):
  socket = str(vault.folder / "tmux")
  try:
    named("tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", 'cat "$F" > new; mv new done; sleep 60')
    until((vault.folder / "done").exists)
    assert (vault.folder / "done").read_bytes() == b"s3cret"
    assert len(list(memory.glob("*/F"))) == 1
  finally:
    subprocess.run(["tmux", "-S", socket, "kill-server"], timeout=LIMIT, capture_output=True)
  until(lambda: not list(memory.iterdir()))
