"""Replaces `systemd-run` for the properties that the documentation uses."""

from servers_page import USER

# What systemd does for the properties of the page, before it starts a program.
SYSTEMD_RUN = f"""#!/usr/bin/python3
import os, shutil, sys
words = sys.argv[1:]
properties = []
while words[0].startswith("-"):
  word = words.pop(0)
  if word == "-p":
    properties.append(tuple(words.pop(0).split("=", 1)))
  elif word == "-E":
    properties.append(("Environment", words.pop(0)))
  else:
    assert word in ("--pipe", "--wait", "--collect", "--quiet"), word
environment = {{"PATH": "/usr/local/bin:/usr/bin:/bin"}}
for name, value in properties:
  if name == "StateDirectory":
    folder = "/var/lib/" + value
    private = "private/" if ("DynamicUser", "yes") in properties else ""
    mode = int(dict(properties).get("StateDirectoryMode", "0755"), 8)
    os.makedirs("/var/lib/" + private + value, mode, exist_ok=True)
    os.chown("/var/lib/" + private + value, {USER}, {USER})
    if private and not os.path.islink(folder):
      os.symlink(private + value, folder)
    environment["STATE_DIRECTORY"] = folder
  elif name == "LoadCredential":
    identifier, source = value.split(":")
    folder = "/run/credentials/run.service"
    os.makedirs(folder, 0o500, exist_ok=True)
    shutil.copy(source, folder)
    os.chmod(folder + "/" + identifier, 0o400)
    os.chown(folder + "/" + identifier, {USER}, {USER})
    os.chown(folder, {USER}, {USER})
    environment["CREDENTIALS_DIRECTORY"] = folder
  elif name == "Environment":
    environment |= [value.split("=", 1)]
os.setgroups([])
os.setgid({USER})
os.setuid({USER})
os.execve(words[0], words, environment)
"""
