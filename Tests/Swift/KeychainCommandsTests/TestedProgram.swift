import ArgumentParser
import CommandTesting
import KeychainCredentials
import KeychainSecrets
import KeychainStores
import PrephirencesSystem
import Synchronization

@testable import KeychainCommands
@testable import PrephirencesCommandLine

/// A program that has the commands, in the process of the test: what a command line does to a store,
/// and what it says.
///
/// ```swift
/// let program = TestedProgram()
/// program.run("set", "alice", input: "secret")
/// #expect(program.run("get", "alice").output == "secret")
/// ```
struct TestedProgram {
  /// The store of the commands; `nil` for the built-in ones, which the environment must then lead to a
  /// folder of the test.
  var store: (any CredentialStore)? = InMemoryCredentialStore()

  /// The variables, of which the test's process adds none.
  var environment: [String: String] = [:]

  /// The person at the terminal; `nil` if nobody can be asked.
  var person: ScriptedPerson?

  /// The program; the name of its root command is the name in messages.
  var root: any ParsableCommand.Type = TestedRoot.self
  var defaultService = "default"

  /// A link to the program's file, which is that of the test otherwise.
  var executable = CommandHost.ownExecutable

  /// Runs a command line, with the words after `keychain`.
  @discardableResult
  func run(
    _ words: String..., input: String? = nil, columns: Int? = nil
  ) -> CommandRun {
    run(words, input: Array((input ?? "").utf8), columns: columns)
  }

  /// Runs a command line; a person is at the terminal of standard input unless something is piped
  /// into it.
  @discardableResult
  func run(_ words: [String], input: [UInt8] = [], columns: Int? = nil) -> CommandRun {
    let console = RecordedConsole(
      input: input, inputIsTerminal: person != nil && input.isEmpty, columns: columns)
    var context = KeychainCommandContext(root, defaultService: defaultService)
    context.store = store
    context.prompt = { [person] _ in person }
    let name = root._commandName
    var invocation = KeychainCommandLine.invocation(
      root, context, ProgramArguments([name, KeychainCommand.name] + words))
    invocation.host.console = console.console
    invocation.host.environment = EnvironmentVariables(environment)
    invocation.host.executable = executable
    let code = KeychainCommandContext.$current.withValue(context) { invocation.run() }
    return CommandRun(code: code, console)
  }
}

/// A program whose only commands are the keychain's.
struct TestedRoot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs", subcommands: [KeychainCommand.self])
}

/// A person who gives the answers of a test, in their order, and then cancels.
final class ScriptedPerson: Prompt {
  private struct State {
    var answers: [String]
    var questions: [String] = []
  }

  private let state: Mutex<State>

  init(_ answers: String...) { state = Mutex(State(answers: answers)) }

  /// The questions so far.
  var questions: [String] { state.withLock { $0.questions } }

  private func answer(_ question: String) throws(KeychainError) -> String {
    let answer: String? = state.withLock { state in
      state.questions.append(question)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw KeychainError(.cancelled, "cancelled") }
    return answer
  }

  func close() {}

  func secret(_ question: String) throws(KeychainError) -> SecretBytes {
    try SecretBytes(copying: answer(question))
  }

  func unlockingSecret(_ question: String) throws(KeychainError) -> SecretBytes {
    try secret(question)
  }

  func secretTwice(
    _ question: String, again: String, mismatch: String
  ) throws(KeychainError) -> SecretBytes {
    let first = try secret(question)
    if first.count == 0 { return first }
    guard first.isEqual(to: try secret(again)) else { throw KeychainError(.cancelled, mismatch) }
    return first
  }

  func confirmRetyped(
    _ secret: borrowing SecretBytes, below heading: String, question: String, wrong: String,
    isRight: (borrowing SecretBytes) -> Bool
  ) throws(KeychainError) -> Bool {
    isRight(try self.secret(question))
  }

  func confirm(_ question: String) throws(KeychainError) -> Bool {
    ["y", "yes"].contains(try answer(question))
  }
}
