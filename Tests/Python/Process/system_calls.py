"""Forbids system calls to a program that a test is about to start, as containers do."""

from __future__ import annotations

import ctypes
import platform
import struct

# The numbers of add_key, request_key and keyctl, and of mlock and mlock2.
KEY_CALLS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[platform.machine()]
LOCKING_CALLS = {"x86_64": (149, 325), "aarch64": (228, 284)}[platform.machine()]

LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2


class Program(ctypes.Structure):
  _fields_ = [("count", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def forbid_keys(errno: int) -> None:
  """Makes every later call for kernel keys fail, in this process and its children."""
  forbid(KEY_CALLS, errno)


def forbid(calls: tuple[int, ...], errno: int) -> None:
  """Makes some later calls fail, in this process and its children."""
  instructions = [(LOAD_WORD, 0, 0, 0)]
  for position, number in enumerate(calls):
    instructions.append((JUMP_IF_EQUAL, len(calls) - position, 0, number))
  instructions += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, FAIL_WITH | errno)]
  code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
  buffer = ctypes.create_string_buffer(code, len(code))
  program = Program(len(instructions), ctypes.cast(buffer, ctypes.c_void_p))
  library = ctypes.CDLL(None, use_errno=True)
  if library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "no_new_privs")
  if library.prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "seccomp")
