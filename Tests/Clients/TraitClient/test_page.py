"""The page of swift-configuration has the programs of this package that are configured, and commands that fit its unit."""

from __future__ import annotations

import re

import pytest

from configuration_testing import ROOT

PAGE = (ROOT / "Documentation" / "ConfiguredServers.md").read_text()
# All but the program without a configuration.
SOURCES = sorted(
  path for path in (ROOT / "Tests/Clients/TraitClient/Sources").glob("*/*.swift")
  if path.parent.name != "RemoteTool")


def blocks(language: str) -> list[str]:
  return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", PAGE)


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_the_page_has_the_program(source):
  assert source.read_text() in blocks("swift")


def test_commands_match_the_unit():
  """They run as the service does, but only what reads a secret gets the key."""
  (unit,) = blocks("ini")
  settings = [tuple(line.split("=", 1)) for line in unit.splitlines()[1:]]
  hidden = ("ExecStart", "ProtectHome")
  expected = [setting for setting in settings if setting[0] not in hidden]
  first, change = [block for block in blocks("sh") if "systemd-run" in block]
  assert re.findall(r"-p (\w+)=(\S+)", first) == expected
  assert re.findall(r"-p (\w+)=(\S+)", change) == [
    setting for setting in expected if setting[0] != "LoadCredential"]


def test_the_page_names_what_the_program_uses():
  """The program's message, its unit and its commands name the same key, service and suite."""
  program = next(source.read_text() for source in SOURCES if source.stem == "ConfiguredServer")
  (suite,) = re.findall(r'suiteName: "(.*?)"', program)
  commands = "".join(blocks("sh"))
  assert set(re.findall(r"--domain (\S+)", commands)) == {suite}
  assert set(re.findall(r"keychain set (.*? --service \S+)", commands)) == {
    "database.password --service com.example.webservice"}
  assert f"User={suite}\n" in PAGE
