import ArgumentParser
import Foundation
import Keychain

/// Fails like a program's own command.
struct Fail: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Fail")

  enum Way: String, CaseIterable, ExpressibleByArgument {
    case code, plain, worded, use, cancelled, unsaved, undecodable
  }

  @Argument(help: "How to fail") var way = Way.code

  @Flag(help: "Refuse the command line") var refuse = false

  private struct NotSignedIn: Error {}

  private struct Refused: LocalizedError {
    var errorDescription: String? { "GitHub refused the token." }
  }

  func validate() throws {
    if refuse { throw ValidationError("GitHub is down. Wait.") }
  }

  func run() throws {
    switch way {
    case .code: throw ExitCode(3)
    case .plain: throw NotSignedIn()
    case .worded: throw Refused()
    case .use: throw ValidationError("GitHub is down.")
    case .cancelled: throw CancellationError()
    case .unsaved: try renewUnsaved()
    case .undecodable: try readUndecodable()
    }
  }

  /// Renews a value that the store no longer accepts.
  private func renewUnsaved() throws {
    let store = InMemoryCredentialStore()
    _ = try KeychainPreferences(service: SampleTool.service, store: store)
      .waitForValue(Int.self, for: "api", validWhile: { $0 > 0 }) { _ in
        store.fail(
          .writing,
          with: KeychainError(
            .locked, "the store is locked", recovery: .unlock))
        return 4242
      }
  }

  private func readUndecodable() throws {
    let store = InMemoryCredentialStore()
    let keychain = KeychainPreferences(service: SampleTool.service, store: store)
    try keychain.set("SECRET", for: "api")
    _ = try keychain.value(Int.self, for: "api")
  }
}
