"""`run`: a command with secrets takes the place of `prefs`."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import time

import pytest

from desktop_session import desktop
from prefs_testing import LIMIT
from run_testing import locked, vault  # fixtures

# What a child sees of the state in which it was started.
STATE = r"""
import os, resource, sys
with open("/proc/self/status") as status:
  for line in status:
    if line.startswith(("Sig", "Shd", "NoNewPrivs", "Seccomp:", "Umask", "Groups", "Cpus_allowed:")):
      if not line.startswith("SigQ"):
        print(line.strip())
print(open("/proc/self/limits").read())
print(open("/proc/self/oom_score_adj").read(), os.nice(0), os.getcwd(), os.getpgid(0), os.getsid(0))
print(sys.argv, sorted(os.environ.items()))
for name in sorted(os.listdir("/proc/self/fd"), key=int):
  try:
    print(name, os.readlink(f"/proc/self/fd/{name}"))
  except OSError:
    pass
"""

SHOW_STATE = ("/usr/bin/env", sys.executable, "-S", "-c", STATE)


def shell(script: str) -> tuple[str, ...]:
  return "--", "sh", "-c", script


def test_variable_has_the_secret(vault):
  outcome = vault.run("run", "-e", "T=keychain://s/token", *shell('printf %s "$T"'))
  assert (outcome.out, outcome.error) == (b"s3cret", "")
  assert vault.run("run", "--env=T=keychain://s/token?encoding=base64", *shell("echo $T")).out == b"czNjcmV0\n"


def test_command_takes_the_place_of_the_process(vault):
  with vault.start("run", *shell("echo $$; exit 7")) as process:
    out, _ = process.communicate()
  assert (int(out), process.returncode) == (process.pid, 7)
  with vault.start("run", *shell("kill -TERM $$")) as process:
    process.communicate()
  assert process.returncode == -signal.SIGTERM


def test_nothing_starts_if_a_reference_fails(vault):
  for options, code in [
      (("-e", "A=keychain://s/token", "-e", "B=keychain://s/nobody"), 44),
      (("--file", "A=keychain://s/nobody"), 44),
      (("--netrc", "example.com"), 44), (("--netrc", "me:s3cret@example.com"), 64),
      (("--dry-run", "--netrc", "me:s3cret@example.com"), 64),
      (("--netrc", "https://me:s3cret@example.com"), 64),
      (("-e", "A=s3cret"), 64), (("-e", "s3cret"), 64), (("-e", "A=keychain:s3cret"), 64),
      (("-e", "A=keychain://s/token", "-e", "A=keychain://s/token"), 64),
      (("-e", "A=keychain://s/token", "--file", "A=keychain://s/token"), 64),
      (("--file", "A-B=keychain://s/token"), 64),
      (("-e", "KEYCHAIN_PASSPHRASE=keychain://s/token"), 79)]:
    outcome = vault.run("run", *options, "--", "touch", "started", code=code)
    assert outcome.out == b"" and "s3cret" not in outcome.error, options
  assert not (vault.folder / "started").exists()


def test_locked_vault_starts_nothing(locked):
  words = ("run", "-e", "A=keychain://s/token", "--", "touch", "started")
  assert locked.run(*words, code=77).out == b""
  assert not (locked.folder / "started").exists()
  locked.run(*words, environment={"KEYCHAIN_PASSPHRASE_FILE": locked.passphrase()[1]})
  assert (locked.folder / "started").exists()


def test_misspelt_command_opens_no_vault(locked):
  given = {"KEYCHAIN_PASSPHRASE_FILE": locked.file("wrong", b"wrong\n", 0o600)}
  for name in ("no-such-command", "./no-such-command", b"no\xffcommand"):
    assert "not found" in locked.run(
      "run", "-e", "A=keychain://s/token", "--", name, code=127, environment=given).error
  locked.run("run", "-e", "A=keychain://s/token", "--", "true", code=78, environment=given)
  # What is wrong with the request itself is said first.
  locked.run("run", "-e", "A=s3cret", "--", "no-such-command", code=64)


def test_codes_of_commands_that_cannot_start(vault):
  script = vault.file("script", b"#!/nonexistent/interpreter\n", 0o700)
  plain = vault.file("plain", b"echo plain $1\n", 0o700)
  closed = vault.file("closed", b"", 0o600)
  assert "not found" in vault.run("run", "--", "no-such-command", code=127).error
  assert "interpreter" in vault.run("run", "--", script, code=127).error
  vault.run("run", "--", closed, code=126)
  vault.run("run", "--", "/", code=126)
  # As execvp(3) and env(1) do.
  assert vault.run("run", "--", plain, "x").out == b"plain x\n"
  for words in [(), ("--",), ("--", ""), ("--no-such-option", "true"), ("-x", "--", "true")]:
    vault.run("run", *words, code=64)


def test_command_needs_no_dashes_before_it(vault):
  assert vault.run("run", "-e", "A=keychain://s/token", "sh", "-c", "echo $A", "-q").out == b"s3cret\n"
  assert vault.run("run", "echo", "--help", "--", "-e").out == b"--help -- -e\n"
  assert vault.run("run", "--", "echo", "--", "--help").out == b"-- --help\n"


def test_arguments_keep_their_bytes(vault):
  show = (sys.executable, "-c", "import os, sys; print([os.fsencode(a) for a in sys.argv[1:]])")
  words = (b"\xff\xfe", b"", b"--x=", "u\u0308".encode(), b"@A@", b"@", b"\n", b"-e=")
  outcome = vault.run("run", "--", *show, *words)
  assert outcome.out.decode() == f"{list(words)}\n"
  assert vault.run("get", b"\xff", code=64).out == b""


def test_path_is_that_of_the_caller(vault):
  (vault.folder / "bin").mkdir()
  vault.file("bin/greet", b"#!/bin/sh\necho $0\n", 0o700)
  vault.set("path", b"/nonexistent", "--service", "s")
  path = f"{vault.folder}/bin:{os.environ['PATH']}"
  outcome = vault.run("run", "-e", "PATH=keychain://s/path", "--", "greet", environment={"PATH": path})
  assert outcome.out.decode() == f"{vault.folder}/bin/greet\n"
  # An empty part of PATH is the working folder.
  vault.file("here", b"#!/bin/sh\necho here\n", 0o700)
  assert vault.run("run", "--", "here", environment={"PATH": "/bin:"}).out == b"here\n"


# Each way changes what a process inherits; `run` changes nothing of it.
WAYS = {
  "usual": "exec \"$@\"",
  "nohup": "exec nohup \"$@\"",
  "background": "\"$@\" & wait",
  "ignored": "trap '' INT QUIT PIPE XFSZ USR1; exec \"$@\"",
  "no core": "ulimit -c 0; exec \"$@\"",
  "core": "ulimit -Sc unlimited; exec \"$@\"",
  "some core": "ulimit -Hc 4096; ulimit -Sc 1024; exec \"$@\"",
  "closed input": "exec \"$@\" <&-",
  "closed error": "exec \"$@\" 2>&-",
  "more files": "exec 3</dev/zero 7>/dev/null 9</etc/passwd; exec \"$@\"",
  "umask": "umask 027; exec \"$@\"",
  "nice": "exec nice -n 3 \"$@\"",
  "blocked": "exec " + shlex.quote(sys.executable) + " -S -c 'import os, signal, sys\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGUSR2, signal.SIGCHLD])\n"
    "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\nos.execvp(sys.argv[1], sys.argv[1:])' \"$@\"",
}


@pytest.mark.parametrize("way", WAYS)
def test_child_starts_as_without_run(vault, way):
  def state(*words):
    out = subprocess.run(
      ["sh", "-c", WAYS[way], "sh", *words], cwd=vault.folder, capture_output=True,
      env=vault.environment, stdin=subprocess.DEVNULL)
    assert out.returncode == 0, out.stderr
    text = out.stdout.decode()
    # Pipes and the folder that is being listed have new numbers each time.
    text = re.sub(r"pipe:\[\d+\]", "pipe", re.sub(r"/proc/\d+/fd", "/proc/fd", text))
    # The groups of processes in the background differ.
    return re.sub(r"^(\S+ \d+ \S+) \d+ \d+$", r"\1", text, flags=re.M)

  plain = state(*SHOW_STATE)
  assert "SigIgn" in plain and "Max core file size" in plain
  assert state(vault.program, "keychain", "run", "--", *SHOW_STATE) == plain
  secret = state(
    vault.program, "keychain", "run", "-e", "TOKEN=keychain://s/token", "--", *SHOW_STATE)
  assert secret.replace("('TOKEN', 's3cret'), ", "") == plain


def test_broken_pipe_ends_the_command(vault):
  command = "yes | head -1; echo $?"
  assert vault.run("run", *shell(command)).out == b"y\n0\n"
  bash = "yes | head -1 >/dev/null; echo ${PIPESTATUS[0]}"
  assert vault.run("run", "--", "bash", "-c", bash).out == b"141\n"


def test_inherited_variables_are_resolved_only_on_request(vault):
  inherited = {"A": "keychain://s/token", "B": "plain"}
  assert vault.run("run", *shell("echo $A $B"), environment=inherited).out == b"keychain://s/token plain\n"
  outcome = vault.run("run", "--from-environment", *shell("echo $A $B"), environment=inherited)
  assert outcome.out == b"s3cret plain\n"
  vault.run("run", "--from-environment", "--allow", "t", "--", "true", environment=inherited, code=79)


def test_replaced_variables_are_reported_without_values(vault):
  words = ("run", "-e", "A=keychain://s/token", *shell("echo $A"))
  outcome = vault.run(*words, environment={"A": "old"})
  assert outcome.out == b"s3cret\n"
  assert "'A' is replaced" in outcome.error
  assert "old" not in outcome.error and "s3cret" not in outcome.error
  assert vault.run(*words, environment={"A": "s3cret"}).error == ""
  assert vault.run(*words, environment={"A": "keychain://s/other"}).error == ""


def test_unlocking_secrets_do_not_reach_the_command(vault):
  names = ("KEYCHAIN_PASSPHRASE", "KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_KEY_FILE", "KEYCHAIN_IDENTITY_FILE")
  given = dict.fromkeys(names, "x") | {"KEYCHAIN_VAULT": str(vault.vault)}
  out = vault.run("run", "--", "env", environment=given).out.decode()
  assert not any(name in out for name in names)
  assert "KEYCHAIN_VAULT=" in out


def test_clean_environment(vault):
  given = {"AWS_SECRET_ACCESS_KEY": "x", "LC_ALL": "C", "TERM": "vt100", "R": "keychain://s/token"}
  out = vault.run("run", "--clean", "--from-environment", "--", "env", environment=given).out.decode()
  names = {line.split("=")[0] for line in out.splitlines()}
  assert {name for name in names if not name.startswith("XDG_")} <= {"PATH", "HOME", "LC_ALL", "TERM", "R", "PWD"}
  assert {"LC_ALL", "TERM", "R", "HOME"} <= names


def test_helpers_find_the_vault_in_a_clean_environment(vault):
  (vault.folder / "other").mkdir(0o700)
  vault.file("other/keychain.key", os.urandom(32), 0o600)
  given = {
    "KEYCHAIN_VAULT": f"{vault.folder}/other/vault", "CREDENTIALS_DIRECTORY": f"{vault.folder}/other",
    "KEYCHAIN_NO_PROMPT": "1", "GIT_TERMINAL_PROMPT": "0", "AWS_SECRET_ACCESS_KEY": "x"}
  vault.set("alice", b"p4ss", "--server", "git.example.com", "--protocol", "https", environment=given)
  vault.run("lock", "--all", environment=given)
  ask = r"printf 'protocol=https\nhost=git.example.com\n\n' | $0 keychain git-credential get; env"
  out = vault.run("run", "--clean", *shell(ask), vault.program, environment=given).out.decode()
  assert "password=p4ss\n" in out and "AWS" not in out


def test_file_of_variables(vault):
  path = vault.file(".env", b"# note\nA='keychain://s/token'\nexport B=plain\nC=\"a b\" # note\n")
  assert vault.run("run", "--env-file", path, *shell("echo $A $B $C")).out == b"s3cret plain a b\n"
  vault.run("run", "--env-file", path, "--allow", "s", "--", "true")
  refused = vault.run("run", "--env-file", path, "--allow", "t", "--", "true", code=79)
  assert "line 2" in refused.error
  vault.run("run", "--env-file", vault.file("bad", b"A=x # y\n"), "--", "true", code=65)
  vault.run("run", "--env-file", vault.file("path", b"PATH=/tmp\n"), "--", "true", code=79)
  mark = vault.run("run", "--env-file", vault.file("mark", b"\xef\xbb\xbfA=b\n"), "--", "true", code=65)
  assert "byte order mark" in mark.error
  vault.run("run", "--env-file", "missing", "--", "true", code=74)
  vault.run("run", "--env-file", str(vault.folder), "--", "true", code=74)
  vault.run("run", "--env-file", vault.file("bytes", b"A=\xff\n"), "--", "true", code=65)


def test_option_comes_before_the_file(vault):
  path = vault.file(".env", b"A=file\n")
  outcome = vault.run(
    "run", "--env-file", path, "-e", "A=keychain://s/token", *shell("echo $A"),
    environment={"A": "keychain://s/nobody"})
  assert outcome.out == b"s3cret\n"


def test_file_that_others_can_write_is_refused(vault, superuser):
  path = vault.file(".env", b"A=x\n", 0o666)
  vault.run("run", "--env-file", path, "--", "true", code=79)
  os.chmod(path, 0o664)
  vault.run("run", "--env-file", path, "--", "true")
  os.chown(path, -1, 54321)
  vault.run("run", "--env-file", path, "--", "true", code=79)
  os.chmod(path, 0o644)
  vault.run("run", "--env-file", path, "--", "true")
  os.chown(path, 54321, -1)
  vault.run("run", "--env-file", path, "--", "true", code=79)


def test_files_in_memory(vault):
  script = """
    echo $CNF "$1"; cat $CNF; cat $CNF; stat -L -c ' %a %s' $CNF; readlink $CNF | cut -c1-7
    echo more >> $CNF || echo refused"""
  outcome = vault.run("run", "--file", "CNF=keychain://s/token", *shell(script), "sh", "--file=@CNF@,@X@@CNF@")
  path, rest = outcome.out.decode().split(" ", 1)
  assert re.fullmatch(r"/proc/\d+/fd/\d\d+", path)
  assert rest == f"--file={path},@X@{path}\ns3crets3cret 600 6\n/memfd:\nrefused\n"


def test_large_file_and_long_variables(vault):
  large = os.urandom(5 << 20)
  vault.set("large", large, "--service", "s")
  outcome = vault.run("run", "--file", "F=keychain://s/large", *shell("cat $F"))
  assert outcome.out == large
  vault.set("long", b"x" * (128 << 10), "--service", "s")
  refused = vault.run("run", "-e", "LONG=keychain://s/long", "--", "true", code=79)
  assert "'LONG'" in refused.error and "file" in refused.error
  vault.set("most", b"x" * ((128 << 10) - len("M=") - 1), "--service", "s")
  assert vault.run("run", "-e", "M=keychain://s/most", *shell("echo ${#M}")).out == b"131069\n"
  refused = vault.run("run", "-e", "N=keychain://s/large", "--", "true", code=65)
  assert "'N'" in refused.error and "NUL" in refused.error


def test_netrc_file(vault):
  vault.run(
    "set", "alice", "--server", "example.com", "--protocol", "https", input=b"pw")
  outcome = vault.run(
    "run", "--netrc", "example.com", *shell("cat $NETRC; echo $NETRC $2; echo $1"), "sh", "--netrc-file=@netrc@",
    "@NETRC@ @Netrc@")
  assert outcome.out.startswith(b"machine example.com")
  assert b"alice" in outcome.out and b"pw" in outcome.out
  assert re.search(rb"\n(/proc/\d+/fd/\d+) \1 @Netrc@\n--netrc-file=\1\n$", outcome.out)


def test_two_hundred_references_open_the_vault_once(vault, tracing):
  trace = vault.folder / "trace"
  for number in range(20):
    vault.set(f"a{number}", b"x%d" % number, "--service", "many")

  def opens(count):
    path = vault.file(".env", b"".join(b"V%d=keychain://many/a%d\n" % (n, n % 20) for n in range(count)))
    outcome = vault.run(
      "run", "--env-file", path, *shell('echo "$V0 $V199"'),
      through=["strace", "-f", "-qq", "-e", "trace=openat,connect", "-o", str(trace)])
    if count == 200:
      assert outcome.out == b"x0 x19\n"
    return trace.read_text().count("/vault\"")

  assert 1 <= opens(200) == opens(1) <= 3


def test_secret_is_in_no_argument_and_no_file(vault, tracing):
  trace = vault.folder / "trace"
  vault.run(
    "run", "--file", "F=keychain://s/token", "--", "cat", "@F@",
    through=["strace", "-f", "-qq", "-v", "-s", "200", "-e", "trace=execve,openat,memfd_create", "-o", str(trace)])
  text = trace.read_text()
  assert "memfd_create" in text and "s3cret" not in text
  assert not re.search(r"openat\([^\n]*O_CREAT[^\n]*" + re.escape(str(vault.folder)) + r"/(?!state|data|runtime)", text)


def test_the_keyrings_connection_is_not_inherited(home):
  # GLib has a socket and threads of its own then.
  with desktop(home):
    home.set("token", b"s3cret", "--service", "s")
    script = "echo $T; ls -l /proc/self/fd; grep Sig /proc/self/status"
    out = home.run("run", "-e", "T=keychain://s/token", *shell(script)).out.decode()
    plain = subprocess.run(
      ["sh", "-c", script], env=home.environment, stdin=subprocess.DEVNULL, capture_output=True).stdout.decode()
  assert out.startswith("s3cret\n")
  links = [re.findall(r"(\d+) -> (?!/proc)([^\[\n]+)", text) for text in (out, plain)]
  signals = [re.findall(r"Sig(?:Ign|Blk|Cgt).*", text) for text in (out, plain)]
  assert links[0] == links[1] and signals[0] == signals[1]


def test_hosts_start_commands_in_the_same_state(vault, sample_tool, plain_sample_tool):
  for program in (sample_tool, plain_sample_tool):
    vault.program = program
    words = ("run", "-e", "T=keychain://s/token", "--", "bash", "-c")
    outcome = vault.run(*words, "echo $T; yes | head -1 > /dev/null; echo ${PIPESTATUS[0]}; ulimit -Hc")
    hard = subprocess.run(["bash", "-c", "ulimit -Hc"], capture_output=True).stdout
    assert outcome.out == b"s3cret\n141\n" + hard
    vault.run("run", "--", "no-such-command", code=127)


def test_child_outlives_the_caller(vault):
  script = "(sleep 0.3; printf %s \"$A\" > new; mv new late) >/dev/null 2>&1 & echo started"
  assert vault.run("run", "-e", "A=keychain://s/token", *shell(script)).out == b"started\n"
  deadline = time.monotonic() + LIMIT
  while not (vault.folder / "late").exists():
    assert time.monotonic() < deadline
    time.sleep(0.05)
  assert (vault.folder / "late").read_bytes() == b"s3cret"


def test_unlocking_descriptor_is_closed_for_the_command(locked):
  words = ("-e", "A=keychain://s/token")
  path = locked.passphrase()[1]
  with open(path, "rb") as given:
    number = str(given.fileno())
    outcome = locked.run(
      "run", "--passphrase-fd", number, *words, *shell("echo $A; cat /dev/fd/$0"), number, code=1,
      pass_fds=[given.fileno()])
  assert outcome.out == b"s3cret\n"
  with open(path, "rb") as given:
    outcome = locked.run("run", "--passphrase-fd", "0", *words, *shell("echo $A; cat /dev/stdin; readlink /dev/fd/0"),
                         stdin=given)
  assert outcome.out == b"s3cret\n/dev/null\n"
  for number in ("1", "2"):
    locked.run("run", "--passphrase-fd", number, *words, "--", "true", code=64)


def test_pipe_of_others_is_refused_for_variables(vault, superuser):
  path = str(vault.folder / "pipe")
  os.mkfifo(path, 0o600)
  words = ("run", "--env-file", path, *shell("echo $A"))
  for mode, owner, code in [(0o600, -1, 0), (0o622, -1, 79), (0o600, 54321, 79)]:
    os.chmod(path, mode)
    os.chown(path, owner, -1)
    with subprocess.Popen(["sh", "-c", "echo A=keychain://s/token > \"$0\"", path]) as writer:
      assert vault.run(*words, code=code).out == (b"" if code else b"s3cret\n")
      writer.kill()
  os.chmod(path, 0o600)
  os.chown(path, 0, -1)
  vault.run("run", "--deadline", "100ms", "--env-file", path, "--", "true", code=75)
  vault.run("inject", "--deadline", "100ms", path, code=75)
  # A pipe of the caller has no name.
  given = subprocess.run(
    ["bash", "-c", '"$0" keychain run --env-file <(echo A=keychain://s/token) -- sh -c "echo \\$A"', vault.program],
    env=vault.environment, capture_output=True)
  assert given.stdout == b"s3cret\n"


def test_file_with_an_access_list_is_refused_if_it_lets_others_write(vault, superuser):
  path = vault.file(".env", b"A=x\n", 0o600)
  # Version 2; the user, user 54321, the group, the mask, others: read and write for the first two.
  entries = [(1, 6, 0xFFFFFFFF), (2, 6, 54321), (4, 0, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF)]
  access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
  try:
    os.setxattr(path, "system.posix_acl_access", access)
  except OSError as error:
    assert error.errno == errno.EOPNOTSUPP
    pytest.skip("this file system has no access lists")
  vault.run("run", "--env-file", path, "--", "true", code=79)


def test_the_last_file_of_variables_counts(vault):
  first = vault.file("1.env", b"A=1\nB=1\nF=1\n")
  last = vault.file("2.env", b"A=2\nC=2\n")
  words = ("run", "--env-file", first, "--env-file", last, "--file", "F=keychain://s/token")
  assert vault.run(*words, *shell("echo $A$B$C; cat $F")).out == b"212\ns3cret"
  listed = vault.run(*words, "--dry-run", "--json").json["variables"]
  assert [variable["name"] for variable in listed] == ["A", "C", "B"]


def test_many_variables_are_read_in_time(vault):
  path = vault.file(".env", b"".join(b"A%d=x\n" % number for number in range(20_000)))
  start = time.monotonic()
  assert vault.run("run", "--env-file", path, *shell("env | grep -c ^A")).out == b"20000\n"
  assert time.monotonic() - start < 10


def test_limit_of_open_files_is_named(vault):
  outcome = vault.run(
    "run", "--file", "F=keychain://s/token", "--", "true", code=74,
    through=["sh", "-c", 'ulimit -n 10; exec "$@"', "-"])
  assert "Too many open files" in outcome.error
