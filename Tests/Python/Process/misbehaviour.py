"""Wrong answers of the fake provider of the Secret Service."""

ROOT = "/org/freedesktop/secrets"
SESSION = ROOT + "/session/1"
COLLECTION = ROOT + "/collection/login"

# The second Oakley group of RFC 2409.
PRIME = int(
  "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
  "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
  "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)

# Public keys that a provider may send, as bytes.
KEYS = {
  "0": bytes(128), "1": bytes(127) + b"\1", "p-1": (PRIME - 1).to_bytes(128, "big"),
  "p": PRIME.to_bytes(128, "big"), "p+1": (PRIME + 1).to_bytes(128, "big"), "empty": b"",
  "short 0": b"\0", "short 1": b"\1", "short 2": b"\2", "too long": b"\1" + bytes(128),
  "1 MB": b"\5" * 1_000_000}

# Replies of other types than those of the specification.
REPLIES = {
  "nothing": (None, ()),
  "a string": ("s", ("nonsense",)),
  "a number": ("t", (2**64 - 1,)),
  "a path": ("o", ("/nonsense",)),
  "strings": ("as", (["", "nonsense", "/"],)),
  "paths": ("ao", (["/nonsense"] * 3,)),
  "two strings": ("ss", ("nonsense", "/")),
  "a variant of a string": ("v", (("s", "nonsense"),)),
  "a variant of strings": ("v", (("as", ["", "nonsense"]),)),
  "a variant of a number": ("v", (("u", 7),)),
  "a variant of paths": ("v", (("ao", ["/nonsense"]),)),
  "variants in each other": ("v", (("v", ("v", ("v", ("i", -1)))),)),
  "a dictionary": ("a{sv}", ({"Locked": ("s", "no"), "Attributes": ("u", 1)},)),
  "a dictionary of numbers": ("a{uu}", ({1: 2},)),
  "a secret that is none": ("(ssss)", (("", "", "", ""),)),
  "a string and a path": ("so", ("nonsense", "/nonsense")),
  "a number as key": ("vo", (("u", 1), SESSION)),
  "a string as key": ("vo", (("s", "nonsense"), SESSION)),
  "strings as key": ("vo", (("as", ["a", "b"]), SESSION)),
  "numbers as key": ("vo", (("au", [5] * 32), SESSION))}

# Those of one value, which can stand in a variant.
SINGLE = [name for name, (signature, body) in REPLIES.items() if len(body) == 1]

FAR_TIMES = {"2^53": 2**53, "2^63": 2**63, "2^64-1": 2**64 - 1}
