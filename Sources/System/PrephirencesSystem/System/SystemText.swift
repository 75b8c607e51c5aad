internal import SystemPackage

/// Reads small text files of the kernel, whose sizes are not known beforehand.
package enum SystemText {
  package static func contents(of path: String) -> String? {
    guard
      let descriptor = try? FileDescriptor.open(
        FilePath(path), .readOnly, options: [.closeOnExec, .noFollow])
    else { return nil }
    defer { try? descriptor.close() }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while let count = unsafe try? chunk.withUnsafeMutableBytes({
      try unsafe descriptor.read(into: $0)
    }),
      count > 0, text.count < 1 << 22
    {
      text += chunk.prefix(count)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the number that is the whole content of a file.
  package static func number(in path: String) -> UInt64? {
    contents(of: path).flatMap { UInt64($0.trimmingSuffix("\n")) }
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: Character) -> Substring {
    last == suffix ? dropLast() : self[...]
  }
}
