import Foundation
import Keychain

/// Helpers that other programs call: git's, in a row, compared with as many plain reads.
struct HelperBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort
  let prefs: String

  private let group = "Helper"
  private var path: String { vaults.folder + "/helpers/vault" }
  private var requestPath: String { vaults.folder + "/helpers/request" }
  private var calls: Int { effort.isQuick ? 50 : 200 }

  func run() throws -> [Figure] {
    try makeVault()
    let get = ChildProcess(
      prefs, "keychain", "get", "account-7", "--service", "bench", "--vault", path)
    let git = ChildProcess(prefs, "keychain", "git-credential", "get", "--vault", path)
      .reading(requestPath)
    guard try git.output().contains("password=secret number 7") else {
      throw BenchmarkVaults.Failure()
    }
    let comparison = try Comparison.measure(rounds: effort.slowRounds, batch: calls) { _ in
      try git.run()
    } _: { _ in
      try get.run()
    }
    return [
      Figure(
        group, "git-credential get, \(calls) in a row", over: "as many plain gets", comparison,
        atMost: 1.3)
    ]
  }

  private func makeVault() throws {
    try vaults.makeFolder((path as NSString).deletingLastPathComponent)
    let vault = BenchmarkVaults.handle(path)
    for number in 0..<100 {
      try vault.set(
        Credential(BenchmarkVaults.identity(number)), secret: BenchmarkVaults.secret(number))
      let password = InternetPassword(
        server: "\(number).example.com", protocol: "https", account: "account-\(number)")
      try vault.set(
        Credential(CredentialIdentity(.internetPassword(password))),
        secret: BenchmarkVaults.secret(number))
    }
    try Data("protocol=https\nhost=7.example.com\n".utf8).write(to: URL(filePath: requestPath))
  }
}
