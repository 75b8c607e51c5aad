import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Puts other content in the place of a vault file.
@Suite("Other files in place of a vault", .timeLimit(.minutes(14)))
struct DamagedFileTests {
  @Test func nothing() throws {
    try expect(.noStore) { vault in try replace(vault, by: Data()) }
  }

  @Test func aFolder() throws {
    try expect(.insecurePermissions) { vault in
      try FileManager.default.removeItem(atPath: vault.path)
      try FileManager.default.createDirectory(
        atPath: vault.path, withIntermediateDirectories: false)
    }
  }

  @Test func aPipe() throws {
    try expect(.insecurePermissions) { vault in
      try FileManager.default.removeItem(atPath: vault.path)
      try #require(mkfifo(vault.path, 0o600) == 0)
    }
  }

  @Test(arguments: [("xy", 1), ("some text\n", 1), ("a long text\n", 1000)])
  func aText(_ text: String, _ count: Int) throws {
    try expect(.foreign) { vault in
      try replace(vault, by: Data(String(repeating: text, count: count).utf8))
    }
  }

  @Test(arguments: [100, 4096, 65536])
  func noise(_ count: Int) throws {
    var random = SplitMix(state: UInt64(count))
    let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    try expect(.foreign) { vault in try replace(vault, by: noise) }
  }

  @Test func aDatabase() throws {
    try expect(.unsupportedFormat) { vault in
      try replace(vault, by: Data("SQLite format 3\0".utf8) + Data(count: 4080))
    }
  }

  @Test func aVaultOfANewerFormat() throws {
    let error = try expect(.unsupportedFormat) { vault in
      var bytes = try Data(contentsOf: URL(filePath: vault.path))
      bytes[8] = 4
      try replace(vault, by: bytes)
    }
    #expect(error?.message.contains("format 4") ?? false, "\(error as Any)")
  }

  /// Expects reads and writes to fail with a code, and to change nothing.
  @discardableResult
  private func expect(
    _ code: KeychainError.Code, _ change: (TestVault) throws -> Void
  ) throws -> KeychainError? {
    let vault = try TestVault()
    try vault.handle().put("a", "one")
    try change(vault)
    let before = try contents(of: vault)
    let error = #expect(throws: KeychainError.self) { try vault.handle().text("a") }
    #expect(error?.code == code)
    for call in [
      { try vault.handle().put("a", "two") }, { try vault.handle().search(CredentialQuery()) },
      { try vault.handle().verify() }, { try vault.handle().remove(.test("a")) },
    ] as [() throws -> Any] {
      let error = #expect(throws: KeychainError.self) { try call() }
      #expect(error?.code == code)
    }
    #expect(try contents(of: vault) == before)
    return error
  }

  private func contents(of vault: TestVault) throws -> [String: Data?] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: vault.folder.path)
    return Dictionary(
      uniqueKeysWithValues: paths.filter { !$0.hasPrefix("state") }.map {
        let path = vault.folder.path + "/" + $0
        var isFile = stat()
        stat(path, &isFile)
        let isRegular = isFile.st_mode & S_IFMT == S_IFREG
        return ($0, isRegular ? FileManager.default.contents(atPath: path) : nil)
      })
  }

  private func replace(_ vault: TestVault, by bytes: Data) throws {
    let made = FileManager.default.createFile(
      atPath: vault.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    try #require(made)
  }
}
