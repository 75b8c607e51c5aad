internal import Glibc

/// How much memory a process can still get, containers and limits included.
///
/// The system promises more memory than it has, and then ends whoever uses it; a password hash must
/// ask before.
enum AvailableMemory {
  /// Bytes; `nil` if nothing is known.
  static func bytes() -> UInt64? {
    ([machine(), addressSpace()] + controlGroups()).compactMap(\.self).min()
  }

  private static func machine() -> UInt64? {
    field("MemAvailable:", in: SystemText.contents(of: "/proc/meminfo")).map { $0 << 10 }
  }

  private static func addressSpace() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != .max,
      let used = field("VmSize:", in: SystemText.contents(of: "/proc/self/status"))
    else { return nil }
    return UInt64(limit.rlim_cur).subtractingOrZero(used << 10)
  }

  /// What each control group of the process, and each above it, leaves; see cgroups(7).
  private static func controlGroups() -> [UInt64?] {
    var found: [UInt64?] = []
    for line in (SystemText.contents(of: "/proc/self/cgroup") ?? "").split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      if fields[1].isEmpty {
        found += groups("/sys/fs/cgroup", String(fields[2]), Version2.left)
      } else if fields[1].split(separator: ",").contains("memory") {
        found += groups("/sys/fs/cgroup/memory", String(fields[2]), Version1.left)
      }
    }
    return found
  }

  private static func groups(
    _ root: String, _ path: String, _ left: (String) -> UInt64?
  ) -> [UInt64?] {
    // In a container the path may name a group that is not visible; the root then is the container's.
    var components = path.split(separator: "/")
    var found = [left(root)]
    while !components.isEmpty {
      found.append(left(root + "/" + components.joined(separator: "/")))
      components.removeLast()
    }
    return found
  }

  private enum Version2 {
    static func left(_ folder: String) -> UInt64? {
      AvailableMemory.left(
        limit: SystemText.number(in: folder + "/memory.max"),
        used: SystemText.number(in: folder + "/memory.current"),
        reclaimable: field(
          "inactive_file", in: SystemText.contents(of: folder + "/memory.stat")))
    }
  }

  private enum Version1 {
    static func left(_ folder: String) -> UInt64? {
      AvailableMemory.left(
        limit: SystemText.number(in: folder + "/memory.limit_in_bytes"),
        used: SystemText.number(in: folder + "/memory.usage_in_bytes"),
        reclaimable: field(
          "total_inactive_file", in: SystemText.contents(of: folder + "/memory.stat")))
    }
  }

  private static func left(limit: UInt64?, used: UInt64?, reclaimable: UInt64?) -> UInt64? {
    guard let limit, let used else { return nil }
    return limit.subtractingOrZero(used.subtractingOrZero(reclaimable ?? 0))
  }

  /// The first number after a name at the beginning of a line.
  private static func field(_ name: String, in text: String?) -> UInt64? {
    for line in (text ?? "").split(separator: "\n") {
      let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if fields.count > 1, fields[0] == name { return UInt64(fields[1]) }
    }
    return nil
  }
}

extension UInt64 {
  fileprivate func subtractingOrZero(_ other: UInt64) -> UInt64 {
    self > other ? self - other : 0
  }
}
