internal import Glibc

/// The memory that a process can still get; the system promises more than it has, and ends
/// processes that use it.
package enum AvailableMemory {
  /// The number of bytes; `nil` if unknown.
  package static func bytes() -> UInt64? {
    let machine = SystemText.field("MemAvailable:", in: "/proc/meminfo").map { $0 << 10 }
    return ([machine, addressSpace()] + ControlGroups().left()).compactMap(\.self).min()
  }

  private static func addressSpace() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != .max, let used = SystemText.field("VmSize:", in: "/proc/self/status")
    else { return nil }
    return UInt64(limit.rlim_cur) - min(UInt64(limit.rlim_cur), used << 10)
  }
}

/// The memory that the control groups of a process leave to it; see cgroups(7).
struct ControlGroups {
  /// The groups, one hierarchy per line.
  var membership = SystemText.contents(of: "/proc/self/cgroup") ?? ""

  /// Where the hierarchies are mounted.
  var root = "/sys/fs/cgroup"

  /// Returns the bytes left in each group of the process and in those above; `nil` for one without
  /// a limit.
  func left() -> [UInt64?] {
    membership.split(separator: "\n").flatMap { line -> [UInt64?] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let path = String(fields[2])
      if fields[1].isEmpty {
        return left(root, path, limit: "memory.max", used: "memory.current", "inactive_file")
      }
      guard fields[1].split(separator: ",").contains("memory") else { return [] }
      return left(
        root + "/memory", path, limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes",
        "total_inactive_file")
    }
  }

  /// A container may show only its own group, as the root: missing groups have no limit.
  private func left(
    _ root: String, _ path: String, limit: String, used: String, _ reclaimable: String
  ) -> [UInt64?] {
    let components = path.split(separator: "/")
    return (0...components.count).map { count in
      let folder = ([root] + components.prefix(count).map(String.init)).joined(separator: "/")
      guard let limit = SystemText.number(in: "\(folder)/\(limit)"),
        let used = SystemText.number(in: "\(folder)/\(used)")
      else { return nil }
      let reclaimable = SystemText.field(reclaimable, in: folder + "/memory.stat") ?? 0
      return limit - min(limit, used - min(used, reclaimable))
    }
  }
}

extension SystemText {
  /// Returns the first number after a name at the beginning of a line of a file.
  fileprivate static func field(_ name: String, in path: String) -> UInt64? {
    let lines = (contents(of: path) ?? "").split(separator: "\n")
    let fields = lines.lazy.map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
    return fields.first { $0.count > 1 && $0[0] == name }.flatMap { UInt64($0[1]) }
  }
}
