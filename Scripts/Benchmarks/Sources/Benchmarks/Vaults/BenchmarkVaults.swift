import Foundation
import Keychain

/// The vaults of a run, in separate folders.
struct BenchmarkVaults {
  struct Failure: Error {}

  let folder: String
  let small = 1_000

  /// The number of items of what reads or writes all of them.
  let whole = 10_000

  /// An empty folder in memory, where filling a vault does not use a disk.
  let memory: String

  let large: Int

  var smallPath: String { path(small) }
  var largePath: String { path(large) }

  /// The numbers of items of all vaults.
  var sizes: [Int] { [100, small, whole] + (large > whole ? [large] : []) }

  /// The vault with this number of items.
  func path(_ count: Int) -> String { folder + "/\(count)/vault" }

  static func identity(_ number: Int, service: String = "bench") -> CredentialIdentity {
    .genericPassword(service: service, account: "account-\(number)")
  }

  static func secret(_ number: Int) throws -> SecretBytes {
    try SecretBytes(copying: "secret number \(number), as long as a token")
  }

  /// Returns a handle that asks no questions and waits as long as filling takes.
  static func handle(_ path: String, passphraseFile: String? = nil) -> Vault {
    Vault(
      configuration: .init(
        path: path, deadline: .seconds(600),
        unlock: passphraseFile.map { .passphraseFile($0, named: "the benchmark") }))
  }

  /// Creates and fills the vaults; the device key opens each.
  func make() throws {
    let vault = memory + "/vault"
    var count = 0
    for size in sizes {
      // Each is the one before with more items.
      try fill(vault, from: count, to: size)
      try makeFolder((path(size) as NSString).deletingLastPathComponent)
      try FileManager.default.copyItem(atPath: vault, toPath: path(size))
      count = size
    }
  }

  /// Returns the number of the format in which this release writes a vault.
  func format() throws -> Int {
    let path = memory + "/format.db"
    try fill(path, from: 0, to: 1)
    // After the eight bytes that name a vault.
    let bytes = try Data(contentsOf: URL(filePath: path)).dropFirst(8).prefix(4)
    return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// The passphrase file of vaults with a passphrase, and of exports.
  var passphraseFile: String { folder + "/passphrase" }

  static func passphrase() throws -> SecretBytes {
    try SecretBytes(copying: "the passphrase of the benchmarks")
  }

  func writePassphraseFile() throws {
    try Data("the passphrase of the benchmarks".utf8).write(to: URL(filePath: passphraseFile))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: passphraseFile)
  }

  /// Copies a vault's file, for the bare store.
  func copy(_ path: String, _ name: String) throws -> String {
    let copy = folder + "/" + name
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  private func fill(_ path: String, from first: Int, to end: Int) throws {
    try Self.handle(path).withTransaction { transaction in
      for number in first..<end {
        try transaction.set(Credential(Self.identity(number)), secret: Self.secret(number))
      }
    }
  }

  /// Replaces items until one more would bring a new base, so that the log is as long as it gets.
  func fillLog(_ vault: Vault, _ path: String, count size: Int) throws {
    var number = 0
    let set = {
      number += 1
      let item = number * 7919 % size
      try vault.set(Credential(Self.identity(item)), secret: Self.secret(item))
    }
    let untilBase = {
      let file = try Self.fileNumber(path)
      var count = 0
      repeat {
        try set()
        count += 1
      } while try Self.fileNumber(path) == file
      return count
    }
    _ = try untilBase()
    for _ in 1..<(try untilBase()) { try set() }
  }

  /// Names the file that has the name now: a new base is another one.
  private static func fileNumber(_ path: String) throws -> UInt64 {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
  }
}
