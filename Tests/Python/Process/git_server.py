"""A git server on this machine, with passwords, and git that asks `prefs` for them."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pexpect

from local_server import LocalServer
from prefs_testing import LIMIT, Home


class GitServer(LocalServer):
  """Serves repositories by `git http-backend` to who knows a password."""

  def __init__(self, folder: Path) -> None:
    self.folder = folder
    # By the path of a repository, or None for all.
    self.accounts: dict[str | None, set[tuple[str, str]]] = {None: {("alice", "secret")}}
    # The user and password of each request that had them.
    self.given: list[tuple[str, str]] = []
    # Requests with a password wait for it.
    self.free = threading.Event()
    self.free.set()
    super().__init__(Handler)

  def __exit__(self, *error):
    self.free.set()
    super().__exit__(*error)

  def add(self, name: str) -> str:
    """Makes a repository with a commit, and returns its URL."""
    path = self.folder / name
    author = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for command in (
        ["init", "-q", "--bare", str(path)],
        ["--git-dir", str(path), *author, "commit-tree", "-m", "first", EMPTY_TREE]):
      made = subprocess.run(
        ["git", *command], check=True, stdout=subprocess.PIPE, timeout=LIMIT,
        env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
    commit = made.stdout.decode().strip()
    subprocess.run(
      ["git", "--git-dir", str(path), "update-ref", "refs/heads/main", commit], check=True,
      env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
    return self.url(name)

  def url(self, name: str, user: str = "") -> str:
    return f"http://{user + '@' if user else ''}{self.host}/{name}"

  def admits(self, path: str, authorization: str | None) -> bool:
    kind, _, encoded = (authorization or "").partition(" ")
    if kind != "Basic":
      return False
    user, _, password = base64.b64decode(encoded).decode().partition(":")
    self.given.append((user, password))
    assert self.free.wait(LIMIT)
    accounts = self.accounts.get(path.split("/")[1], self.accounts.get(None, set()))
    return (user, password) in accounts


# git knows it without having it.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class Handler(BaseHTTPRequestHandler):
  owner: GitServer

  def answer(self):
    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
    path, _, query = self.path.partition("?")
    if not self.owner.admits(path, self.headers.get("Authorization")):
      self.send_response(401)
      self.send_header("WWW-Authenticate", 'Basic realm="test"')
      self.send_header("Content-Length", "0")
      self.end_headers()
      return
    environment = {
      "PATH": os.environ["PATH"], "HOME": str(self.owner.folder), "GIT_HTTP_EXPORT_ALL": "1",
      "GIT_PROJECT_ROOT": str(self.owner.folder), "PATH_INFO": path, "QUERY_STRING": query,
      "REQUEST_METHOD": self.command, "REMOTE_USER": "alice", "REMOTE_ADDR": "127.0.0.1",
      "CONTENT_TYPE": self.headers.get("Content-Type", ""),
      "CONTENT_LENGTH": str(len(body)),
      "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
      "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
    done = subprocess.run(
      ["git", "http-backend"], input=body, stdout=subprocess.PIPE, env=environment, timeout=LIMIT)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    self.send_response(int(headers.pop("Status", "200").split()[0]))
    for name, value in headers.items():
      self.send_header(name, value)
    self.send_header("Content-Length", str(len(content)))
    self.end_headers()
    self.wfile.write(content)

  do_GET = do_POST = answer

  def log_message(self, *_):
    pass


class Git:
  """git with `prefs` as its helper, in a home."""

  def __init__(self, home: Home, *options: str) -> None:
    self.home = home
    helper = f"!{shlex.quote(home.program)} keychain git-credential {' '.join(options)}"
    self.environment = home.environment | {
      "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1", "LC_ALL": "C",
      "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": helper,
      "GIT_TERMINAL_PROMPT": "0"}

  def configured(self, *settings: str, **variables: str | None) -> dict[str, str]:
    """Returns the variables with more settings `NAME=VALUE` of git's configuration."""
    environment = dict(self.environment)
    for index, setting in enumerate(settings, start=1):
      name, _, value = setting.partition("=")
      environment |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    environment["GIT_CONFIG_COUNT"] = str(1 + len(settings))
    environment |= {name: value for name, value in variables.items() if value is not None}
    for name, value in variables.items():
      if value is None:
        environment.pop(name, None)
    return environment

  def run(self, *arguments: str, code: int = 0, settings=(), **variables) -> str:
    """Runs git where nobody can answer; returns its standard error."""
    done = subprocess.run(
      ["git", *arguments], cwd=self.home.folder, env=self.configured(*settings, **variables),
      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
      start_new_session=True)
    assert done.returncode == code, f"{arguments}: {done}"
    return done.stderr

  def terminal(self, *arguments: str, settings=(), **variables) -> pexpect.spawn:
    variables = {"GIT_TERMINAL_PROMPT": None, "TERM": "xterm"} | variables
    return pexpect.spawn(
      "git", list(arguments), cwd=self.home.folder, dimensions=(24, 1000), timeout=LIMIT,
      env=self.configured(*settings, **variables))
