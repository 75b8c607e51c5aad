import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("Watching files")
struct WatchTests {
  /// A folder that is removed with the object.
  private final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "/watch-test-\(UUID().uuidString)"

    init() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Adds more notifications than the kernel keeps.
    func overflow() throws {
      let text = try String(
        contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let limit = try #require(Int(text.filter(\.isNumber)))
      for _ in 0...(limit / 2) {
        #expect(mknod(path + "/other", S_IFREG | 0o600, 0) == 0)
        #expect(unlink(path + "/other") == 0)
      }
    }
  }

  private func write(_ path: String) {
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    #expect(Glibc.write(file, "x", 1) == 1)
    close(file)
  }

  @Test func anOverflowIsAChange() throws {
    let folder = try Folder()
    let path = folder.path + "/file"
    let watch = try FileWatch { path }
    defer { watch.close() }
    try folder.overflow()
    #expect(watch.wait() == .changed)
    for _ in 0..<2 {
      write(path)
      #expect(watch.wait() == .changed)
    }
  }

  /// The queue has no room for the notification of the end.
  @Test func anOverflowDoesNotHideTheEnd() throws {
    let folder = try Folder()
    let watch = try FileWatch { [path = folder.path + "/file"] in path }
    defer { watch.close() }
    try folder.overflow()
    watch.cancel()
    #expect(watch.wait(1000) == .ended)
  }

  @Test func foldersMayComeAndGo() throws {
    let folder = try Folder()
    let (top, path) = (folder.path + "/a", folder.path + "/a/b/c/file")
    let watch = try FileWatch { path }
    defer { watch.close() }
    for _ in 0..<3 {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/a/b/c", withIntermediateDirectories: true)
      #expect(watch.wait() == .changed)
      write(path)
      #expect(watch.wait() == .changed)
      try FileManager.default.moveItem(atPath: top, toPath: folder.path + "/away")
      #expect(watch.wait() == .changed)
      try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: top)
      #expect(watch.wait() == .changed)
      write(path)
      #expect(watch.wait() == .changed)
      try FileManager.default.removeItem(atPath: top)
      #expect(watch.wait() == .changed)
      // A file in the place of a folder.
      write(top)
      #expect(watch.wait() == .changed)
      #expect(unlink(top) == 0)
      #expect(watch.wait() == .changed)
    }
  }

  @Test func allFilesOfAFolderAreWatched() throws {
    let folder = try Folder()
    let watch = try FileWatch(withSuffixes: nil, noticesEachWrite: true) {
      [path = folder.path + "/any"] in path
    }
    defer { watch.close() }
    #expect(watch.takeChanges() == [])
    write(folder.path + "/one")
    #expect(watch.wait() == .changed)
    let changes = watch.takeChanges()
    #expect(changes?.map(\.name) == ["one", "one"])
    #expect(Set(changes?.map(\.isWrite) ?? []) == [false, true])
    #expect(watch.wait(1) == .changed)
    #expect(watch.takeChanges() == [])
    let away = folder.path + "-away"
    #expect(rename(folder.path, away) == 0)
    #expect(watch.wait() == .changed)
    #expect(watch.takeChanges() == nil)
    #expect(rename(away, folder.path) == 0)
    #expect(watch.wait() == .changed)
    #expect(watch.takeChanges() == nil)
  }

  @Test func failedFoldersAreReported() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let path = folder.path + "/file"
      let watch = try FileWatch { path }
      // poll(2) accepts no more files than the process may have.
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      limit.rlim_cur = 1
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      #expect(watch.wait() == .failed(.invalidArgument))
    }
  }
}
