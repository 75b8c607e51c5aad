import Foundation
import Testing

@testable import KeychainVault

@Suite("Limits of memory by control groups")
final class ControlGroupTests {
  private let root = FileManager.default.temporaryDirectory
    .appending(path: "control-groups-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: root) }

  private func make(_ group: String, _ files: [String: String]) throws {
    let folder = root.appending(path: group)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in files {
      try Data("\(text)\n".utf8).write(to: folder.appending(path: name))
    }
  }

  private func left(_ membership: String) -> UInt64? {
    var groups = ControlGroups(membership: membership)
    groups.root = root.path
    groups.process = 42
    return groups.left().compactMap(\.self).min()
  }

  @Test func version2CountsParentsAndReclaimableMemory() throws {
    try make("", ["cgroup.procs": "1"])
    try make("a", ["memory.max": "1000", "memory.current": "400", "cgroup.procs": "7"])
    try make(
      "a/b",
      [
        "memory.max": "2000", "memory.current": "500", "cgroup.procs": "41\n42",
        "memory.stat": "anon 1\ninactive_file 300",
      ])
    #expect(left("0::/a/b") == 600)
    try make("a", ["memory.max": "max"])
    #expect(left("0::/a/b") == 1800)
    try make("a/b", ["memory.current": "9000"])
    #expect(left("0::/a/b") == 0)
  }

  @Test func version1HasAHierarchyOfItsOwn() throws {
    try make(
      "memory/a",
      [
        "memory.limit_in_bytes": "1000", "memory.usage_in_bytes": "900", "cgroup.procs": "42",
        "memory.stat": "inactive_file 1\ntotal_inactive_file 50",
      ])
    #expect(left("5:cpu,cpuacct:/x\n4:memory:/a\n0::/") == 150)
    #expect(left("5:cpu:/a") == nil)
  }

  /// In a container without its own namespace, only its own part is mounted.
  @Test func invisiblePathCountsAsRoot() throws {
    try make("", ["memory.max": "1000", "memory.current": "1", "cgroup.procs": "42"])
    #expect(left("0::/docker/abc") == 999)
  }

  @Test func aGroupThatANamespaceHidesIsFound() throws {
    try make("", ["cgroup.procs": "1"])
    try make("a", ["cgroup.procs": ""])
    try make("a/b", ["memory.max": "1000", "memory.current": "1", "cgroup.procs": "42"])
    #expect(left("0::/") == 999)
    #expect(left("0::/../elsewhere") == 999)
    try make("a/b", ["cgroup.procs": "421"])
    #expect(left("0::/") == nil)
  }

  @Test func withoutFilesNothingIsKnown() {
    #expect(left("0::/a") == nil)
    #expect(left("") == nil)
    #expect(left("nonsense") == nil)
  }
}
