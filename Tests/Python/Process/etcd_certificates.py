"""A certificate authority of a test, with certificates for its servers and clients."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificates:
  """The files; a client trusts `authority`."""

  folder: Path

  @property
  def authority(self) -> Path:
    return self.folder / "ca.crt"

  @property
  def certificate(self) -> Path:
    return self.folder / "server.crt"

  @property
  def key(self) -> Path:
    return self.folder / "server.key"

  def client(self, common_name: str | None = None) -> tuple[Path, Path]:
    """Makes a certificate and key for a client; the gateway refuses those with a common name."""
    subject = f"/O=tests/CN={common_name}" if common_name else "/O=tests"
    sign(self.folder, "client", subject, "extendedKeyUsage=clientAuth")
    return self.folder / "client.crt", self.folder / "client.key"

  def dated(self, name: str, validity: tuple[str, str], extension: str) -> tuple[Path, Path]:
    """Makes a certificate that is valid from one time to another, each as `20261231235959Z`."""
    sign(self.folder, name, "/O=tests", extension, validity)
    return self.folder / f"{name}.crt", self.folder / f"{name}.key"


def make_certificates(folder: Path, addresses: list[str]) -> Certificates:
  openssl(
    folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
    "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=authority of a test",
    "-addext", "keyUsage=critical,keyCertSign")
  sign(folder, "server", "/O=tests", names(addresses))
  return Certificates(folder)


def names(addresses: list[str]) -> str:
  """The extension by which a certificate is for these addresses."""
  return ",".join(["subjectAltName=DNS:localhost", *(f"IP:{address}" for address in addresses)])


# What `openssl ca` needs, which alone sets both times.
SIGNER = """[ca]
default_ca = signer
[signer]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = policy
unique_subject = no
[policy]
organizationName = optional
commonName = optional
"""


def sign(
  folder: Path, name: str, subject: str, extension: str, validity: tuple[str, str] | None = None
) -> None:
  openssl(
    folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
    f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
  (folder / f"{name}.ext").write_text(extension + "\n")
  if validity:
    (folder / "index.txt").write_text("")
    (folder / "signer.conf").write_text(SIGNER)
    return openssl(
      folder, "ca", "-batch", "-config", "signer.conf", "-cert", "ca.crt", "-keyfile", "ca.key",
      "-in", f"{name}.csr", "-out", f"{name}.crt", "-startdate", validity[0], "-enddate",
      validity[1], "-extfile", f"{name}.ext", "-notext")
  openssl(
    folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
    "-CAcreateserial", "-out", f"{name}.crt", "-days", "2", "-extfile", f"{name}.ext")


def openssl(folder: Path, *arguments: str) -> None:
  done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, timeout=30)
  assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"
