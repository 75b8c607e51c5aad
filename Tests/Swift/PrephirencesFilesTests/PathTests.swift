import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("Whether a path can be trusted")
struct PathTests {
  private func kind(_ body: () throws -> Void) -> FileError.Kind? {
    do { try body() } catch { return (error as? FileError)?.kind }
    return nil
  }

  /// Returns a new folder whose path has no symbolic links and which others can enter; the
  /// temporary folder may be inside a private one.
  private func folder() throws -> URL {
    let path = URL(filePath: try TrustedPath(resolving: "/tmp").path)
      .appending(path: "path-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return path
  }

  @Test func folderWithoutModeBitsIsClosed() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let closed = folder.path + "/closed"
    #expect(mkdir(closed, 0o700) == 0)
    #expect(ClosedFolder.above(closed + "/not/there") == nil)
    #expect(chmod(closed, 0) == 0)
    #expect(ClosedFolder.above(closed) == closed)
    #expect(ClosedFolder.above(closed + "/not/there") == closed)
    #expect(try HomeFolder(EnvironmentVariables(["HOME": closed])) == .closed(closed))
    #expect(
      try HomeFolder(EnvironmentVariables(["HOME": closed + "/me"])) == .closed(closed + "/me"))
  }

  @Test func linksAreFollowedToTheirEnds() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: "not/../mounted")
    let resolved = try TrustedPath(resolving: folder.path + "/./link/vault")
    #expect(resolved.path == folder.path + "/mounted/vault")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/loop", withDestinationPath: "loop")
    #expect(
      kind { _ = try TrustedPath(resolving: folder.path + "/loop/vault") }
        == .failed(action: "follow", .tooManySymbolicLinkLevels))
  }

  @Test func folderOpenToOthersIsRefused() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let vault = folder.path + "/vault"
    #expect(chmod(folder.path, 0o777) == 0)
    #expect(kind { _ = try TrustedPath(resolving: vault) } == .insecure(.folderOpenToOthers))
    #expect(chmod(folder.path, 0o757) == 0)
    #expect(kind { _ = try TrustedPath(resolving: vault) } == .insecure(.folderOpenToOthers))
    // Like /tmp: others can add files, but cannot replace ours.
    #expect(chmod(folder.path, 0o1777) == 0)
    #expect(try TrustedPath(resolving: vault).path == vault)
  }

  @Test func openFolderBelowPrivateOneIsTrusted() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let inner = folder.path + "/inner"
    #expect(mkdir(inner, 0o777) == 0 && chmod(inner, 0o777) == 0)
    #expect(kind { _ = try TrustedPath(resolving: inner + "/x") } == .insecure(.folderOpenToOthers))
    #expect(chmod(folder.path, 0o700) == 0)
    #expect(try TrustedPath(resolving: inner + "/x").path == inner + "/x")
  }

  @Test func pathThatLeavesPrivateFolderIsChecked() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (closed, open) = (folder.path + "/closed", folder.path + "/open")
    #expect(mkdir(closed, 0o700) == 0)
    #expect(mkdir(open, 0o777) == 0 && chmod(open, 0o777) == 0)
    #expect(symlink(open, closed + "/link") == 0)
    for path in [closed + "/link/vault", closed + "/../open/vault"] {
      #expect(kind { _ = try TrustedPath(resolving: path) } == .insecure(.folderOpenToOthers))
    }
  }

  @Test func madeFolderIsCheckedAgain() throws {
    // Not inside the folder of the test's other files, which other users cannot enter.
    let folder = "/var/tmp/file-test-\(UUID().uuidString)"
    let open = folder + "/open"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // As if another user had created it after its path was checked.
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
    for (path, mode) in [(folder, 0o755), (open, 0o777)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    for path in [open, open + "/folder", open + "/a/b"] {
      let error = #expect(throws: FileError.self) { try PrivateFile.makeFolder(path) }
      #expect(error?.kind == .insecure(.folderOpenToOthers))
    }
    #expect(throws: Never.self) { try PrivateFile.makeFolder(folder + "/own/folder") }
  }

  @Test func fileSystemIsKnown() {
    #expect(FileSystemKind(of: "/proc/self/status").name == "proc")
    #expect(!FileSystemKind(of: "/proc/self/status").isNetwork)
  }
}
