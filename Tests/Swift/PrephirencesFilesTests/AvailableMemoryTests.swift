import Foundation
import Testing

@testable import PrephirencesSystem

@Suite("Available memory")
final class AvailableMemoryTests {
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
    return groups.left().compactMap(\.self).min()
  }

  @Test func version2CountsParentsAndReclaimableMemory() throws {
    try make("a", ["memory.max": "1000", "memory.current": "400"])
    try make(
      "a/b",
      [
        "memory.max": "2000", "memory.current": "500",
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
        "memory.limit_in_bytes": "1000", "memory.usage_in_bytes": "900",
        "memory.stat": "inactive_file 1\ntotal_inactive_file 50",
      ])
    #expect(left("5:cpu,cpuacct:/x\n4:memory:/a\n0::/") == 150)
    #expect(left("5:cpu:/a") == nil)
  }

  /// In a container without its own namespace, only its own part is mounted.
  @Test func invisiblePathCountsAsRoot() throws {
    try make("", ["memory.max": "1000", "memory.current": "1"])
    #expect(left("0::/docker/abc") == 999)
  }

  @Test func withoutFilesNothingIsKnown() {
    #expect(left("0::/a") == nil)
    #expect(left("") == nil)
    #expect(left("nonsense") == nil)
  }

  @Test func availableMemoryIsKnown() throws {
    #expect(try #require(AvailableMemory.bytes()) > 1 << 20)
  }
}
