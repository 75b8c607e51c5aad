internal import Foundation

/// Returns a path from the root of the file system.
func absolutePath(_ path: String) -> String {
  guard !path.hasPrefix("/") else { return path }
  return FileManager.default.currentDirectoryPath + "/" + path
}
