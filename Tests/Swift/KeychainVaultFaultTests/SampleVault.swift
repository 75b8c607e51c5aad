import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting

/// A small vault with items of every kind, for tests that damage it.
struct SampleVault {
  let vault = Result { try TestVault() }
  let passphrase: String?
  private var expected: [(identity: CredentialIdentity, secret: [UInt8])] = []

  /// Creates the vault, which the passphrase opens if there is one, or else the device.
  init(passphrase: String?) throws {
    self.passphrase = passphrase
    let handle = try handle()
    for credential in Self.credentials(withPasscode: passphrase != nil) {
      let secret = Self.secret(of: credential.identity)
      try handle.store(credential, secret: SecretBytes(copying: secret))
      expected.append((credential.identity, Array(secret.utf8)))
    }
  }

  var count: Int { expected.count }

  /// Returns a new handle, with its secret if the vault needs one.
  func handle() throws -> Vault {
    let vault = try vault.get()
    return passphrase.map { vault.handle(passphrase: $0) } ?? vault.handle()
  }

  private static func credentials(withPasscode: Bool) -> [Credential] {
    var credentials = Accessibility.allCases
      .filter { withPasscode || $0 != .whenPasscodeSetThisDeviceOnly }
      .map { Credential(.test("\($0)"), accessibility: $0) }
    credentials[0].label = "label"
    credentials[1].attributes = ["colour": "blue"]
    for account in ["long", "longer"] { credentials.append(Credential(.test(account))) }
    for group in ["one", "two"] {
      credentials.append(Credential(.test("grouped", group: group), accessibility: .always))
    }
    for server in ["a.example", "b.example"] {
      let password = InternetPassword(server: server, account: "me")
      credentials.append(Credential(CredentialIdentity(.internetPassword(password))))
    }
    return credentials
  }

  private static func secret(of identity: CredentialIdentity) -> String {
    switch identity.account {
    case "long": String(repeating: "5 KiB", count: 1024)
    case "longer": String(repeating: "100 ", count: 25 << 10)
    default: "secret of \(identity)"
    }
  }

  /// Reads everything from the vault in its present state.
  ///
  /// - Returns: The outcomes of the reads.
  func read() throws -> DamageReport {
    var report = DamageReport()
    let handle = try handle()
    for (identity, secret) in expected {
      report.note(Result { try handle.has(secret, for: identity) }) { isRight in
        guard let isRight else { return "\(identity) is absent" }
        return isRight ? nil : "\(identity) has a wrong secret"
      }
    }
    let queries = [
      CredentialQuery(), CredentialQuery(service: "test"), CredentialQuery(account: "me"),
    ]
    for query in queries {
      let identities = expected.map(\.identity).filter { query.matches(Credential($0)) }
      report.note(Result { try handle.search(query) }) { found in
        let count =
          found.credentials.count + found.damaged.count + found.otherDeviceCount
        let isRight = found.credentials.allSatisfy { identities.contains($0.identity) }
        return count >= identities.count && found.lockedCount == 0 && isRight
          ? nil : "a search finds \(count) of \(identities.count)"
      }
    }
    return report
  }
}

extension CredentialStore {
  /// Returns whether a secret has these bytes; `nil` if it is missing.
  fileprivate func has(_ bytes: [UInt8], for identity: CredentialIdentity) throws -> Bool? {
    guard let stored = try secret(for: identity) else { return nil }
    return stored.secret.withBytes { found in
      found.withUnsafeBytes { found in
        bytes.withUnsafeBytes { bytes in
          guard let found = found.baseAddress, let expected = bytes.baseAddress else {
            return false
          }
          return stored.secret.count == bytes.count && memcmp(found, expected, bytes.count) == 0
        }
      }
    }
  }
}

/// The results of reading a damaged vault.
struct DamageReport {
  /// The number of reads by code, and of those with the right result.
  private(set) var outcomes: [String: Int] = [:]

  /// Results that must never happen.
  private(set) var violations: [String] = []

  /// Records the outcome of a read; `fault` returns what is wrong with an answer.
  mutating func note<Answer>(_ outcome: Result<Answer, any Error>, fault: (Answer) -> String?) {
    switch outcome {
    case .success(let answer):
      if let fault = fault(answer) { violations.append(fault) }
      outcomes["right", default: 0] += 1
    case .failure(let error as KeychainError):
      outcomes["\(error.code)", default: 0] += 1
      if !Self.honestCodes.contains(error.code) { violations.append("\(error)") }
    case .failure(let error): violations.append("\(error)")
    }
  }

  /// The codes that may report damage.
  private static let honestCodes: Set<KeychainError.Code> = [
    .damaged, .foreign, .unsupportedFormat, .rolledBack, .inputOutput,
  ]

  mutating func add(_ other: DamageReport) {
    outcomes.merge(other.outcomes, uniquingKeysWith: +)
    violations += other.violations
  }

  /// A table of the outcomes.
  var table: String {
    outcomes.sorted { $0.value > $1.value }.map { "\($0.value)\t\($0.key)" }.joined(separator: "\n")
  }
}
