import BareStore
import Foundation
import Keychain

/// The vault as a library, in one process.
struct LibraryBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  private let group = "Library"

  func run() throws -> (charts: [Chart], figures: [Figure]) {
    let small = try open(vaults.smallPath)
    let large = try open(vaults.largePath)
    return try (
      [list()], [adding(small), flatness(small, large)] + limits()
    )
  }

  private func adding(_ vault: Vault) throws -> Figure {
    let bare = try BareStore(path: vaults.copy(vaults.smallPath, "bare.db"))
    let add = try Comparison.measure(rounds: effort.rounds, batch: 5) { call in
      try self.set(vault, 1_000_000 + call)
    } _: { _ in
      try bare.set()
    }
    return Figure(
      group, "set, adding", over: "a bare lock, append, sync and record", add, atMost: 1.5)
  }

  /// Lists all items, and reads as many pages bare.
  private func list() throws -> Chart {
    let path = vaults.path(vaults.whole)
    let vault = try open(path)
    let bare = try BareStore(path: vaults.copy(path, "bare-list.db"))
    let samples = try Turns.measure(
      rounds: effort.rounds,
      [
        { _ in try count(vault, CredentialQuery(), vaults.whole) },
        { _ in try bare.list(count: vaults.whole) },
      ])
    let limit = "bare reads of all pages, and two bare boxes of each"
    return Chart(
      name: "list", question: "How long does listing \(vaults.whole.formatted()) secrets take?",
      remark: "All names and dates, without the secrets. The store is open.", reference: limit,
      groups: [
        BarGroup(
          heading: nil, bars: [Bar("vault", samples[0], isOurs: true)],
          limit: .init(label: limit, value: samples[1].median))
      ],
      missing: [
        "Not compared: pass, which lists the names of files, and age, which has none; gnome-keyring, which was "
          + "not filled with so many."
      ])
  }

  private func count(_ vault: Vault, _ query: CredentialQuery, _ expected: Int) throws {
    guard try vault.search(query).credentials.count == expected else {
      throw BenchmarkVaults.Failure()
    }
  }

  private func flatness(_ small: Vault, _ large: Vault) throws -> Figure {
    let set = try Comparison.measure(rounds: effort.rounds, batch: 10) { call in
      try self.set(large, call * 7919 % vaults.large)
    } _: { call in
      try self.set(small, call * 7 % vaults.small)
    }
    return Figure(
      "Size", "set at \(vaults.large.formatted()) items",
      over: "the same at \(vaults.small.formatted()) items", set, atMost: 1.3)
  }

  /// What the vault may take at most, whatever the machine.
  private func limits() throws -> [Figure] {
    // The number of items, and milliseconds of a get and of opening.
    let limits = [(1_000, 0.025, 0.7), (10_000, 0.025, 2.0), (100_000, 0.07, 12.0)]
    var figures: [Figure] = []
    for (size, get, open) in limits where size <= vaults.large {
      let path = vaults.path(size)
      let vault = try self.open(path)
      try vaults.fillLog(vault, path, count: size)
      let counts = "at \(size.formatted()) items, with the longest log"
      figures += try [
        figure("get \(counts)", get, effort.rounds, batch: 100) {
          try self.get(vault, $0 * 7919 % size)
        },
        figure("open and first get \(counts)", open, effort.rounds, batch: 5) {
          try self.get(BenchmarkVaults.handle(path), $0 * 7919 % size)
        },
      ]
    }
    return try figures + whole()
  }

  /// What reads or writes all items.
  private func whole() throws -> [Figure] {
    let vault = try open(vaults.path(vaults.whole))
    let large = try open(vaults.largePath)
    let counts = "of \(vaults.large.formatted()) items"
    return try [
      figure("list of 10,000 items", 40, effort.slowRounds) { _ in
        try count(vault, CredentialQuery(), vaults.whole)
      },
      figure("search of 10,000 items", 40, effort.slowRounds) { _ in
        try count(vault, CredentialQuery(account: "account-7"), 1)
      },
      // Half of the pages, at least, have an item of the log.
      figure("new base \(counts)", Double(vaults.large) / 100, effort.slowRounds) { _ in
        try large.withTransaction { transaction in
          for number in 0..<1_000 {
            let item = number * 7919 % vaults.large
            try transaction.set(
              Credential(BenchmarkVaults.identity(item)), secret: BenchmarkVaults.secret(item))
          }
        }
        try large.compact()
      },
    ]
  }

  private func figure(
    _ name: String, _ milliseconds: Double, _ rounds: Int, batch: Int = 1,
    _ body: @escaping (Int) throws -> Void
  ) throws -> Figure {
    let samples = try Turns.measure(rounds: rounds, batch: batch, [body])[0]
    let limit = milliseconds / 1e3
    return Figure(group, name, within: limit.time, of: limit, samples)
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
    try vault.set(
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
  var hashRounds: Int { isQuick ? 2 : 15 }
}
