internal import FoundationEssentials

/// The name of this program, which is the service of its shared preferences.
///
/// It is the identifier of Foundation's `Bundle.main`, which a program without Foundation does not
/// have, or else the name of the executable. A different answer would lose the credentials of
/// programs, so a test compares both in every kind of directory.
enum ProgramName {
  static let current: String = {
    guard let executable = path(ofLink: "/proc/self/exe") else {
      return ProcessInfo.processInfo.processName
    }
    return identifier(ofBundle: bundle(ofExecutable: executable)) ?? name(in: executable)
  }()

  /// The directories in which `Info.plist` can be, in order: the first that exists decides.
  private static let supportDirectories = ["Contents", "Resources", "Support Files"]

  /// Returns the bundle's directory: that of the executable, unless it is `Contents/Linux`.
  private static func bundle(ofExecutable path: String) -> String {
    let directory = parent(of: path)
    guard name(in: directory) == "Linux", !parent(of: directory).isEmpty else { return directory }
    let outer = parent(of: directory)
    return parent(of: name(in: outer) == "Executables" ? parent(of: outer) : outer)
  }

  private static func identifier(ofBundle directory: String) -> String? {
    let support = supportDirectory(of: directory)
    // These are parts of a bundle, not bundles.
    guard support != nil || !supportDirectories.contains(where: directory.hasSuffix) else {
      return nil
    }
    let path = [directory, support, "Info.plist"].compactMap(\.self).joined(separator: "/")
    // Whoever can write this file can replace the program, so it is read without a limit.
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? PropertyListDecoder().decode(Information.self, from: data).identifier
  }

  /// Like Foundation, this finds names in any case, and links to anything, which then may not open.
  private static func supportDirectory(of directory: String) -> String? {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return supportDirectories.first { name in
      entries.contains { entry in
        guard entry.lowercased() == name.lowercased() else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(entry)")
        let type = attributes?[.type] as? FileAttributeType
        return type == .typeDirectory || type == .typeSymbolicLink
      }
    }
  }

  private struct Information: Decodable {
    let identifier: String

    private enum CodingKeys: String, CodingKey { case identifier = "CFBundleIdentifier" }
  }

  private static func path(ofLink link: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: link)
  }

  private static func name(in path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}
