import CPeer
import Foundation
import Keychain

/// The desktop's keyring, gnome-keyring through libsecret, with as many items as the small vault.
struct KeyringBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  func run() throws -> [Figure] {
    for number in 0..<vaults.small { try store(number) }
    let vault = BenchmarkVaults.handle(vaults.smallPath)
    let get = try Comparison.measure(rounds: effort.rounds, batch: 20) { call in
      let stored = try vault.secret(for: BenchmarkVaults.identity(number(call)))
      guard let stored, stored.secret.count > 20 else { throw BenchmarkVaults.Failure() }
    } _: { call in
      guard peer_lookup("bench", "account-\(number(call))") > 20 else {
        throw BenchmarkVaults.Failure()
      }
    }
    let set = try Comparison.measure(rounds: effort.rounds, batch: 3) { call in
      try vault.store(
        Credential(BenchmarkVaults.identity(number(call))),
        secret: BenchmarkVaults.secret(number(call)))
    } _: { call in
      try store(number(call))
    }
    let reference = "gnome-keyring through libsecret"
    let items = "at \(vaults.small.formatted()) items"
    return [
      Figure("Keyring", "library get \(items)", over: reference, get, atMost: 1.0 / 20),
      Figure("Keyring", "library set \(items)", over: reference, set, atMost: 1.0 / 40),
    ]
  }

  private func number(_ call: Int) -> Int { call * 7 % vaults.small }

  private func store(_ number: Int) throws {
    let secret = "secret number \(number), as long as a token"
    guard peer_store("bench", "account-\(number)", secret) else { throw BenchmarkVaults.Failure() }
  }
}
