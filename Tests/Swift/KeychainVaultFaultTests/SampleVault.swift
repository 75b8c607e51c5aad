import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// A small vault with items of all tiers in its base and its log, for tests that change its file.
struct SampleVault {
  let test: TestVault
  let path: String
  /// Opens the tiers above T0; `nil` if the device opens all.
  let keyFile: String?

  /// What the vault held after each change, and its file then.
  private(set) var states: [[String: String]] = [[:]]
  private(set) var files: [Data] = []
  private(set) var record = Data()

  /// Makes a vault, in the folder of another one of the same user if that is given.
  init(hasKeyFile: Bool, nextTo other: TestVault? = nil) throws {
    test = try other ?? TestVault()
    path = other.map { $0.folder.path + "/data/keychain/other.db" } ?? test.path
    keyFile = hasKeyFile ? try test.file("key", String(repeating: "k", count: 32)) : nil
    try handle().create(passphrase: nil, keyFile: keyFile, device: true)
    try note()
  }

  /// The usual history: a base with items of all tiers, and changes of each.
  static func filled(hasKeyFile: Bool, nextTo other: TestVault? = nil) throws -> SampleVault {
    var sample = try SampleVault(hasKeyFile: hasKeyFile, nextTo: other)
    try sample.put("t2", "one", .whenUnlocked)
    try sample.put("t1", "one", .afterFirstUnlock)
    try sample.put("t0", "one", .always)
    try sample.put("long", String(repeating: "long", count: 100), .alwaysThisDeviceOnly)
    try sample.compact()
    try sample.put("t2", "two", .whenUnlocked)
    try sample.put("t0", "two", .always, withKeyFile: false)
    try sample.put("t1", "two", .afterFirstUnlock)
    return sample
  }

  func handle(withKeyFile: Bool = true, _ change: (inout Vault.Configuration) -> Void = { _ in })
    -> Vault
  {
    test.handle {
      $0.path = path
      if withKeyFile, let keyFile { $0.unlock = .keyFile(keyFile, named: "the test") }
      change(&$0)
    }
  }

  mutating func put(
    _ account: String, _ secret: String, _ accessibility: Accessibility, withKeyFile: Bool = true
  ) throws {
    try handle(withKeyFile: withKeyFile).put(account, secret, accessibility)
    states.append(states[states.count - 1])
    states[states.count - 1][account] = secret
    try note()
  }

  mutating func compact() throws {
    try handle().compact()
    states.append(states[states.count - 1])
    try note()
  }

  private mutating func note() throws {
    files.append(try Data(contentsOf: URL(filePath: path)))
    record = try Data(contentsOf: URL(filePath: recordPath()))
  }

  private func recordPath() throws -> String {
    try test.seenFolder + "/" + SeenRecord.name(of: TrustedPath(resolving: path).path)
  }

  var file: Data { files[files.count - 1] }
  var state: [String: String] { states[states.count - 1] }

  /// Replaces the file, and the record.
  func replace(by bytes: Data, seen: Bool) throws {
    let temporary = test.folder.path + "/replaced"
    guard
      FileManager.default.createFile(
        atPath: temporary, contents: bytes, attributes: [.posixPermissions: 0o600]),
      rename(temporary, path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
    let record = try recordPath()
    if seen {
      try self.record.write(to: URL(filePath: record))
    } else {
      try? FileManager.default.removeItem(atPath: record)
    }
  }

  /// What a user finds in the file.
  func look() -> VaultView {
    var view = VaultView()
    let handle = handle()
    for account in Set(states.joined().map(\.key)) {
      view.items[account] = Result { try handle.text(account) }
    }
    view.verified = Result { try handle.verify().isIntact }
    return view
  }
}

/// What a user finds in a vault whose file was changed.
struct VaultView {
  var items: [String: Result<String?, any Error>] = [:]
  var verified: Result<Bool, any Error> = .success(true)

  /// The codes that may report what was changed.
  private static let codes: Set<KeychainError.Code> = [
    .damaged, .foreign, .unsupportedFormat, .rolledBack, .locked, .incorrectSecret, .noStore,
  ]

  var isComplete: Bool { items.values.allSatisfy { (try? $0.get()) != nil || $0.isSuccess } }

  /// The number of the state from which all that was read is; `nil` if there is none.
  func state(of states: [[String: String]], only accounts: Set<String>? = nil) -> Int? {
    states.lastIndex { state in
      items.allSatisfy { account, found in
        guard accounts?.contains(account) ?? true, case .success(let value) = found else {
          return true
        }
        return value == state[account]
      }
    }
  }

  /// What must never be: values of no state, other errors, and damage that a verification doesn't find.
  func violations(_ states: [[String: String]], only accounts: Set<String>? = nil) -> [String] {
    var violations: [String] = []
    for case .failure(let error) in Array(items.values) {
      guard let error = error as? KeychainError, Self.codes.contains(error.code) else {
        violations.append("\(error)")
        continue
      }
    }
    if state(of: states, only: accounts) == nil {
      violations.append("values of no state: \(items.mapValues { try? $0.get() })")
    }
    if case .success(true) = verified, !isComplete {
      violations.append("verified, but not readable")
    }
    return violations
  }

  var outcome: String {
    if isComplete { return "all read" }
    let codes = items.values.compactMap { result -> String? in
      guard case .failure(let error as KeychainError) = result else { return nil }
      return "\(error.code)"
    }
    return Set(codes).sorted().joined(separator: ", ")
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
