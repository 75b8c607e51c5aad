import BareStore
import Foundation
import Keychain

/// Work on many items together, and on slots; a change of slots verifies the whole vault first.
struct BatchBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  func run() throws -> (charts: [Chart], figures: [Figure]) {
    let export = vaults.folder + "/export"
    _ = try BenchmarkVaults.handle(vaults.path(vaults.whole))
      .export(to: export, passphrase: BenchmarkVaults.passphrase())
    return ([try batchImport(export)], [try changePassphrase(export)])
  }

  /// An import hashes the passphrase of the export first; this is measured separately and
  /// subtracted.
  private func batchImport(_ export: String) throws -> Chart {
    let bare = try BareStore(path: vaults.folder + "/bare-import.db")
    var comparison = Comparison()
    for round in 0..<effort.slowRounds {
      let vault = BenchmarkVaults.handle(vaults.folder + "/import-\(round).db")
      let time = try Stopwatch.time {
        let report = try vault.importItems(from: export, passphrase: BenchmarkVaults.passphrase())
        guard report.addedCount == vaults.whole else { throw BenchmarkVaults.Failure() }
      }
      comparison.subject.append(time - (try PasswordHashBenchmark.times(1).median))
      comparison.reference.append(try Stopwatch.time { try bare.replace(count: vaults.whole) })
    }
    let limit = "a bare file of as many boxes, sealed, written and synced"
    return Chart(
      name: "import",
      question: "How long does importing \(vaults.whole.formatted()) secrets take?",
      remark:
        "From an encrypted export into a new vault, durably; the hash of the export's passphrase is taken off.",
      reference: limit,
      groups: [
        BarGroup(
          heading: nil, bars: [Bar("vault", comparison.subject, isOurs: true, atMost: 3)],
          limit: .init(label: limit, value: comparison.reference.median))
      ],
      missing: [
        "Not compared: pass, age, secret-tool and keyrings.cryptfile, which import nothing."
      ])
  }

  private func changePassphrase(_ export: String) throws -> Figure {
    let large = try passphraseVault("change-large.db")
    _ = try large.importItems(from: export, passphrase: BenchmarkVaults.passphrase())
    let small = try passphraseVault("change-small.db")
    for number in 0..<10 {
      try small.set(
        Credential(BenchmarkVaults.identity(number)), secret: BenchmarkVaults.secret(number))
    }
    // By the device key, which opens as little as the verification before a change does.
    let locked = BenchmarkVaults.handle(vaults.folder + "/change-large.db")
    let comparison = try Comparison.measure(rounds: effort.slowRounds) { _ in
      try large.changePassphrase(to: BenchmarkVaults.passphrase())
    } _: { _ in
      guard try locked.verify().isIntact else { throw BenchmarkVaults.Failure() }
      try small.changePassphrase(to: BenchmarkVaults.passphrase())
    }
    return Figure(
      "Size", "change-passphrase at \(vaults.whole.formatted()) items",
      over: "a verification of these, and the same at 10 items", comparison, atMost: 1.3)
  }

  private func passphraseVault(_ name: String) throws -> Vault {
    let vault = BenchmarkVaults.handle(
      vaults.folder + "/" + name, passphraseFile: vaults.passphraseFile)
    try vault.create(passphrase: BenchmarkVaults.passphrase(), keyFile: nil, device: true)
    return vault
  }
}

/// One Argon2id evaluation at the cost of new passphrases.
enum PasswordHashBenchmark {
  static func times(_ count: Int) throws -> Samples {
    let passphrase = try BenchmarkVaults.passphrase()
    let salt = [UInt8](repeating: 1, count: PasswordHash.saltCount)
    var samples = Samples()
    for _ in 0..<count {
      samples.append(
        try Stopwatch.time {
          _ = try PasswordHash.key(passphrase: passphrase, salt: salt, parameters: .moderate)
        })
    }
    return samples
  }
}
