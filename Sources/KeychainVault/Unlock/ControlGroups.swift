internal import Glibc
internal import PrephirencesFiles

/// The memory that the control groups of a process leave to it; see cgroups(7).
struct ControlGroups {
  /// The contents of `/proc/self/cgroup`: the groups, one hierarchy per line.
  let membership: String

  /// Where the hierarchies are mounted.
  var root = "/sys/fs/cgroup"

  var process = getpid()

  init(membership: String? = nil) {
    self.membership = membership ?? SystemText.contents(of: "/proc/self/cgroup") ?? ""
  }

  /// Returns the bytes left in each group of the process and each group above it; `nil` for a group
  /// without a limit.
  func left() -> [UInt64?] {
    var found: [UInt64?] = []
    for line in membership.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      if fields[1].isEmpty {
        found += groups(root, String(fields[2])).map(Version2.left)
      } else if fields[1].split(separator: ",").contains("memory") {
        found += groups(root + "/memory", String(fields[2])).map(Version1.left)
      }
    }
    return found
  }

  /// Returns the folders of a group and of those above it.
  private func groups(_ root: String, _ path: String) -> [String] {
    // In a container the path may name a group that is not visible; then the root is the
    // container's.
    var components = place(root, path).split(separator: "/")
    var found = [root]
    while !components.isEmpty {
      found.append(root + "/" + components.joined(separator: "/"))
      components.removeLast()
    }
    return found
  }

  /// Returns the path of the group below the root.
  ///
  /// In a namespace of control groups, as bubblewrap creates one, the path begins at the namespace,
  /// but the mount may begin above it, at the machine's root. Then the group is the one that lists
  /// the process.
  private func place(_ root: String, _ path: String) -> String {
    guard !lists(root + path) else { return path }
    var waiting = [""]
    var looked = 0
    while looked < min(waiting.count, Self.mostGroups) {
      let group = waiting[looked]
      if lists(root + group) { return group }
      waiting += Self.subfolders(of: root + group).map { group + "/" + $0 }
      looked += 1
    }
    return path
  }

  /// A search of more groups than this would take too long.
  private static let mostGroups = 5000

  private func lists(_ folder: String) -> Bool {
    let processes = SystemText.contents(of: folder + "/cgroup.procs") ?? ""
    return processes.split(separator: "\n").contains { Int32($0) == process }
  }

  private static func subfolders(of path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private enum Version2 {
    static func left(_ folder: String) -> UInt64? {
      ControlGroups.left(
        limit: SystemText.number(in: folder + "/memory.max"),
        used: SystemText.number(in: folder + "/memory.current"),
        reclaimable: SystemText.field(
          "inactive_file", in: SystemText.contents(of: folder + "/memory.stat")))
    }
  }

  private enum Version1 {
    static func left(_ folder: String) -> UInt64? {
      ControlGroups.left(
        limit: SystemText.number(in: folder + "/memory.limit_in_bytes"),
        used: SystemText.number(in: folder + "/memory.usage_in_bytes"),
        reclaimable: SystemText.field(
          "total_inactive_file", in: SystemText.contents(of: folder + "/memory.stat")))
    }
  }

  private static func left(limit: UInt64?, used: UInt64?, reclaimable: UInt64?) -> UInt64? {
    guard let limit, let used else { return nil }
    return limit.subtractingOrZero(used.subtractingOrZero(reclaimable ?? 0))
  }
}

extension SystemText {
  /// Returns the first number after a name at the beginning of a line.
  static func field(_ name: String, in text: String?) -> UInt64? {
    for line in (text ?? "").split(separator: "\n") {
      let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if fields.count > 1, fields[0] == name { return UInt64(fields[1]) }
    }
    return nil
  }
}

extension UInt64 {
  func subtractingOrZero(_ other: UInt64) -> UInt64 {
    self > other ? self - other : 0
  }
}
