internal import ArgumentParser
internal import Keychain
internal import KeychainCredentials

/// Lists credentials.
struct ListCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List credentials, never their secrets",
    discussion: """
      A terminal gets a table. A pipe gets a line for each credential, the fields separated by \
      tabs: service or server, account, access group, accessibility, modified, expires, label; \
      backslash, tab and newline are written \\\\, \\t and \\n. Credentials of every service are \
      listed unless one is named; locked ones are counted on standard error.

      Example:
        \(keychainPath) list --service example.com --json
      """,
    aliases: ["ls"])

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("Only those of an account", valueName: "name"), completion: .accounts)
  var account: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Only those with an attribute; may be given again", valueName: "name=value"),
    transform: AttributePair.init(parsing:))
  var attribute: [AttributePair] = []

  @Flag(help: "List every access group")
  var allGroups = false

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func validate() throws {
    if allGroups && item.accessGroup != nil {
      throw ValidationError(UserInterface.Usage.groupOrAll)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    var query = item.query(account: account, attributes: CredentialAttributes(attribute))
    if allGroups { query.accessGroup = nil }
    let result = try session.store.search(query)
    try print(result.credentials.filter(item.matchesDetails))
    if result.lockedCount > 0 {
      session.interface.say(UserInterface.locked(result.lockedCount))
      session.interface.hint(UserInterface.unlockToSee(try session.stores.kinds(for: query)))
    }
    if result.otherDeviceCount > 0 {
      session.interface.say(UserInterface.ofOtherDevices(result.otherDeviceCount))
    }
    if let failure = result.failures.first { throw failure }
    guard result.damaged.isEmpty else {
      let records = try session.stores.records.all().unreadable
      guard result.damaged.allSatisfy(records.contains) else { throw .damagedItems(result.damaged) }
      throw .damagedRecords(result.damaged, hasDeviceKey: try session.vault.hasDeviceSecret())
    }
  }

  private func print(_ credentials: [Credential]) throws(KeychainError) {
    if json {
      return try StandardOutput.write(try JSONText.text(credentials.map(CredentialJSON.init)))
    }
    let table = UserInterface.table(credentials)
    if StandardOutput.isTerminal {
      if !credentials.isEmpty { try StandardOutput.write(table.columns) }
    } else {
      try StandardOutput.write(table.lines)
    }
  }
}
