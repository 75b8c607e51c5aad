#!/usr/bin/env python3
"""Makes the checked-in export of format 1 that `prefs` wrote: make_export_fixture.py PREFS FOLDER.

It holds what may leave a vault such as `format3-swift.vault`. An export that is checked in stays as it is;
this is how it was made.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from prefs_testing import FIXTURES, Home
from export_reader import read_export, report


def main() -> None:
  program, target = sys.argv[1], Path(sys.argv[2])
  folder = Path(tempfile.mkdtemp(prefix="prefs-fixture.", dir="/var/tmp"))
  home = Home(folder, program)
  for name, path in {"format3-swift.vault": home.vault, "test-device.key": home.state / "device.key",
                     "test-key-file": folder / "key", "test-export-passphrase": folder / "pass"
                     }.items():
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(FIXTURES / name, path)
    path.chmod(0o600)
  made = folder / "export1-swift.pkexport"
  home.run("export", str(made), "--key-file", str(folder / "key"), "--export-passphrase-file",
           str(folder / "pass"))
  shutil.copyfile(made, target / made.name)
  passphrase = (FIXTURES / "test-export-passphrase").read_bytes()
  found = report(read_export(made.read_bytes(), passphrase), with_secrets=True)
  text = json.dumps(found, indent=1) + "\n"
  (target / "export1-swift.expected.json").write_text(text, "utf-8")
  shutil.rmtree(folder)


if __name__ == "__main__":
  main()
