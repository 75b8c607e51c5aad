import ArgumentParser
import Dispatch
import Foundation
import Keychain
import Synchronization

/// A pair of tokens from an OAuth server.
struct Tokens: Codable, Sendable {
  var access: String
  var refresh: String
  var expires: Date
}

/// Prints an access token; renews it first if it has expired.
struct Token: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print an access token")

  @Option(help: "The port of the server on this machine") var port: UInt16

  @Option(help: "How many tasks ask for the token") var tasks = 1

  @Option(help: "How many seconds to wait") var deadline = 60.0

  @Flag(help: "Block the thread") var blocking = false

  private struct NotSignedIn: Error {}

  func run() throws {
    let tokens = try blocking ? [blockingToken()] : inTask { try await asynchronousTokens() }
    for token in tokens { print(token.access) }
  }

  private func blockingToken() throws -> Tokens {
    try KeychainPreferences(service: SampleTool.service).waitForValue(
      Tokens.self, for: "api", validWhile: Self.isValid, deadline: .seconds(deadline),
      renew: { try refreshed($0) })
  }

  private func asynchronousTokens() async throws -> [Tokens] {
    let keychain = KeychainPreferences(service: SampleTool.service)
    return try await withThrowingTaskGroup(of: Tokens.self) { group in
      for _ in 0..<tasks {
        group.addTask {
          try await keychain.value(
            Tokens.self, for: "api", validWhile: Self.isValid, deadline: .seconds(deadline)
          ) { old in
            try await withCheckedThrowingContinuation { continuation in
              DispatchQueue.global().async {
                continuation.resume(with: Result { try refreshed(old) })
              }
            }
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Sendable private static func isValid(_ tokens: Tokens) -> Bool { tokens.expires > .now + 10 }

  private func refreshed(_ old: Tokens?) throws -> Tokens {
    guard let old else { throw NotSignedIn() }
    return try JSONDecoder().decode(
      Tokens.self, from: LocalServer(port: port).answer(to: Data(old.refresh.utf8)))
  }

  /// Runs asynchronous code to its end.
  private func inTask<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    Task {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
      isOver.signal()
    }
    isOver.wait()
    guard let result = outcome.withLock({ $0 }) else { throw ExitCode(70) }
    return try result.get()
  }
}
