internal import ArgumentParser
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The commands for suites that are shared with other machines.
struct SyncCommand: PreferenceCommandPart {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Share preferences with other machines",
    discussion: """
      A suite that is shared has its values on this machine, and is in step with those of other \
      machines through etcd. Reading and writing never wait for it. Programs that share a suite \
      keep it in step while they run; 'run' does it for all suites of this user.

      Example:
        \(preferencesPath) sync add com.example.web etcd+https://etcd.example.com:2379/fleet \
      --user web --password-file ~/.config/fleet.password
        \(preferencesPath) sync status
        \(preferencesPath) sync log com.example.web interval
      """,
    subcommands: MountedCommands.list(
      [
        SyncAddCommand.self, SyncStatusCommand.self, SyncNowCommand.self, SyncRunCommand.self,
        SyncLogCommand.self, SyncMachinesCommand.self, SyncRevertCommand.self,
        SyncAdoptCommand.self, SyncRemoveCommand.self,
      ], of: PreferenceCommandGroupName.name))

  static var isGroup: Bool { false }
  static var manual: CommonManual { PreferenceManual.common }

  /// Fails with 64, and reports that a subcommand is missing.
  func run() throws {
    let context = PreferenceCommandContext.current
    CommandHost.current.interface(context.hostName)
      .reportMissingCommand([context.commandPath, "sync"])
    throw ExitCode(ExitCodes.usage)
  }
}

/// A command that works with shared suites.
protocol SyncSubcommand: PreferenceCommandPart {
  var options: SyncCommonOptions { get }

  func perform(in session: SharingSession) throws
}

extension SyncSubcommand {
  static var isGroup: Bool { false }
  static var manual: CommonManual { PreferenceManual.common }

  func run() throws {
    let context = PreferenceCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: options.quiet) {
      StandardDescriptors.prepare()
      try perform(in: SharingSession(context, CommandHost.current, isQuiet: options.quiet))
    }
  }
}

struct SyncCommonOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write only errors to standard error")
  var quiet = false
}

extension CompletionKind {
  static var sharedSuites: Self { .names { _ in SharedSuite.names() } }
}

struct SyncStatusCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what is in step, what is unsent, and why",
    discussion: """
      It asks no other machine: it shows what this one knows, also which process sends, what waits \
      for whom, which changes were recently given up for those of other machines, and the engine's \
      last answer. In JSON, hasBegun says whether changes of the suite are recorded, and revision \
      is 0 before the first contact. Values are not shown.

      --check is for monitoring: it prints a line for each suite that is not well, and ends with 0 \
      if all are, with 75 if one is temporarily not in step, and with 64, 65, 69, 74, 77, 78 or 79 \
      if a person must fix something; the worst counts. If nothing is shared, it ends with 44. In \
      JSON, healthy, code and problem say the same of each suite.

      Example:
        \(preferencesPath) sync status
        \(preferencesPath) sync status --check --unsent-within 10m
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @Flag(help: "Print JSON")
  var json = false

  @Flag(help: "Print only what is not well, and end with its code")
  var check = false

  @Option(
    help: .init(
      "How long a change may be unsent before that is not well (default: 5m)", valueName: "time"),
    transform: WatchCommand.duration)
  var unsentWithin = SuiteHealth.unsentLimit

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// A suite, with its report or the failure to make one.
  private struct Standing {
    let name: String
    let report: Result<SuiteReport, any Error>

    var health: SuiteHealth {
      switch report {
      case .success(let report): report.health
      case .failure(let failure): SuiteHealth(failure)
      }
    }

    var json: JSONValue {
      (try? report.get().json) ?? .object([("suite", .string(name))] + health.json)
    }

    func facts(path: String) -> [(String, String)] {
      (try? report.get().facts(path: path))
        ?? [("suite", name), ("trouble", health.problem?.message ?? "")]
    }
  }

  func perform(in session: SharingSession) throws {
    let all = try names(session).map { standing($0, session) }
    if json {
      try session.output.write(.array(all.map(\.json)))
    } else if check {
      try session.output.write(
        all.compactMap { suite in
          suite.health.problem.map { "\(suite.name): \($0.message) (\($0.code))".visible + "\n" }
        }.joined())
    } else if all.isEmpty {
      session.interface.say("no preferences are shared")
    } else {
      try session.output.write(facts: all.map { $0.facts(path: session.path) })
    }
    if check {
      let code = all.map(\.health.code).reduce(ExitCodes.success, SuiteHealth.worse)
      if code != ExitCodes.success { throw ExitCode(code) }
    } else {
      try session.interface.fail(
        with: all.compactMap { suite in
          guard case .failure(let failure) = suite.report else { return nil }
          return (failure as? PreferencesError)?.naming(suite: suite.name) ?? failure
        })
    }
  }

  private func names(_ session: SharingSession) throws -> [String] {
    guard suites.isEmpty else { return suites }
    let names = try SharingConfiguration.suiteNames()
    // Sharing nothing is not being in step.
    if check, names.isEmpty { throw session.nothingShared }
    return names
  }

  /// A suite whose settings or file cannot be used must not hide others.
  private func standing(_ name: String, _ session: SharingSession) -> Standing {
    Standing(
      name: name,
      report: Result {
        try SuiteReport(session.suite(name), unsentWithin: unsentWithin, path: session.path)
      })
  }
}

struct SyncMachinesCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "machines",
    abstract: "List the machines that share preferences, as they say themselves",
    discussion: """
      A terminal gets a table, and a pipe a line for each machine, whose fields are separated by \
      tabs: suite, name, tag, last contact, release, unsent keys, and 'this' for this machine. A \
      machine reports when it comes in step and every few minutes, by its own clock. Unsent are \
      keys that wait for a decision or were refused; changes of a machine without a network are \
      unknown. A machine whose user may only read cannot report, so it is not listed. 'direct' \
      instead of a tag is a machine that changes the store without a copy; it is forgotten after a \
      day.

      Example:
        \(preferencesPath) sync machines com.example.web
        \(preferencesPath) sync machines com.example.web --forget web-7
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @Option(
    help: .init(
      "Remove a machine that is gone from the list of one suite, by its name or tag",
      valueName: "machine"))
  var forget: String?

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  private struct Line {
    let suite: String
    let machine: StoreMachine
    let isThis: Bool
    let unsent: Int

    /// `state` is that of this machine's copy, or `nil` if there is none.
    init(_ suite: String, _ machine: StoreMachine, _ state: SharingState?) {
      self.suite = suite
      self.machine = machine
      isThis = state?.writer == machine.tag
      // Changes of this machine that wait for the network are known, too.
      unsent = (isThis ? state?.unsentKeys : nil) ?? machine.row.unsent
    }

    var fields: [String] {
      [
        suite, machine.row.name, machine.tag.isForgotten ? "direct" : machine.tag.shortText,
        DateText.text(machine.contact), machine.row.release, "\(unsent)", isThis ? "this" : "",
      ]
    }

    var json: JSONValue {
      .object([
        ("suite", .string(suite)), ("machine", .string(machine.row.name)),
        ("writer", .string(machine.tag.hexadecimal)), ("lastContact", .date(machine.contact)),
        ("release", .string(machine.row.release)), ("unsentKeys", .number("\(unsent)")),
        ("isThis", .bool(isThis)), ("hasCopy", .bool(!machine.tag.isForgotten)),
      ])
    }
  }

  func validate() throws {
    guard forget == nil || suites.count == 1 else {
      throw ValidationError(SyncUsageText.forgetInOneSuite)
    }
  }

  func perform(in session: SharingSession) throws {
    let found = try session.suites(suites)
    if let forget, let suite = found.usable.first {
      return try remove(forget, from: suite, session)
    }
    var lines: [Line] = []
    var failures = found.failures
    for suite in found.usable {
      do throws(PreferencesError) {
        let state = try? suite.replica.state()
        lines += try suite.direct().machines().map { Line(suite.name, $0, state) }
      } catch {
        failures.append(error.naming(suite: suite.name))
      }
    }
    if json {
      try session.output.write(.array(lines.map(\.json)))
    } else if found.usable.isEmpty, failures.isEmpty {
      session.interface.say("no preferences are shared")
    } else {
      try session.output.write(
        TextTable(
          header: ["SUITE", "MACHINE", "TAG", "CONTACT", "RELEASE", "UNSENT", ""],
          rows: lines.map(\.fields), nameCount: 2))
    }
    try session.interface.fail(with: failures)
  }

  private func remove(_ name: String, from suite: SharedSuite, _ session: SharingSession) throws {
    let store = try suite.direct()
    let machines = try store.machines()
    let digits = name.lowercased()
    var meant = machines.filter { $0.row.name.utf8.elementsEqual(name.utf8) }
    if meant.isEmpty, digits.count >= 4 {
      meant = machines.filter { $0.tag.hexadecimal.hasPrefix(digits) }
    }
    guard let machine = meant.first else { throw CommandLineError.noMachine(name, session.path) }
    guard meant.count == 1 else {
      throw CommandLineError.severalMachines(name, meant.map { $0.tag.shortText })
    }
    try store.forget(machine)
    session.interface.say("forgot '\(machine.row.name)', until it reports again")
  }
}
