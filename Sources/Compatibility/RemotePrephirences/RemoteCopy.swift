internal import Foundation

/// The last valid answer of a URL, and the data with which the server decides whether it is still
/// current.
struct RemoteCopy: Codable, Hashable, Sendable {
  private static let currentVersion = 1

  private var version = currentVersion

  /// The requested URL.
  let url: URL

  let entityTag: String?
  let lastModified: String?
  let body: Data

  init(url: URL, _ response: RemoteResponse) {
    self.url = url
    entityTag = response.headers["etag"]
    lastModified = response.headers["last-modified"]
    body = response.body
  }

  /// The headers that request an answer only if it has changed.
  var conditions: [String: String] {
    var conditions: [String: String] = [:]
    conditions["If-None-Match"] = entityTag
    conditions["If-Modified-Since"] = lastModified
    return conditions
  }

  /// Reads the copy in a file; `nil` if the file is missing, damaged, or of another URL.
  static func read(_ path: String, of url: URL) -> RemoteCopy? {
    guard let data = try? AtomicFile(path: path).read(),
      let copy = try? PropertyListDecoder().decode(RemoteCopy.self, from: data),
      copy.version == currentVersion, copy.url == url
    else { return nil }
    return copy
  }

  /// Replaces the file; a new file is readable by its owner only.
  func write(_ path: String) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    try AtomicFile(path: path).write(encoder.encode(self), atomically: true)
  }
}
