internal import Glibc
internal import PrephirencesCommandLine

/// Where programs look for a netrc file.
enum NetrcPlaces {
  /// The `.netrc` file in the folder that `HOME` names, or else in the account's; `nil` if there is none.
  static var usual: String? {
    (Environment.value("HOME") ?? accountFolder).flatMap(netrc)
  }

  /// All netrc files that programs read: SwiftPM takes the one in the account's folder, whatever `HOME`
  /// names, and others the file that `NETRC` names.
  static var all: [String] {
    let named = Environment.value("NETRC").flatMap { access($0, F_OK) == 0 ? $0 : nil }
    var paths: [String] = []
    for path in [usual, accountFolder.flatMap(netrc), named].compactMap(\.self)
    where !paths.contains(path) {
      paths.append(path)
    }
    return paths
  }

  /// Those of them that other users can read.
  static var openToOthers: [String] {
    all.filter { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }
  }

  private static func netrc(in folder: String) -> String? {
    let path = folder.hasSuffix("/") ? folder + ".netrc" : folder + "/.netrc"
    return access(path, F_OK) == 0 ? path : nil
  }

  private static var accountFolder: String? {
    guard let entry = getpwuid(geteuid()), let folder = entry.pointee.pw_dir else { return nil }
    return String(validatingCString: folder)
  }
}
