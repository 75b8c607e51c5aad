internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// Removes a way to open the vault.
struct SlotsRemoveCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Let something no longer open the vault",
    discussion: """
      Older copies of the vault still open with what is removed here. The last passphrase takes \
      the credentials with it that need one (whenPasscodeSetThisDeviceOnly): --delete-items \
      allows that, after listing them. On a terminal a yes is asked for; elsewhere --yes says it.

      Example:
        \(keychainPath) slots remove 2 --yes
      """,
    aliases: ["rm"])

  @Argument(help: "The number that 'slots list' shows")
  var number: UInt32

  @Flag(help: "Also delete the credentials that need the passphrase")
  var deleteItems = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let slots = try session.vault.slots()
    guard let slot = slots.first(where: { $0.number == number }) else { throw .noSlot(number) }
    let doomed = deleteItems ? try session.vault.itemsDeleted(withSlot: number) : []
    for credential in doomed { session.interface.say(UserInterface.willDelete(credential)) }
    if slots.leaveOnlyTheDevice(without: number) {
      session.interface.say(UserInterface.deviceWillOpenEverything)
    }
    let question = UserInterface.questionToRemove(slot, deleting: doomed.count)
    guard try session.confirm(question, assumingYes: yes) else { throw .notConfirmed }
    let deleted = try session.vault.removeSlot(number, deletingItems: deleteItems)
    session.interface.say(UserInterface.removed(slot))
    if !deleted.isEmpty { session.interface.say(UserInterface.deleted(deleted.count)) }
  }
}
