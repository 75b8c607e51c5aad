import CPeer
import Foundation
import Keychain

/// The desktop's keyring through this package, compared with libsecret's own functions and its
/// command.
struct SecretServiceBenchmarks {
  let effort: Effort
  let prefs: String

  private let group = "Desktop keyring"
  private let ours = "bench-ours"
  private let theirs = "bench-theirs"
  private let count = 200

  func run() throws -> [Figure] {
    let store = SecretServiceStore()
    for number in 0..<count {
      try store.set(
        Credential(BenchmarkVaults.identity(number, service: ours)),
        secret: BenchmarkVaults.secret(number))
      let secret = "secret number \(number), as long as a token"
      guard peer_store(theirs, "account-\(number)", secret) else { throw BenchmarkVaults.Failure() }
    }
    let get = try compareGet(store, peer_search)
    let getAlone = try compareGet(store, peer_lookup)
    let command = ChildProcess(
      prefs, "keychain", "get", "account-7", "--service", ours, "--store", "secret-service")
    let tool = ChildProcess("secret-tool", "lookup", "service", theirs, "account", "account-7")
    let process = try Comparison.measure(rounds: effort.processRounds) { _ in
      try command.run()
    } _: { _ in
      try tool.run()
    }
    return [
      Figure(
        group, "library get, open connection",
        over: "libsecret's `secret_service_search_sync` with secrets, as complete", get, atMost: 1.2
      ),
      Figure(
        group, "library get, open connection",
        over: "libsecret's `secret_password_lookup_sync`, the secret without its names and times",
        getAlone, atMost: 1.2),
      Figure(group, "prefs keychain get", over: "secret-tool lookup", process, atMost: 1.2),
    ]
  }

  private func compareGet(
    _ store: SecretServiceStore,
    _ peer: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int
  ) throws -> Comparison {
    try Comparison.measure(rounds: effort.rounds, batch: 20) { call in
      let identity = BenchmarkVaults.identity(number(call), service: ours)
      guard let stored = try store.secret(for: identity), stored.secret.count > 20 else {
        throw BenchmarkVaults.Failure()
      }
    } _: { call in
      guard peer(theirs, "account-\(number(call))") > 20 else { throw BenchmarkVaults.Failure() }
    }
  }

  private func number(_ call: Int) -> Int { call * 7 % count }
}
