"""Reads or writes one secret in an encrypted file of keyrings.cryptfile.

The passphrase, and the secret to write, are the lines of standard input.
"""

import sys

from keyrings.cryptfile.cryptfile import CryptFileKeyring


def main():
  action, path = sys.argv[1:]
  lines = sys.stdin.read().splitlines()
  keyring = CryptFileKeyring()
  keyring.file_path = path
  keyring.keyring_key = lines[0]
  if action == "set":
    keyring.set_password("peer", "account-7", lines[1])
  else:
    print(keyring.get_password("peer", "account-7"))


main()
