"""Reads the page about servers and containers: its blocks, its units and its Dockerfile."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

# The user of the page's containers and services, and the folder of their vault.
USER = 10001
STATE = "/var/lib/mytool"

TOKEN = "tok-42"

PAGE = (Path(__file__).resolve().parents[3] / "Documentation/Servers.md").read_text()


def blocks(language: str, section: str = "") -> list[str]:
  """Returns the blocks of a language, in the whole page or one section."""
  text = PAGE if not section else PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
  return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def unit(text: str) -> list[tuple[str, str]]:
  """The settings of a unit of systemd."""
  lines = [line for line in text.splitlines() if line and line[0] not in "[#"]
  return [tuple(line.split("=", 1)) for line in lines]


@dataclass
class Image:
  """The last image of a Dockerfile."""

  base: str
  runs: list[str] = field(default_factory=list)
  copies: list[tuple[str, str]] = field(default_factory=list)
  environment: dict[str, str] = field(default_factory=dict)
  user: str = ""
  volumes: list[str] = field(default_factory=list)
  entry: list[str] = field(default_factory=list)

  @property
  def packages(self) -> set[str]:
    return {word for run in self.runs for word in installed(run)}


def installed(run: str) -> list[str]:
  """Returns what a command of a Dockerfile installs."""
  match = re.search(r"apt-get install ([^&]*)", run)
  return [word for word in match[1].split() if not word.startswith("-")] if match else []


def images(text: str) -> list[Image]:
  """The images of a Dockerfile; an instruction that is not known here is an error."""
  made: list[Image] = []
  for line in text.replace("\\\n", " ").splitlines():
    if not line.strip():
      continue
    name, rest = line.split(None, 1)
    if name == "FROM":
      made.append(Image(rest.split()[0]))
      continue
    image = made[-1]
    match name:
      case "RUN": image.runs.append(rest)
      case "COPY": image.copies.append(tuple(rest.split()[-2:]))
      case "ENV": image.environment |= dict(word.split("=", 1) for word in shlex.split(rest))
      case "USER": image.user = rest
      case "VOLUME": image.volumes.append(rest)
      case "ENTRYPOINT": image.entry = json.loads(rest)
      case "WORKDIR": pass
      case _: raise AssertionError(f"{name} is no instruction of this page")
  return made
