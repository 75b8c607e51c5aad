import BareStore
import Foundation
import Keychain

/// The vault as a library, in one process.
struct LibraryBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  private let group = "Library"

  func run() throws -> [Figure] {
    let small = try open(vaults.smallPath)
    let large = try open(vaults.largePath)
    let bare = try BareStore(path: vaults.copy(vaults.smallPath, "bare.db"))
    return try overBareParts(small, bare) + flatness(small, large)
  }

  private func overBareParts(_ vault: Vault, _ bare: BareStore) throws -> [Figure] {
    let ids = try bare.ids(200)
    let get = try Comparison.measure(rounds: effort.rounds, batch: 100) { call in
      try self.get(vault, call * 7 % vaults.small)
    } _: { call in
      try bare.get(ids[call % ids.count])
    }
    let set = try Comparison.measure(rounds: effort.rounds, batch: 10) { call in
      try self.set(vault, call * 7 % vaults.small)
    } _: { call in
      try bare.set(ids[call % ids.count])
    }
    let add = try Comparison.measure(rounds: effort.rounds, batch: 5) { call in
      try self.set(vault, 1_000_000 + call)
    } _: { call in
      try bare.add(BareStore.random(32))
    }
    return [
      Figure(
        group, "get", over: "a GRDB read of the row, a guarded allocation, two boxes opened", get,
        atMost: 2),
      Figure(
        group, "set, replacing", over: "a bare transaction that writes the same rows", set,
        atMost: 1.15),
      Figure(
        group, "set, adding", over: "a bare transaction that writes the same rows", add, atMost: 2),
    ]
  }

  private func flatness(_ small: Vault, _ large: Vault) throws -> [Figure] {
    let get = try Comparison.measure(rounds: effort.rounds, batch: 100) { call in
      try self.get(large, call * 7919 % vaults.large)
    } _: { call in
      try self.get(small, call * 7 % vaults.small)
    }
    let set = try Comparison.measure(rounds: effort.rounds, batch: 10) { call in
      try self.set(large, call * 7919 % vaults.large)
    } _: { call in
      try self.set(small, call * 7 % vaults.small)
    }
    let open = try Comparison.measure(rounds: effort.rounds, batch: 10) { call in
      try self.get(BenchmarkVaults.handle(vaults.largePath), call * 7919 % vaults.large)
    } _: { call in
      try self.get(BenchmarkVaults.handle(vaults.smallPath), call * 7 % vaults.small)
    }
    let counts = "\(vaults.large.formatted()) items"
    let reference = "the same at \(vaults.small.formatted()) items"
    return [
      Figure("Size", "get at \(counts)", over: reference, get, atMost: 1.3),
      Figure("Size", "set at \(counts)", over: reference, set, atMost: 1.3),
      Figure("Size", "open and first get at \(counts)", over: reference, open, atMost: 1.2),
    ]
  }

  /// Returns a handle that has been used.
  private func open(_ path: String) throws -> Vault {
    let vault = BenchmarkVaults.handle(path)
    try get(vault, 0)
    return vault
  }

  private func get(_ vault: Vault, _ number: Int) throws {
    guard let stored = try vault.secret(for: BenchmarkVaults.identity(number)),
      stored.secret.count > 20
    else { throw BenchmarkVaults.Failure() }
  }

  private func set(_ vault: Vault, _ number: Int) throws {
    try vault.store(
      Credential(BenchmarkVaults.identity(number)), secret: BenchmarkVaults.secret(number))
  }
}

/// The thoroughness of the measurements.
struct Effort {
  let isQuick: Bool

  var rounds: Int { isQuick ? 15 : 41 }

  /// For rounds that are shorter than the scheduler's time slice.
  var shortRounds: Int { isQuick ? 101 : 401 }

  var processRounds: Int { isQuick ? 30 : 100 }
  var slowRounds: Int { isQuick ? 3 : 5 }

  /// For processes that hash a passphrase, for a second or more.
  var hashRounds: Int { isQuick ? 2 : 41 }
}
