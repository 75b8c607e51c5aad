internal import Foundation

/// The last good answer of a URL, with what the server needs to tell whether it is still valid.
struct RemoteCopy: Codable, Hashable, Sendable {
  private static let currentVersion = 1

  private var version = currentVersion

  /// The URL that was asked for.
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

  /// The headers that ask for an answer only if it is another one.
  var conditions: [String: String] {
    var conditions: [String: String] = [:]
    conditions["If-None-Match"] = entityTag
    conditions["If-Modified-Since"] = lastModified
    return conditions
  }

  /// Returns the copy in a file; `nil` if there is none, or it is damaged or of another URL.
  static func read(_ path: String, of url: URL) -> RemoteCopy? {
    guard let data = try? AtomicFile(path: path).read(),
      let copy = try? PropertyListDecoder().decode(RemoteCopy.self, from: data),
      copy.version == currentVersion, copy.url == url
    else { return nil }
    return copy
  }

  /// Replaces the file, which is closed to others if it is new.
  func write(_ path: String) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    try AtomicFile(path: path).write(encoder.encode(self), atomically: true)
  }
}
