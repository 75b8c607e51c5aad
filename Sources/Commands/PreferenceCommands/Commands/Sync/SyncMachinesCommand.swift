internal import ArgumentParser
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Lists the machines that share suites.
struct SyncMachinesCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "machines",
    abstract: "List the machines that share preferences, as they say themselves",
    discussion: """
      A terminal gets a table, and a pipe a line for each machine, whose fields are separated by tabs: \
      suite, name, tag, last contact, release, unsent keys, and 'this' for this machine. A machine says \
      so when it begins to be in step and every few minutes, by its own clock. Unsent are keys that wait \
      for a decision or were refused; what a machine without a network has changed is not known. One \
      whose user may only read cannot say anything, so it is not listed. 'direct' instead of a tag is a \
      machine that changes the store without a copy, and is forgotten after a day.

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

    /// - Parameters:
    ///   - suite: The name of the suite.
    ///   - machine: The machine.
    ///   - state: How this machine's copy stands; `nil` if there is none.
    init(_ suite: String, _ machine: StoreMachine, _ state: SharingState?) {
      self.suite = suite
      self.machine = machine
      isThis = state?.writer == machine.tag
      // What waits for the network here is known, too.
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
      try ValueOutput.write(.array(lines.map(\.json)))
    } else if found.usable.isEmpty, failures.isEmpty {
      session.interface.say("no preferences are shared")
    } else {
      try ValueOutput.write(
        TextTable(
          header: ["SUITE", "MACHINE", "TAG", "CONTACT", "RELEASE", "UNSENT", ""],
          rows: lines.map(\.fields)))
    }
    try session.interface.fail(with: failures)
  }

  private func remove(
    _ name: String, from suite: SharedSuite, _ session: SharingSession
  ) throws {
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
    session.interface.say("forgot '\(machine.row.name)', until it says again that it is there")
  }
}
