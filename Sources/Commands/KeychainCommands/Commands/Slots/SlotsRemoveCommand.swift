internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Removes a way to open the vault.
struct SlotsRemoveCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a way to open the vault",
    discussion: """
      The vault gets new keys in the same step, so that nothing in the file opens under keys that the removed \
      slot gave. Everything else that opens the vault stays, and no secret of it is needed. The command \
      lists what stays by name and fingerprint, and what is lost, and asks on a terminal; elsewhere, \
      add --yes. Where a slot that administers is removed, the vault gets a new check, too.

      With --keep-keys nothing is sealed again, which is quick. Whoever had the slot may know the keys then, and \
      reads with them whatever copy of the vault they get.

      Older copies of the vault still open with what is removed here. The last passphrase takes the \
      credentials with it that need one (whenPasscodeSetThisDeviceOnly): --delete-items allows that, after \
      listing them. If neither a passphrase, a key file nor a recipient is left, this machine's device \
      key alone opens everything.

      Example:
        \(keychainPath) slots remove 3
        \(keychainPath) slots remove 2 --delete-items --yes
      """,
    aliases: ["rm"])

  @Argument(help: "The number that 'slots list' shows", completion: .slots)
  var number: UInt32

  @Flag(help: "Also delete the credentials that need the passphrase")
  var deleteItems = false

  @Flag(help: "Drop the credentials that do not open, after listing them")
  var dropDamaged = false

  @Flag(help: "Leave the vault the keys that whoever had the slot may know")
  var keepKeys = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    guard keepKeys else {
      return try session.rekey(
        removing: number, deletingItems: deleteItems, droppingDamaged: dropDamaged,
        assumingYes: yes)
    }
    let slot = try confirmed(in: session)
    let deleted = try session.vault.removeSlot(
      number, keepingKeys: true, deletingItems: deleteItems)
    session.interface.say(SlotText.removed(slot))
    if !deleted.isEmpty { session.interface.say(SlotText.deleted(deleted.count)) }
    if !isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys(of: slot)) }
  }

  /// Returns whether a person is asked to agree.
  private func isAsked(in session: Session) -> Bool { !yes && session.prompt != nil }

  /// Finds the slot, reports the losses, and asks.
  private func confirmed(in session: Session) throws(KeychainError) -> VaultSlot {
    let slots = try session.vault.slots()
    guard let slot = slots.first(where: { $0.number == number }) else { throw .noSlot(number) }
    let doomed = try listLosses(of: slot, among: slots, in: session)
    let question = SlotText.questionToRemove(slot, deleting: doomed)
    guard try session.confirm(question, assumingYes: yes) else { throw .notConfirmed }
    return slot
  }

  /// Reports what is lost with the slot if the others stay.
  ///
  /// - Returns: The number of items that are lost.
  private func listLosses(
    of slot: VaultSlot, among slots: [VaultSlot], in session: Session
  ) throws(KeychainError) -> Int {
    let doomed = deleteItems ? try session.vault.itemsDeleted(withSlot: number) : []
    for credential in doomed {
      session.interface.say(SlotText.willDelete(credential.identity), isAskedAbout: !yes)
    }
    if slots.leaveOnlyTheDevice(without: number) {
      session.interface.say(SlotText.deviceWillOpenEverything, isAskedAbout: !yes)
    }
    if isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys(of: slot)) }
    return doomed.count
  }
}

extension [VaultSlot] {
  /// Returns whether only this machine's device key opens everything after a slot is removed,
  /// because no passphrase, key file or identity is left.
  fileprivate func leaveOnlyTheDevice(without number: UInt32) -> Bool {
    let rest = filter { $0.number != number }
    let isDaily = { (slot: VaultSlot) in
      slot.grant == .administers && [.passphrase, .keyFile, .recipient].contains(slot.kind)
    }
    return !rest.contains(where: isDaily)
      && rest.contains { $0.isThisDevice == true && $0.grant == .openTier }
  }
}
