import Foundation

/// Gives this process a home of its own, which is removed afterwards; for exit tests.
func inOwnHome(_ body: () async throws -> Void) async throws {
  let folder = URL.temporaryDirectory.appending(path: "client.\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: folder) }
  setenv("HOME", folder.path, 1)
  setenv("XDG_CONFIG_HOME", folder.path, 1)
  try await body()
}
