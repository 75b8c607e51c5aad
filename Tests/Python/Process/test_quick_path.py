"""Commands end alike whether the quick path or the argument parser reads their lines."""

from __future__ import annotations

import random
import re
import subprocess

from prefs_testing import LIMIT

LINES = 200
ACCOUNTS = ["alice", "bob", "", "ü", "-x", "--json", "help"]
FLAGS = [
  "--json", "-q", "--quiet", "--no-prompt", "--if-exists", "--all-groups", "--all-services", "--expired",
  "--allow-expired", "--create-only", "--keep-expiry", "--unknown", "--help", "-h", "--version", "--",
  "--service=", "-qs", "--overwrite", "--session-only", "--json=1", "--all", "--yes", "--raw", "--domains",
  "--dry-run", "--diff-json",
]
OPTIONS = {
  "--service": ["example.com", "default", "", "-x"], "-s": ["example.com"], "--server": ["h"],
  "--port": ["443", "x"], "--attribute": ["a=b", "a"], "--label": ["A", "--json", ""],
  "--deadline": ["1s", "x"], "--expires": ["90d", "never", "soon"], "--newline": ["always", "x"],
  "--expected-version": ["1", "x"], "--to-service": ["two"], "--store": ["vault", "x"],
  "--insecure-value": ["s3"], "-d": ["web", "a/b"], "--domain": ["web"], "--type": ["int", "x"],
  "--default": ["7"], "--expect": ["1"], "-int": ["5"],
}
KEYCHAIN = {
  "get": (1, ["--json", "--newline always", "--allow-expired"]), "show": (1, ["--json"]),
  "set": (1, ["--label A", "--expires=90d", "--attribute a=b", "--keep-expiry"]),
  "update": (1, ["--label=B", "--comment C"]), "delete": (1, ["--if-exists"]), "rm": (1, ["--if-exists"]),
  "list": (0, ["--json", "--all-groups", "--service=default"]), "ls": (0, ["--expired", "-a alice"]),
  "rename": (2, ["--json"]), "mv": (2, []), "gte": (1, [])}
PREFERENCES = {
  "read": (1, ["--default=7", "--json"]), "write": (2, ["--no-sync", "--expect 1", "--dry-run"]),
  "delete": (1, ["--if-exists", "--dry-run"]), "rm": (1, ["--if-exists"]), "list": (0, ["--json"]), "ls": (0, []),
  "export": (0, []), "red": (1, [])}


def line(numbers: random.Random) -> list[str]:
  """A command line; half of them are usual ones."""
  of_keychain = numbers.random() < 0.65
  commands = KEYCHAIN if of_keychain else PREFERENCES
  command = numbers.choice(list(commands))
  count, options = commands[command]
  arguments = [] if of_keychain else [["-d", "web"]]
  if numbers.random() < 0.5:
    arguments += [[numbers.choice(ACCOUNTS[:2])] for _ in range(count)]
    arguments += [option.split() for option in options if numbers.random() < 0.4]
  else:
    arguments += [[numbers.choice(ACCOUNTS)] for _ in range(numbers.choice([0, 1, 1, 2, 3]))]
    while numbers.random() < 0.5:
      name = numbers.choice(list(OPTIONS))
      value = numbers.choice(OPTIONS[name])
      arguments.append([f"{name}={value}"] if numbers.random() < 0.3 else [name, value])
    while numbers.random() < 0.25:
      arguments.append([numbers.choice(FLAGS)])
  numbers.shuffle(arguments)
  words = ["keychain", command] if of_keychain else [command]
  return words + [word for argument in arguments for word in argument]


def outcome(home, arguments: list[str]) -> tuple[int, str, str]:
  ended = subprocess.run(
    [home.program, *arguments], cwd=home.folder, env=home.environment, input=b"secret", timeout=LIMIT,
    capture_output=True, start_new_session=True)

  def plain(output: bytes) -> str:
    text = output.decode().replace(str(home.folder), "HOME")
    # Versions are random numbers.
    text = re.sub(r"\b\d{10,20}\b", "VERSION", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?", "TIME", text)

  return ended.returncode, plain(ended.stdout), plain(ended.stderr)


def test_both_ways_end_alike(make_home, parsed_prefs):
  quick, parsed = make_home(), make_home()
  parsed.program = parsed_prefs
  numbers = random.Random(14)
  codes = []
  for _ in range(LINES):
    arguments = line(numbers)
    ends = [outcome(home, arguments) for home in (quick, parsed)]
    assert ends[0] == ends[1], arguments
    codes.append(ends[0][0])
  # Enough of them do something, and enough do not.
  assert codes.count(0) > LINES / 5 and codes.count(64) > LINES / 20, codes
