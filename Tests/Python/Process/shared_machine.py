"""A home that shares the suite `web` with others."""

from __future__ import annotations

from preference_testing import Preferences


class Machine(Preferences):
  """A home that shares the suite `web`."""

  def __init__(self, home, address: str) -> None:
    super().__init__(home)
    self.address = address

  def sync(self, *arguments: str, **options):
    return self.run("sync", *arguments, domain=None, **options)

  def add(self, *arguments: str, **options):
    return self.sync("add", "web", self.address, *arguments, **options)

  def now(self, *arguments: str, **options):
    return self.sync("now", *arguments, **options)

  @property
  def status(self) -> dict:
    (status,) = self.sync("status", "--json").json
    return status

  @property
  def configuration(self):
    return self.folder / "prephirences/shared/web.json"

  def wait_for(self, key: str, value: str) -> None:
    """Waits until a value of another machine is here."""
    self.run("watch", key, "--until", value, "--timeout", "40s")
