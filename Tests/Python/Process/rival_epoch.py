"""What a removed administrator forges: a whole epoch under an administration key of their own."""

from __future__ import annotations

from dataclasses import replace

from attack_testing import opening, secrets_of, signer
from prefs_testing import Home

import vault_forging as forging
import vault_keys as keys
from vault_rows import put_rows
from vault_slots import Granted
from vault_writer import VaultWriter


def put_epoch(dave: Home, forger: VaultWriter, succession) -> None:
  """A whole epoch of the forger's, in the place of the vault."""
  path, given = dave.vault, opening(dave.vault, secrets_of(dave, "identity"))
  rows, t0 = forging.read(path), given.tiers[0]
  members, state = forging.list_of(path, t0), forging.state_of(path, t0)
  vault, epoch = rows.head.id, succession.epoch
  tiers = dict(enumerate(keys.tier_keys(forger.root, vault, epoch)))
  binding = keys.binding(vault, epoch, forger.administration)
  own = signer(path, dave)
  forging.forge_head(path, tiers, epoch=epoch, administration=forger.administration,
                     checks=tuple(map(keys.tier_check, tiers.values())))
  hashed = forging.put_successions(path, succession)
  listed = []
  for slot in rows.slots:
    member = members.member(slot.number)
    plain = forger.root if slot.granted == Granted.ADMINISTERS else b"".join(tiers.values())
    row = forging.resealed_slot(slot, vault, member.box_key, plain, binding)
    put_rows(path, "slot", row.columns())
    listed.append(replace(member, row=row.row_hash()))
  box = forging.put_administration(path, forger.root, forger.administration_seed)
  forging.put_list(path, tiers[0], replace(
    members, epoch=epoch, administration=forger.administration, administration_box=box,
    serial=members.serial + 1, successions=hashed, members=tuple(listed)),
    forger.administration_seed)
  for table in ("item", "token", "access_group", "chain", "state"):
    forging.change(path, f"DELETE FROM {table}")
  put_rows(path, "state", (1, b""))
  counter = state.state.counter + 1
  forging.put_state(path, tiers[0], forging.SignedState(
    replace(state.state, counter=counter, first=counter), state.digest()))
  forging.reseal(path, tiers[0], own, counter=counter, first=counter)
