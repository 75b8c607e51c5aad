import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Secrets in files and from descriptors")
final class SecretFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("secret-file-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  @Test func fileIsReplacedAndPrivate() throws {
    let path = path("out")
    try Data("old and longer".utf8).write(to: URL(fileURLWithPath: path))
    try write("new", to: path)
    #expect(FileManager.default.contents(atPath: path) == Data("new".utf8))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try names() == ["out"])
  }

  @Test func symbolicLinkIsNotFollowed() throws {
    try write("old", to: path("target"))
    try FileManager.default.createSymbolicLink(
      atPath: path("link"), withDestinationPath: path("target"))
    let error = #expect(throws: KeychainError.self) { try write("new", to: path("link")) }
    #expect(error?.code == .refused)
    #expect(FileManager.default.contents(atPath: path("target")) == Data("old".utf8))
  }

  @Test func folderAndMissingFolderAreErrors() throws {
    #expect(throws: KeychainError.self) { try write("new", to: folder.path) }
    let error = #expect(throws: KeychainError.self) { try write("new", to: path("none/out")) }
    #expect(error?.code == .inputOutput)
  }

  @Test func newFileReplacesNothing() throws {
    try SecretBytes(copying: "one").write(toNewFile: path("key"), readers: .owner)
    #expect(throws: KeychainError.self) {
      try SecretBytes(copying: "two").write(toNewFile: path("key"), readers: .owner)
    }
    #expect(FileManager.default.contents(atPath: path("key")) == Data("one".utf8))
  }

  @Test(arguments: [
    ("pass", "pass"), ("pass\n", "pass"), ("pass\r\n", "pass"), ("p\n\n", "p\n"), ("\n", ""),
  ])
  func oneNewlineIsNotPartOfAPassphrase(_ contents: String, _ passphrase: String) throws {
    try write(contents, to: path("p"))
    let read = try ProtectedFile(path: path("p"), by: nil).passphrase(
      named: "--new-passphrase-file")
    #expect(read.isEqual(to: try SecretBytes(copying: passphrase)))
  }

  @Test func passphraseFileOpenToOthersIsRefused() throws {
    try write("pass", to: path("p"))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path("p"))
    let error = #expect(throws: KeychainError.self) {
      _ = try ProtectedFile(path: path("p"), by: nil)
    }
    #expect(error?.code == .insecurePermissions)
    #expect(error?.recoverySuggestion?.contains("chmod 600") == true)
  }

  @Test func descriptorIsReadOnce() throws {
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data("pass\n".utf8))
    try pipe.fileHandleForWriting.close()
    let source = PassphraseDescriptor(
      pipe.fileHandleForReading.fileDescriptor, name: "--passphrase-fd", by: nil)
    let expected = try SecretBytes(copying: "pass")
    for _ in 1...2 { #expect(try source.passphrase().isEqual(to: expected)) }
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  private func write(_ text: String, to path: String) throws {
    try SecretOutput(path: path, overwrites: true, timeout: .zero, readers: .owner).write(
      try SecretBytes(copying: text), addingNewline: false)
  }
}
