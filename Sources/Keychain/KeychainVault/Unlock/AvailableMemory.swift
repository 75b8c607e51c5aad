internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// The cost of new passphrase slots, and whether a hash can be computed now.
enum PasswordHashPolicy {
  /// The memory that a process needs in addition to the hash.
  private static let margin: UInt64 = 16 << 20

  /// Returns the cost of a new slot: moderate, or interactive if memory is short.
  static func parametersForNewSlot() throws(KeychainError) -> PasswordHash.Parameters {
    if fits(.moderate) { return .moderate }
    try requireMemory(for: .interactive)
    return .interactive
  }

  /// Checks that a hash fits into memory, so that the system does not end the process.
  static func requireMemory(for parameters: PasswordHash.Parameters) throws(KeychainError) {
    guard fits(parameters) else { throw .passwordHashMemory(parameters) }
  }

  private static func fits(_ parameters: PasswordHash.Parameters) -> Bool {
    AvailableMemory.bytes().map { $0 >= parameters.memory + margin } ?? true
  }
}

/// How much memory a process can still get: the system promises more than it has, and ends processes that use it.
enum AvailableMemory {
  /// Bytes; `nil` if unknown.
  static func bytes() -> UInt64? {
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

  var process = getpid()

  /// The bytes left in each group of the process and each above it; `nil` for one without a limit.
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

  private func left(
    _ root: String, _ path: String, limit: String, used: String, _ reclaimable: String
  ) -> [UInt64?] {
    // In a container the path may name a group that is not visible; then the root is the
    // container's.
    let components = place(root, path).split(separator: "/")
    return (0...components.count).map { count in
      let folder = ([root] + components.prefix(count).map(String.init)).joined(separator: "/")
      guard let limit = SystemText.number(in: "\(folder)/\(limit)"),
        let used = SystemText.number(in: "\(folder)/\(used)")
      else { return nil }
      let reclaimable = SystemText.field(reclaimable, in: folder + "/memory.stat") ?? 0
      return limit - min(limit, used - min(used, reclaimable))
    }
  }

  /// If the path begins at a namespace, and the mount above it, as in bubblewrap, the group is who lists the process.
  private func place(_ root: String, _ path: String) -> String {
    guard !lists(root + path) else { return path }
    var waiting = [""]
    var looked = 0
    // A search of more groups would take too long.
    while looked < min(waiting.count, 5000) {
      let group = waiting[looked]
      if lists(root + group) { return group }
      waiting += Self.subfolders(of: root + group).map { group + "/" + $0 }
      looked += 1
    }
    return path
  }

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
}

extension SystemText {
  /// Returns the first number after a name at the beginning of a line of a file.
  fileprivate static func field(_ name: String, in path: String) -> UInt64? {
    let lines = (contents(of: path) ?? "").split(separator: "\n")
    let fields = lines.lazy.map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
    return fields.first { $0.count > 1 && $0[0] == name }.flatMap { UInt64($0[1]) }
  }
}
