import Foundation

/// The machine of a run; ratios can be compared between machines, times cannot.
struct Machine: Codable {
  let date: String
  let processor: String
  let processorCount: Int
  let kernel: String
  let fileSystem: String
  let loadBefore: Double
  var loadAfter: Double

  init(folder: String) {
    date = ISO8601DateFormatter().string(from: Date())
    processor = Self.field("model name", in: "/proc/cpuinfo") ?? "unknown processor"
    processorCount = ProcessInfo.processInfo.processorCount
    kernel = Self.text("/proc/sys/kernel/osrelease") ?? "unknown"
    fileSystem = Self.fileSystem(of: folder)
    loadBefore = Self.load
    loadAfter = loadBefore
  }

  /// One line below a drawing.
  var summary: String {
    "Medians, measured in turns; \(processor), \(processorCount) processors, Linux \(kernel), load \(loadBefore)."
  }

  /// The load average of the last minute.
  static var load: Double {
    text("/proc/loadavg")?.split(separator: " ").first.flatMap { Double($0) } ?? .nan
  }

  private static func text(_ path: String) -> String? {
    (try? String(contentsOfFile: path, encoding: .utf8))?
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func field(_ name: String, in path: String) -> String? {
    text(path)?.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: ":").last
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Returns the type of the file system of the run's vaults, from the longest mount point.
  private static func fileSystem(of folder: String) -> String {
    let mounts = (text("/proc/mounts") ?? "").split(separator: "\n").map {
      $0.split(separator: " ")
    }
    let above = mounts.filter {
      $0.count > 2 && (folder + "/").hasPrefix($0[1] == "/" ? "/" : $0[1] + "/")
    }
    return above.max { $0[1].count < $1[1].count }.map { String($0[2]) } ?? "unknown"
  }
}
