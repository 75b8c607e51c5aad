internal import Foundation

/// A file that is replaced as a whole, so that it is at no time half written.
struct AtomicFile {
  let path: String

  func read() throws(PreferencesError) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "cannot open the file '\(path)'") }
    defer { close(descriptor) }
    do {
      return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data()
    } catch {
      throw PreferencesError(.inputOutput, "cannot read the file '\(path)'")
    }
  }

  /// Writes the file and waits until it is on disk.
  ///
  /// A symbolic link is followed. The file keeps its permissions; a new one is closed to others. If
  /// `atomically`, the old file stays until the new one is complete.
  func write(_ data: Data, atomically: Bool) throws(PreferencesError) {
    let target = try target()
    guard atomically else {
      return try Self.write(data, to: target, O_WRONLY | O_CREAT | O_TRUNC)
    }
    let folder = (target as NSString).deletingLastPathComponent
    let temporary = "\(target).\(UInt64.random(in: .min ... .max)).tmp"
    do throws(PreferencesError) {
      try Self.write(data, to: temporary, O_WRONLY | O_CREAT | O_EXCL, like: target)
      guard rename(temporary, target) == 0 else {
        throw PreferencesError.system(errno, "cannot replace the file '\(target)'")
      }
    } catch {
      unlink(temporary)
      throw error
    }
    try Self.synchronize(folder: folder.isEmpty ? "." : folder)
  }

  /// The path at the end of symbolic links, which need not exist.
  private func target() throws(PreferencesError) -> String {
    var path = path
    for _ in 0..<40 {
      guard
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      else { return path }
      let folder = (path as NSString).deletingLastPathComponent as NSString
      path = link.hasPrefix("/") ? link : folder.appendingPathComponent(link)
    }
    throw .system(ELOOP, "cannot write the file '\(path)'")
  }

  private static func write(
    _ data: Data, to path: String, _ flags: Int32, like model: String? = nil
  ) throws(PreferencesError) {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno, "cannot write the file '\(path)'") }
    defer { close(descriptor) }
    var status = stat()
    if let model, stat(model, &status) == 0 {
      // Only the superuser can keep the owner; nobody else makes it worse.
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      fchmod(descriptor, status.st_mode & 0o7777)
    }
    do {
      try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: data)
    } catch {
      throw PreferencesError(.inputOutput, "cannot write the file '\(path)'")
    }
    guard fsync(descriptor) == 0 else { throw .system(errno, "cannot write the file '\(path)'") }
  }

  /// Makes the names in a folder durable; without it, a replaced file may come back.
  private static func synchronize(folder: String) throws(PreferencesError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "cannot open the folder '\(folder)'") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw .system(errno, "cannot write the folder '\(folder)'")
    }
  }
}
