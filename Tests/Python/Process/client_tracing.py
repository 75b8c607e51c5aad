"""What processes were given and what they wrote, as strace saw it."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

CALL = re.compile(r"^(\d+) +(\w+)\((.*?)( <unfinished \.\.\.>)?$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
DESCRIPTOR = re.compile(r"\d+<(.*?)>, ")


class Trace:
  """Starts a command so that its calls, and those of what it starts, are recorded.

  The words of `words` go before the command. Strings are recorded whole.
  """

  def __init__(self, folder: Path, *more: str) -> None:
    self.path = folder / "trace"
    calls = ("execve", "execveat", "write", "pwrite64", "writev", "pwritev", "pwritev2", *more)
    self.words = [
      "strace", "-f", "-qq", "-v", "-y", "-s", "1000000", "-e", "signal=none", "-e",
      f"trace={','.join(calls)}", "-o", str(self.path)]

  @property
  def calls(self) -> list[tuple[str, str]]:
    """The names of the calls, each with the rest of its line."""
    calls: list[tuple[str, str]] = []
    # A call of one process that another one's came into is on two lines.
    unfinished: dict[str, int] = {}
    for line in self.path.read_text(errors="replace").splitlines():
      if match := CALL.match(line):
        if match[4]:
          unfinished[match[1]] = len(calls)
        calls.append((match[2], match[3]))
      elif (match := RESUMED.match(line)) and (index := unfinished.pop(match[1], None)) is not None:
        calls[index] = (match[2], calls[index][1] + match[3])
    return calls

  def leaks(self, *secrets: str) -> set[str]:
    """Returns where secrets were seen: an argument, a variable, or a file on a disk."""
    found = set()
    for secret in secrets:
      forms = spellings(secret)
      for name, rest in self.calls:
        if any(form in rest for form in forms):
          found |= places(name, rest, forms)
    return found


def spellings(secret: str) -> list[str]:
  """Returns how a secret may appear in arguments and files: as it is, in base64, in a URL."""
  encoded = [base64.b64encode(secret.encode()).decode().rstrip("=")[:-1], quote(secret, safe="")]
  # As the password of Basic, it begins after two names of servers' users here.
  for user in ("alice", "token"):
    encoded.append(base64.b64encode(f"{user}:{secret}".encode()).decode().rstrip("=")[:-1])
  return [secret, *encoded]


def places(name: str, rest: str, forms: list[str]) -> set[str]:
  if name.startswith("execve"):
    arguments, _, variables = rest.partition("], [")
    found = {"argument"} if any(form in arguments for form in forms) else set()
    for variable in re.findall(r'"(\w+)=(?:[^"\\]|\\.)*"', variables):
      value = re.search(rf'"{variable}=((?:[^"\\]|\\.)*)"', variables)[1]
      if any(form in value for form in forms):
        found.add(f"variable {variable}")
    return found
  path = DESCRIPTOR.match(rest)
  on_disk = path and path[1].startswith("/") and not path[1].startswith(("/dev/", "/memfd:"))
  return {f"file {path[1]}"} if on_disk else set()


def files_with(folder: Path, *secrets: str, besides: Callable[[Path], bool] = lambda _: False):
  """Returns the files below a folder that contain a secret, in any spelling."""
  forms = [form.encode() for secret in secrets for form in spellings(secret)]
  found = set()
  for path in folder.rglob("*"):
    if path.is_file() and not path.is_symlink() and not besides(path):
      content = path.read_bytes()
      if any(form in content for form in forms):
        found.add(str(path))
  return found


def traced(
  trace: Trace, *command: str, code: int = 0, **options) -> subprocess.CompletedProcess:
  """Runs a client under a trace."""
  if "input" not in options:
    options["stdin"] = subprocess.DEVNULL
  done = subprocess.run(
    [*trace.words, *command], capture_output=True, timeout=120, start_new_session=True, **options)
  assert done.returncode == code, f"{command}: {done}"
  return done
