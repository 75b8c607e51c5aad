"""A provider of the Secret Service that works, and misbehaves on demand.

It owns the provider's name on the bus of its environment. It has one item of ours, `alice`, and one of
another program, `bob`. Its argument names a file that holds a misbehaviour as JSON:
`{"of": WHAT, "as": HOW}`. WHAT is a method, `Get NAME` for a property, or `Item NAME` for a property in
`GetAll`; HOW may end with ` while locked`. Each time the file changes, the items are again those of the
beginning, but for the names in `without`, and the `signals` are sent. The objects in `locked` stay locked
until somebody asks to unlock them, and answers a prompt if `asks` is true.

The system's Python runs it, which has SecretStorage, and with that Jeepney and Cryptography.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sys
import time

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call
from jeepney import new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

from misbehaviour import COLLECTION, FAR_TIMES, KEYS, PRIME, REPLIES, ROOT, SESSION

NAME = "org.freedesktop.secrets"
ALIAS = ROOT + "/aliases/default"
PROMPT = ROOT + "/prompt/1"
SECRET = "org.freedesktop.Secret."

def record(account: str) -> dict:
  return {
    "format": 1, "group": "", "generic": ["s", account], "accessibility": "whenUnlocked",
    "attributes": [], "created": 1_000_000, "modified": 1_000_000, "version": 1_000_000}


def own_item(account: str, **more) -> dict:
  return {
    "Label": account, "Created": 1, "Modified": 1, "secret": b"secret of " + account.encode(),
    "Attributes": {
      "service": "s", "username": account, "account": account, "application": "prephirences",
      "access-group": "", "accessibility": "whenUnlocked",
      "xdg:schema": "org.prephirences.Credential",
      "prephirences:credential": json.dumps(record(account) | more)}}


def foreign_item(account: str) -> dict:
  return {
    "Label": account, "Created": 1, "Modified": 1, "secret": b"theirs",
    "Attributes": {"service": "s", "username": account, "colour": "red"}}


class Silence(Exception):
  """No reply is sent."""


class Locked(Exception):
  """The object is locked."""


class Provider:
  def __init__(self, control: str, connection=None) -> None:
    """On a connection of its own, or one that takes its answers."""
    self.control = control
    self.connection = connection or open_dbus_connection("SESSION")
    self.shared_keys: dict[str, bytes] = {}
    self.state = None
    self.read_control()
    if connection is not None:
      return
    bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
    self.connection.send(new_method_call(bus, "RequestName", "su", (NAME, 4)))

  def run(self) -> None:
    print("READY", flush=True)
    while True:
      message = self.connection.receive()
      if message.header.message_type is not MessageType.method_call:
        continue
      self.read_control()
      try:
        reply = self.reply(message)
      except Silence:
        continue
      except KeyError:
        reply = new_error(message, SECRET + "Error.NoSuchObject")
      except Locked:
        reply = new_error(message, SECRET + "Error.IsLocked")
      self.connection.send(reply)

  def read_control(self) -> None:
    with open(self.control) as file:
      text = file.read()
    if text == self.state:
      return
    self.state = text
    wanted = json.loads(text)
    self.what = wanted["of"]
    self.how, _, condition = wanted["as"].partition(" while ")
    self.is_always_locked = condition == "locked"
    self.locked = set(wanted.get("locked", ()))
    self.asks = wanted.get("asks", False)
    self.prompted = set()
    if wanted.get("keep"):
      return
    items = {"alice": own_item("alice"), "bob": foreign_item("bob")}
    self.collection_items = {
      f"{COLLECTION}/{name}": item for name, item in items.items()
      if name not in wanted.get("without", ())}
    self.next = 3
    self.asked = set()
    for signal in wanted.get("signals", ()):
      self.signal(*signal)

  def is_wrong(self, what: str) -> bool:
    return self.what == what

  # How a message is answered.

  def reply(self, message):
    fields = message.header.fields
    interface, method = fields.get(HeaderFields.interface, ""), fields[HeaderFields.member]
    path, sender = fields[HeaderFields.path], fields[HeaderFields.sender]
    what = f"Get {message.body[1]}" if method == "Get" else method
    if self.how == "away for a moment" and (sender, path, what) not in self.asked:
      self.asked.add((sender, path, what))
      if what == "ReadAlias":
        return new_method_return(message, "o", ("/",))
      if path != ROOT:
        return new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")
    honest = self.answer(interface, method, path, sender, message.body)
    if self.how == "10,000 slow items":
      time.sleep(0.0015)
    if not self.is_wrong(what):
      return new_method_return(message, *honest)
    if self.how == "silence":
      raise Silence
    if self.how == "an end":
      os._exit(0)
    if self.how == "plain only":
      return self.plain_session(message)
    if self.how.startswith("error "):
      return new_error(message, self.how.removeprefix("error "), "s", ("nonsense",))
    if self.how in REPLIES:
      return new_method_return(message, *REPLIES[self.how])
    return new_method_return(message, *self.wrong(method, honest))

  def plain_session(self, message):
    if message.body[0] != "plain":
      return new_error(message, "org.freedesktop.DBus.Error.NotSupported")
    return new_method_return(message, "vo", (("s", ""), SESSION))

  def wrong(self, method: str, honest):
    signature, body = honest
    if self.how.endswith(",000 paths"):
      paths = [f"{COLLECTION}/{number}" for number in range(int(self.how[:3]) * 1000)]
      return (signature, (paths,)) if method == "SearchItems" else ("v", (("ao", paths),))
    if self.how == "10,000 slow items":
      return signature, ([f"{COLLECTION}/bob"] * 10_000,)
    if self.how == "200,000 attributes":
      pairs = {f"name {number}": "value" for number in range(200_000)}
      return "v", (("a{ss}", pairs),)
    if self.how.startswith("key "):
      return "vo", (("ay", KEYS[self.how.removeprefix("key ")]), SESSION)
    if self.how == "a prompt":
      return signature, tuple(
        PROMPT if kind == "o" else value
        for kind, value in zip(signature.replace("ao", "A"), body))
    if method == "GetSecret":
      return signature, (self.wrong_secret(body[0]),)
    if method == "GetSecrets":
      return signature, ({path: self.wrong_secret(one) for path, one in body[0].items()},)
    raise AssertionError(self.how)

  def wrong_secret(self, secret):
    session, parameters, value, kind = secret
    return {
      "another session": (ROOT + "/session/2", parameters, value, kind),
      "no vector": (session, b"", value, kind),
      "a long vector": (session, bytes(1_000_000), value, kind),
      "no value": (session, parameters, b"", kind),
      "an odd value": (session, parameters, value + b"x", kind),
      "a random value": (session, parameters, secrets.token_bytes(32), kind),
      "a value of 64 MB": (session, parameters, bytes(64_000_000), kind),
      "an odd kind": (session, parameters, value, "\u202e\n\x1b[31m")}[self.how]

  # What an honest provider answers.

  def answer(self, interface: str, method: str, path: str, sender: str, body):
    if interface.endswith(".Properties"):
      return getattr(self, "properties_" + method.lower())(path, *body)
    return getattr(self, "call_" + method)(path, sender, *body)

  def properties_get(self, path, interface, name):
    return "v", (self.properties(path)[name],)

  def properties_getall(self, path, interface):
    found = self.properties(path)
    if self.how == "missing":
      del found[self.what.removeprefix("Item ")]
    return "a{sv}", (found,)

  def properties_set(self, path, interface, name, value):
    self.items[path][name] = value[1]
    return None, ()

  @property
  def is_locked(self) -> bool:
    return self.is_always_locked or COLLECTION in self.locked

  @property
  def items(self) -> dict:
    return {} if self.is_locked else self.collection_items

  def properties(self, path: str) -> dict:
    if path == ROOT:
      return {"Collections": ("ao", [COLLECTION])}
    if path in (COLLECTION, ALIAS):
      return {
        "Items": ("ao", list(self.items)), "Label": ("s", "Login"), "Locked": ("b", self.is_locked)}
    item = self.items[path]
    found = {
      "Attributes": ("a{ss}", item["Attributes"]), "Label": ("s", item["Label"]),
      "Created": ("t", item["Created"]), "Modified": ("t", item["Modified"]),
      "Locked": ("b", path in self.locked)}
    if self.what.startswith("Item "):
      self.change_property(found, self.what.removeprefix("Item "))
    return found

  def change_property(self, found: dict, name: str) -> None:
    if self.how in FAR_TIMES:
      found[name] = ("t", FAR_TIMES[self.how])
    elif self.how.startswith("record "):
      if found["Attributes"][1].get("account") == "alice":
        wrong = json.loads(self.how.removeprefix("record "))
        found["Attributes"] = ("a{ss}", own_item("alice", **wrong)["Attributes"])
    elif self.how in REPLIES:
      signature, body = REPLIES[self.how]
      found[name] = (signature, body[0])

  def call_OpenSession(self, path, sender, algorithm, given):
    if algorithm == "plain":
      return "vo", (("s", ""), SESSION)
    private = secrets.randbelow(PRIME - 3) + 2
    shared = pow(int.from_bytes(given[1], "big"), private, PRIME).to_bytes(128, "big")
    extracted = hmac.digest(bytes(32), shared, hashlib.sha256)
    self.shared_keys[sender] = hmac.digest(extracted, b"\1", hashlib.sha256)[:16]
    return "vo", (("ay", pow(2, private, PRIME).to_bytes(128, "big")), SESSION)

  def cipher(self, sender: str, vector: bytes) -> Cipher:
    return Cipher(algorithms.AES(self.shared_keys[sender]), modes.CBC(vector))

  def encrypted(self, sender: str, secret: bytes):
    vector, padder = secrets.token_bytes(16), padding.PKCS7(128).padder()
    padded = padder.update(secret) + padder.finalize()
    encryptor = self.cipher(sender, vector).encryptor()
    return SESSION, vector, encryptor.update(padded) + encryptor.finalize(), "text/plain"

  def decrypted(self, sender: str, secret) -> bytes:
    if self.is_wrong("OpenSession"):
      # The test catches a program that sends a secret although no key was agreed on.
      print("SECRET", flush=True)
      return b""
    _, vector, value, _ = secret
    decryptor, unpadder = self.cipher(sender, vector).decryptor(), padding.PKCS7(128).unpadder()
    padded = decryptor.update(value) + decryptor.finalize()
    return unpadder.update(padded) + unpadder.finalize()

  def call_SearchItems(self, path, sender, wanted):
    return "ao", ([name for name, item in self.items.items()
                   if wanted.items() <= item["Attributes"].items()],)

  def call_ReadAlias(self, path, sender, name):
    return "o", (COLLECTION,)

  def call_Unlock(self, path, sender, paths):
    if self.asks and self.locked.intersection(paths):
      self.prompted = set(paths)
      return "aoo", ([], PROMPT)
    self.locked -= set(paths)
    return "aoo", ([] if self.is_locked else paths, "/")

  def call_GetSecret(self, path, sender, session):
    if path in self.locked:
      raise Locked
    return "(oayays)", (self.encrypted(sender, self.items[path]["secret"]),)

  def call_GetSecrets(self, path, sender, paths, session):
    return "a{o(oayays)}", ({
      name: self.encrypted(sender, self.items[name]["secret"])
      for name in paths if name not in self.locked},)

  def call_SetSecret(self, path, sender, secret):
    self.items[path]["secret"] = self.decrypted(sender, secret)
    return None, ()

  def call_CreateItem(self, path, sender, properties, secret, replaces):
    name = f"{COLLECTION}/{self.next}"
    self.next += 1
    self.items[name] = foreign_item("") | {
      "Label": properties[SECRET + "Item.Label"][1], "secret": self.decrypted(sender, secret),
      "Attributes": dict(properties[SECRET + "Item.Attributes"][1])}
    return "oo", (name, "/")

  def call_CreateCollection(self, path, sender, properties, alias):
    return "oo", (COLLECTION, "/")

  def call_Delete(self, path, sender):
    del self.items[path]
    return "o", ("/",)

  def call_Prompt(self, path, sender, window):
    if self.prompted:
      self.locked -= self.prompted
      self.prompted = set()
      emitter = DBusAddress(path, interface=SECRET + "Prompt")
      self.connection.send(new_signal(emitter, "Completed", "bv", (False, ("s", ""))))
    return None, ()

  def call_Dismiss(self, path, sender):
    return None, ()

  def signal(self, path: str, interface: str, name: str, argument: str) -> None:
    emitter = DBusAddress(path, interface=SECRET + interface)
    self.connection.send(new_signal(emitter, name, "o", (argument,)))


if __name__ == "__main__":
  Provider(sys.argv[1]).run()
