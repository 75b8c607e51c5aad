internal import Foundation

/// A running program, and the Debian package that installed it.
struct InstalledProgram: Hashable {
  /// The path of the program, if the system reports it.
  let path: String?

  /// The last part of the path, because the kernel's name of a process is limited to 15 bytes.
  var name: String? { path.flatMap { $0.split(separator: "/").last }.map { String($0) } }

  /// The package with that path.
  var package: String?

  /// The version of the package.
  var version: String?

  init(process: Int32) {
    path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
    guard let path, let package = Self.package(of: path) else { return }
    self.package = package
    version = Self.version(of: package)
  }

  private static let database = "/var/lib/dpkg"

  /// Searches packages' lists of installed files.
  private static func package(of path: String) -> String? {
    let folder = database + "/info"
    let lists = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // Packages that were built before /bin became a link list files in it.
    let short = path.hasPrefix("/usr/") ? String(path.dropFirst(4)) : path
    let wanted = [path, short].map { Data("\n\($0)\n".utf8) }
    for list in lists where list.hasSuffix(".list") {
      guard let files = FileManager.default.contents(atPath: "\(folder)/\(list)"),
        wanted.contains(where: { files.range(of: $0) != nil })
      else { continue }
      return String(list.dropLast(".list".count)).split(separator: ":").first.map { String($0) }
    }
    return nil
  }

  private static func version(of package: String) -> String? {
    guard let status = FileManager.default.contents(atPath: database + "/status"),
      let start = status.range(of: Data("Package: \(package)\n".utf8)),
      let end = status.range(of: Data("\n\n".utf8), in: start.upperBound..<status.endIndex)
    else { return nil }
    let entry = String(decoding: status[start.upperBound..<end.lowerBound], as: UTF8.self)
    let prefix = "Version: "
    return entry.split(separator: "\n").first { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
  }
}
