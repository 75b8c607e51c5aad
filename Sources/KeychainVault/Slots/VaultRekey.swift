internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Gives the vault new keys: every item is sealed again, and every slot that stays gets them.
struct VaultRekey {
  let admin: VaultAdministration
  var progress: ((VaultProgress) -> Void)?

  /// What the new epoch and serial are above; the list then accepts a restored file.
  var floor: (epoch: UInt64, serial: UInt64)?

  struct Outcome {
    let decision: RekeyDecision
    let check: VaultCheck
    let added: ListedSlot?
  }

  /// Gives new keys to what `decide` lets stay, which looks under the lock at what is there then.
  func run(
    adding new: (input: SlotInput, name: String)? = nil,
    _ decide: (borrowing SlotChange) throws(KeychainError) -> RekeyDecision
  ) throws(KeychainError) -> Outcome {
    let session = admin.session
    let outcome = try admin.locked { vault, change throws(KeychainError) -> Outcome in
      try session.deadline.excluding { () throws(KeychainError) in
        let (base, outcome) = try prepare(change, decide(change), adding: new)
        let seen = session.opened.seenFile
        var record = try change.contents.record(admin.keys)
        try vault.replaceBase(base) { made throws(KeychainError) in
          // From here on, the file may be the new one.
          try admin.opened.pin(outcome.check)
          if made.head.administration != record.administration {
            record.nextAdministration = made.head.administration
          }
          if admin.refuses { try seen.replace(by: record) }
        }
        try seen.replace(
          by: vault.contents.record(base.keys),
          lettingGo: admin.refuses ? nil : session.opened.seen.record)
        return outcome
      }
    }
    session.unlocker.lock([admin.head.id], all: true)
    session.file.forget()
    unpinOldCheck(outcome.check)
    return outcome
  }

  private func prepare(
    _ change: borrowing SlotChange, _ decision: RekeyDecision,
    adding new: (input: SlotInput, name: String)?
  ) throws(KeychainError) -> (NewBase, Outcome) {
    let changesKey = decision.plan.changesAdministrationKey
    let epoch = try VaultEpoch(
      after: admin.head, key: changesKey ? nil : admin.epoch.administration,
      above: floor?.epoch ?? 0, signer: admin.epoch.keys.signer)
    let presented = try admin.presented()
    var slots = try decision.carried.map { carried throws(KeychainError) in
      try epoch.reseal(
        carried.slot, grant: carried.grant, inputKey: presented[carried.slot.number])
    }
    var added: ListedSlot?
    if let new {
      let sealed = try epoch.seal(new.input, number: change.list.nextNumber, name: new.name)
      slots.append(sealed)
      added = sealed
    }
    var successions = change.contents.head.parts.successions
    if changesKey, let signer = decision.recoverySigner(admin) {
      let succession = try Succession(
        id: epoch.identity.id, epoch: epoch.identity.epoch,
        oldKey: admin.epoch.administration.publicKey, newKey: epoch.administration.publicKey,
        lastList: change.list.hash(), recovery: signer)
      successions.append(succession.encoded)
    }
    let (contents, old, progress) = (change.contents, change.sealing, progress)
    let base = try NewBase(
      contents, old.keys,
      bringing: change.signed(slots, epoch, successions: successions, above: floor?.serial)
    ) { writer throws(KeychainError) in
      try contents.putItems(
        from: old, to: ItemSealing(keys: epoch.keys, device: old.device), into: &writer,
        dropping: decision, progress)
    }
    return (base, Outcome(decision: decision, check: try epoch.identity.check(), added: added))
  }

  private func unpinOldCheck(_ new: VaultCheck) {
    do throws(KeychainError) {
      let old = try admin.head.check()
      if old != new { try admin.opened.pin(new, dropping: old) }
    } catch {
      admin.session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the vault has its new keys, and the identity file still opens copies under the "
            + "old ones: \(error.message)"))
    }
  }
}

extension VaultContents {
  /// Seals all items again, from bytes that are verified on the way, but for those that go.
  fileprivate func putItems(
    from old: ItemSealing, to new: ItemSealing, into writer: inout BaseWriter,
    dropping decision: RekeyDecision, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) {
    var items: [[(id: ItemID, item: VaultItem, credential: Credential)]] = [[], [], []]
    try forEachPage(old.keys) { walked throws(KeychainError) in
      if let page = walked.damaged, !decision.droppedPages.contains(page.first) {
        throw .damagedItem(page.name)
      }
      for item in walked.items where !decision.dropped.contains(item.id) {
        let credential = try old.credential(of: item, name: item.name)
        items[item.entry.tier].append(
          (try new.id(of: credential.identity), item, credential))
      }
    }
    let total = items.reduce(0) { $0 + $1.count }
    var count = 0
    for tier in items {
      for item in tier.sorted(by: { $0.id < $1.id }) {
        let secret = try old.secret(of: item.item, in: self, name: "\(item.credential.identity)")
        try writer.put(new.seal(item.credential, secret: secret))
        count += 1
        if count.isMultiple(of: 100) || count == total {
          progress?(VaultProgress(completed: count, total: total))
        }
      }
    }
  }
}
