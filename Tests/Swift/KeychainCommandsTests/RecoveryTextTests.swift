import ArgumentParser
import KeychainCredentials
import KeychainVault
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

private typealias Recovery = KeychainError.Recovery

@Suite("Texts of recoveries in library and commands")
struct RecoveryTextTests {
  @Test(arguments: examples)
  fileprivate func anActionHasANameInEachInterface(_ action: Recovery.Action) {
    #expect(action.isListed)
    let library = action.description
    #expect(library.contains("`") && !library.contains("--") && !library.contains("keychain "))
    KeychainCommandContext.$current.withValue(KeychainCommandContext(Mounted.self)) {
      let command = action.commandText
      #expect(!command.isEmpty && !command.contains("`") && !command.contains("prefs"))
      #expect(
        command.contains("'mytool keychain ") || command.hasPrefix("--") || command == "device.key")
    }
  }

  @Test func theWordsAreTheSameInBoth() {
    let recovery: Recovery = "run \(.verify), and restore '\("a b")' or \(3) others"
    #expect(recovery.actions == [.verify])
    #expect("\(recovery)" == "run `Vault.verify(…)`, and restore 'a b' or 3 others")
    #expect(recovery.text { _ in "it" } == "run it, and restore 'a b' or 3 others")
  }

  @Test func deletingAnItemIsAWholeCommand() {
    let plain = InternetPassword(
      server: "h", protocol: "https", port: 8443, path: "/a b", account: "al")
    let odd = CredentialIdentity(
      .genericPassword(service: "-s", account: "-a"), accessGroup: "g")
    KeychainCommandContext.$current.withValue(KeychainCommandContext(Mounted.self)) {
      let text = { Recovery.Action.deleteItem($0, ofOtherProgram: $1).commandText }
      #expect(
        text(CredentialIdentity(.internetPassword(plain)), true)
          == "'mytool keychain delete --server h --protocol https --port 8443 --path '/a b' "
          + "--other-programs al'")
      #expect(text(odd, false) == "'mytool keychain delete --service=-s --access-group g -- -a'")
      // Without the option, another service is meant.
      #expect(
        text(.genericPassword(service: "", account: "a"), false)
          == "'mytool keychain delete --service '' a'")
    }
    #expect(
      AbsenceText.elsewhere("a", [odd]) == "a exists with --service=-s --access-group g")
  }

  @Test func adviceNamesNoAction() {
    let recovery: Recovery = "chmod 600 x"
    #expect(recovery == .advice("chmod 600 x") && recovery.actions.isEmpty)
    #expect("\(recovery)" == "chmod 600 x" && recovery.commandText == "chmod 600 x")
  }

  @Test func joinedRecoveriesKeepTheirActions() {
    let joined = [Recovery.unlock, .tryAgain, .verify].joined(separator: "; ")
    #expect(joined?.actions == [.unlock, .verify])
    #expect(joined?.text { _ in "it" } == "run it; try again; run it, and restore a backup")
    #expect([Recovery]().joined(separator: "; ") == nil)
  }

  @Test func anErrorDescribesItsRecovery() {
    let error = KeychainError(.locked, "it is locked", recovery: .unlock)
    #expect("\(error)" == "it is locked (run `Vault.unlock(…)`)")
    #expect(error.recoverySuggestion == "run `Vault.unlock(…)`")
    #expect("\(KeychainError(.busy, "it is busy"))" == "it is busy")
  }

  @Test func aNoticeEndsWithItsRecovery() {
    let notice = Notice(kind: .weakKeyFile, message: "weak", recovery: "see \(.status)")
    #expect("\(notice)" == "weak; see `Vault.status()`")
    #expect("\(Notice(kind: .vaultCreated, message: "made"))" == "made")
  }

  fileprivate static let examples: [Recovery.Action] =
    [
      .unlock, .unlockWithKeyFile, .unlockWithRecoveryCode, .lockAll, .read, .update, .delete,
      .abandonSource, .nameVault, .status,
      .verify, .acceptRestored, .acceptChecked("0a"), .giveCheck("0a"), .compact, .dropDamaged,
      .nameAccessibility, .rekey, .export, .replaceBackup, .listSlots, .addSlotForService,
      .nameSlot, .createIdentity, .showIdentity, .nameStore, .useVault, .nameCollection, .migrate,
      .overwrite, .allowReaders(.group), .allowReaders(.others), .createVault(startingAnew: false),
      .createVault(startingAnew: true), .pinIdentity(check: nil), .pinIdentity(check: "0123"),
      .removeSlot(number: nil, deletingItems: false, withNewKeys: false),
      .removeSlot(number: 2, deletingItems: true, withNewKeys: true),
      .deleteItem(.genericPassword(service: "s", account: "a"), ofOtherProgram: false),
    ]
    + [nil, .passphrase, .keyFile, .recoveryCode, .identity, .device].flatMap { key in
      [.addSlot(key)] + (key.map { [.giveKey($0)] } ?? [])
    }
}

extension KeychainError.Recovery.Action {
  /// A new case does not compile here until it is added to the examples.
  fileprivate var isListed: Bool {
    switch self {
    case .unlock, .unlockWithKeyFile, .unlockWithRecoveryCode, .lockAll, .giveKey, .allowReaders,
      .read, .update,
      .delete, .deleteItem, .abandonSource, .createVault, .nameVault, .status, .verify,
      .acceptRestored, .acceptChecked, .giveCheck, .compact, .dropDamaged, .nameAccessibility,
      .rekey,
      .export,
      .replaceBackup, .listSlots, .addSlot, .addSlotForService, .nameSlot, .removeSlot,
      .createIdentity, .showIdentity, .pinIdentity, .nameStore, .useVault, .nameCollection,
      .migrate, .overwrite:
      RecoveryTextTests.examples.contains(self)
    }
  }
}

private struct Mounted: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mytool", subcommands: [KeychainCommand.self])
}
