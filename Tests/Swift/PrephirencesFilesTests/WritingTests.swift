import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("Files that appear whole or not at all")
final class WritingTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "/writing-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var path: String { folder + "/file" }

  private func text() -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  private func writer(_ text: String) -> (FileDescriptor) throws(Errno) -> Void {
    { descriptor throws(Errno) in try DescriptorIO.write(Array(text.utf8), to: descriptor) }
  }

  private func failing(_ descriptor: FileDescriptor) throws(Errno) {
    try DescriptorIO.write([1], to: descriptor)
    throw .noSpace
  }

  @Test func newFileReplacesNothing() throws {
    try PrivateFile.create(path, writer("one"))
    let error = #expect(throws: FileError.self) { try PrivateFile.create(path, writer("two")) }
    #expect(error == FileError(.alreadyExists, path))
    #expect(try PrivateFile.createIfAbsent(path, writer("three")) == false)
    #expect(text() == "one")
    #expect(try names() == ["file"])
  }

  @Test func newFileIsNotMadeOverDanglingLink() throws {
    #expect(symlink("nowhere", path) == 0)
    #expect(throws: FileError.self) { try PrivateFile.create(path, writer("one")) }
    #expect(try names() == ["file"])
  }

  @Test func replacementIsPrivateAndLeavesNothing() throws {
    try Data("old and longer".utf8).write(to: URL(filePath: path))
    #expect(chmod(path, 0o644) == 0)
    try PrivateFile.replace(path, writer("new"))
    #expect(text() == "new")
    #expect(try Stat(FilePath(path)).permissions.rawValue == 0o600)
    #expect(try names() == ["file"])
  }

  @Test func replacementTakesPlaceOfNothing() throws {
    try PrivateFile.replace(path, writer("new"))
    #expect(text() == "new")
  }

  @Test func replacementReplacesLinkItself() throws {
    #expect(symlink("target", path) == 0)
    try PrivateFile.replace(path, writer("new"))
    #expect(try Stat(FilePath(path), followTargetSymlink: false).type == .regular)
    #expect(try names() == ["file"])
  }

  @Test func failedWriteKeepsOldFile() throws {
    try PrivateFile.create(path, writer("old"))
    let error = #expect(throws: FileError.self) { try PrivateFile.replace(path, failing) }
    #expect(error == .failed(.noSpace, "write", path))
    #expect(text() == "old")
    #expect(throws: FileError.self) { try PrivateFile.create(folder + "/new", failing) }
    #expect(try names() == ["file"])
  }

  private var temporary: String { PrivateFile.temporaryName(for: path) }

  /// A process that was killed between two system calls leaves it, with a secret.
  @Test func leftoverIsRemovedByTheNextFile() throws {
    try Data("secret".utf8).write(to: URL(filePath: temporary))
    try PrivateFile.create(path, writer("one"))
    #expect(try names() == ["file"])
    try Data("secret".utf8).write(to: URL(filePath: temporary))
    try PrivateFile.replace(path, writer("two"))
    #expect(try names() == ["file"] && text() == "two")
  }

  @Test func fileOfALivingWriterStays() throws {
    try Data("theirs".utf8).write(to: URL(filePath: temporary))
    let lock = try FileLock(exclusive: temporary, deadline: Deadline(after: .zero))
    try PrivateFile.create(path, writer("one"))
    #expect(try names().count == 2)
    extendLifetime(lock)
  }

  @Test func otherFilesStay() throws {
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    #expect(throws: FileError.self) { try PrivateFile.replace(path, writer("new")) }
    try PrivateFile.create(path, writer("new"))
    #expect(try names().count == 2)
  }

  @Test func manyReplaceOneFile() async throws {
    let path = path
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask {
          for _ in 0..<20 {
            #expect(throws: Never.self) {
              try PrivateFile.replace(path) { descriptor throws(Errno) in
                try DescriptorIO.write(Array("\(number)".utf8), to: descriptor)
              }
            }
          }
        }
      }
    }
    #expect(text()?.count == 1)
    #expect(try names() == ["file"])
  }

  @Test func missingFolderIsAnError() {
    let inside = folder + "/none/file"
    let made = #expect(throws: FileError.self) { try PrivateFile.create(inside, writer("new")) }
    #expect(made?.systemError == .noSuchFileOrDirectory)
    let replaced = #expect(throws: FileError.self) {
      try PrivateFile.replace(inside, writer("new"))
    }
    #expect(replaced?.systemError == .noSuchFileOrDirectory)
  }
}
