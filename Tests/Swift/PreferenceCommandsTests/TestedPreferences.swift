import ArgumentParser
import CommandTesting
import Foundation
import PreferencesCore
import PreferencesDurable
import PrephirencesSystem
import Synchronization
import Testing

@testable import PreferenceCommands
@testable import PrephirencesCommandLine

/// A program that has the preference commands, in the process of the test: what a command line does to
/// domains in memory, and what it says.
///
/// ```swift
/// let program = TestedPreferences()
/// program.run("write", "port", "8080", "--type", "int", "--domain", "web")
/// #expect(program.run("read", "port", "--domain", "web").output == "8080\n")
/// ```
struct TestedPreferences {
  /// The domains of the commands.
  let domains = MemoryDomains()

  /// The answer to questions; `nil` if nobody can be asked.
  var answer: Bool?

  /// The domain of commands that name none.
  var defaultDomain: String?

  /// The variables, of which the test's process adds none.
  var environment: [String: String] = [:]

  /// Runs a command line, with the words after the program's name.
  @discardableResult
  func run(_ words: String..., input: String = "", columns: Int? = nil) -> CommandRun {
    run(words, input: Array(input.utf8), columns: columns)
  }

  /// Runs a command line whose standard input has these bytes.
  @discardableResult
  func run(_ words: [String], input: [UInt8] = [], columns: Int? = nil) -> CommandRun {
    let console = RecordedConsole(input: input, columns: columns)
    var context = PreferenceCommandContext(TestedRoot.self, defaultDomain: defaultDomain)
    context.domains = domains
    context.confirming = { [answer] _ throws(CommandLineError) in
      guard let answer else { throw .needsConfirmation }
      guard answer else { throw .notConfirmed }
    }
    var invocation = PreferenceCommandLine.invocation(
      TestedRoot.self, context, ProgramArguments([TestedRoot._commandName] + words))
    invocation.host.console = console.console
    invocation.host.environment = EnvironmentVariables(environment)
    let code = context.asCurrent { invocation.run() }
    return CommandRun(code: code, console)
  }
}

/// A program whose only commands are those of preferences.
struct TestedRoot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs", subcommands: PreferencesCommand.subcommands)
}

/// Domains in memory; a domain exists from its first value on.
final class MemoryDomains: DomainStores {
  fileprivate typealias Values = [[UInt8]: (key: String, value: PreferenceValue)]

  private let values = Mutex<[String: Values]>([:])

  func names() -> [String] {
    values.withLock { $0.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
  }

  func store(named name: String) -> any DomainStore { MemoryDomain(name: name, domains: self) }

  fileprivate func values(of name: String) -> Values? { values.withLock { $0[name] } }

  fileprivate func replace(_ new: Values?, of name: String) { values.withLock { $0[name] = new } }

  /// Sets a value, as a program would.
  func set(_ value: PreferenceValue, forKey key: String, in name: String) {
    values.withLock { $0[name, default: [:]][Array(key.utf8)] = (key, value) }
  }

  /// Returns what a key has.
  func value(forKey key: String, in name: String) -> PreferenceValue? {
    values.withLock { $0[name]?[Array(key.utf8)]?.value }
  }
}

private struct MemoryDomain: DomainStore {
  let name: String
  let domains: MemoryDomains

  func storedPath() -> String? { domains.values(of: name) == nil ? nil : expectedPath() }
  func expectedPath() -> String { "/memory/\(name).preferences" }
  func isWithoutFile() -> Bool { domains.values(of: name) == nil }

  func value(forKey key: String) -> PreferenceValue? { domains.value(forKey: key, in: name) }

  func pairs() -> ReadablePairs {
    ReadablePairs(pairs: Array((domains.values(of: name) ?? [:]).values))
  }

  func set(_ value: PreferenceValue?, forKey key: String) {
    var values = domains.values(of: name) ?? [:]
    values[Array(key.utf8)] = value.map { (key, $0) }
    domains.replace(values, of: name)
  }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    let before = domains.values(of: name)
    do { try body(self) } catch {
      domains.replace(before, of: name)
      throw error
    }
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) -> [PreferenceObservation] {
    for (key, value) in (domains.values(of: name) ?? [:]).values
    where initial && (keys.isEmpty || keys.contains { $0.utf8.elementsEqual(key.utf8) }) {
      changes.add(PreferenceChange(initial: key, value: value.object))
    }
    return []
  }

  var failureOfImport: PreferencesError? { nil }
  func synchronize() {}
}
