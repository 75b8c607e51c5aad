import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("A folder that is recognised")
struct KnownFolderTests {
  /// A folder with a file, whose path was checked once.
  private final class Checked {
    let above: URL
    let path: String
    let folder: KnownFolder

    init() throws {
      above = URL(filePath: try TrustedPath(resolving: "/tmp").path)
        .appending(path: "known-folder-\(UUID().uuidString)")
      path = above.path + "/folder"
      // Others can enter it; below a closed folder, nothing is open to them.
      #expect(mkdir(above.path, 0o755) == 0)
      try PrivateFile.makeFolder(path)
      try Data("ours".utf8).write(to: URL(filePath: path + "/file"))
      folder = KnownFolder(path)
      #expect(try content() == "ours")
    }

    deinit { try? FileManager.default.removeItem(at: above) }

    /// What the file has that is opened; `nil` if there is none.
    func content() throws -> String? {
      guard let file = try folder.open("file", .readOnly) else { return nil }
      return try file.closeAfter {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
        return String(decoding: bytes[..<count], as: UTF8.self)
      }
    }
  }

  @Test func aMissingFileIsNil() throws {
    let checked = try Checked()
    try FileManager.default.removeItem(atPath: checked.path + "/file")
    #expect(try checked.content() == nil)
  }

  @Test func aRemovedFolderIsMadeAgain() throws {
    let checked = try Checked()
    try FileManager.default.removeItem(atPath: checked.path)
    #expect(try checked.content() == nil)
    #expect(try PrivateFile.inspect(checked.path + "/file") == nil)
    #expect(FileManager.default.fileExists(atPath: checked.path))
  }

  @Test func anotherFolderInItsPlaceIsChecked() throws {
    let checked = try Checked()
    try FileManager.default.moveItem(atPath: checked.path, toPath: checked.path + "-old")
    #expect(mkdir(checked.path, 0o700) == 0)
    try Data("theirs".utf8).write(to: URL(filePath: checked.path + "/file"))
    #expect(chmod(checked.path, 0o777) == 0)
    #expect(throws: FileError.self) { try checked.content() }
    // One that others cannot write is as good as the first.
    #expect(chmod(checked.path, 0o700) == 0)
    #expect(try checked.content() == "theirs")
  }

  @Test func aFolderThatIsOpenedToOthersIsNotRecognised() throws {
    let checked = try Checked()
    #expect(chmod(checked.path, 0o777) == 0)
    #expect(throws: FileError.self) { try checked.content() }
  }

  @Test func aLinkIsNotFollowed() throws {
    let checked = try Checked()
    try FileManager.default.moveItem(
      atPath: checked.path + "/file", toPath: checked.path + "/other")
    try FileManager.default.createSymbolicLink(
      atPath: checked.path + "/file", withDestinationPath: "other")
    #expect(throws: FileError.self) { try checked.content() }
  }
}
