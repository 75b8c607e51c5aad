internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Lists the helpers.
struct HelpersListCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List which helpers are set up, and whether they work",
    usage: usage("helpers list [--json]"),
    discussion: """
      Each link is run once, without any credential. In a pipe the fields are separated by tabs: the \
      helper, the state of its link, the path of the link, and what names the helper in the \
      configuration of its client.

      Example:
        \(keychainPath) helpers list
      """,
    aliases: ["ls"])

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(
    _ context: KeychainCommandContext, _ interface: UserInterface
  ) throws(KeychainError) {
    let host = try InstalledHost(context)
    let all = HelperProgram.allCases.map { helper in
      var status = HelperStatus(helper, host)
      status.tryLink()
      return status
    }
    if json { return try CommandOutput.write(CommandOutput.json(all.map(HelperStatusJSON.init))) }
    let table = TextTable(
      header: ["HELPER", "STATE", "LINK", "CONFIGURED BY"],
      rows: all.map { status in
        [
          status.helper.client, status.words, status.path ?? "",
          status.configuredBy.map(\.name).joined(separator: ", "),
        ]
      })
    try CommandOutput.write(StandardOutput.isTerminal ? table.columns : table.lines)
    for status in all where status.isConfiguredButUnusable {
      interface.hint(NextHelperStep.text(status))
    }
  }
}

/// A helper in JSON.
struct HelperStatusJSON: Encodable {
  let helper: String
  let state: HelperLink.State
  let link: String?
  let inPath: Bool
  let configuredBy: [String]
  let unusable: [String]?
  let works: Bool?

  init(_ status: HelperStatus) {
    helper = status.helper.client
    state = status.state
    link = status.path
    inPath = status.isInPath
    configuredBy = status.configuredBy.map(\.name)
    let faulty = status.configuredBy.filter { $0.fault != nil }.map(\.name)
    unusable = faulty.isEmpty ? nil : faulty
    works = status.works
  }
}

/// What to do about a helper that a client is told to use, and cannot.
enum NextHelperStep {
  static func text(_ status: HelperStatus) -> String {
    let name = status.helper.client
    if let (place, fault) = status.fault { return text(place, fault, name) }
    let command = "'\(KeychainCommandContext.current.commandPath) helpers install \(name)'"
    return switch status.state {
    case .missing, .broken:
      "\(name) is told to use this program, but finds no link that leads to it: run \(command)"
    case .foreign:
      "\(name) is told to use this program, but finds another one, '\(status.path ?? "")': remove it, or put "
        + "the folder of the link before it in PATH"
    case .installed where !status.isInPath:
      "\(name) is told to use this program, but '\(status.path ?? "")' is not found in PATH: add its folder"
    case .installed:
      "\(name) is told to use this program, but '\(status.path ?? "")' does not answer: run it with "
        + "'\(status.helper.trial)' to see why"
    }
  }

  private static func text(
    _ place: String, _ fault: ClientConfiguration.Fault, _ client: String
  ) -> String {
    switch fault {
    case .missingProgram(let program):
      "'\(place)' of \(client) names '\(program)', which is not there or cannot be run: set it as "
        + "'\(KeychainCommandContext.current.commandPath) helpers install \(client)' says"
    case .otherProgram(let program):
      "'\(place)' of \(client) names '\(program)', which is another program: set it as "
        + "'\(KeychainCommandContext.current.commandPath) helpers install \(client)' says"
    case .notJSON: "'\(place)' is no JSON that \(client) reads: mend or remove it"
    }
  }
}
