public import Foundation

/// The programs of this package that tests run.
public enum TestPrograms {
  /// Returns the place of a program: in the folder that `PREPHIRENCES_PROGRAMS` names, so that the
  /// same tests run release programs, or else next to the tests.
  public static func url(_ name: String) throws -> URL {
    if let folder = ProcessInfo.processInfo.environment["PREPHIRENCES_PROGRAMS"], !folder.isEmpty {
      return URL(filePath: folder).appending(path: name)
    }
    let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: test).deletingLastPathComponent().appending(path: name)
  }
}
