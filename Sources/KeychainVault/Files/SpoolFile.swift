internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// A file without a name, for what does not fit into memory; it is gone with the value.
struct SpoolFile: ~Copyable {
  let descriptor: FileDescriptor

  /// Makes the file in a folder, which is made if need be.
  init(in folder: String) throws(KeychainError) {
    try PrivateFile.makeFolder(folder)
    let path = "\(folder)/spool.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    do throws(Errno) {
      descriptor = try PrivateFile.open(path, .readWrite, flags: O_CREAT | O_EXCL)
    } catch {
      throw .system(error, "make", path)
    }
    unsafe unlink(path)
  }

  deinit { try? descriptor.close() }

  /// Goes back to the beginning.
  func rewind() throws(KeychainError) {
    guard lseek(descriptor.rawValue, 0, SEEK_SET) == 0 else {
      throw .system(.current, "read again", "a temporary file")
    }
  }

  /// Writes all that is in the file to another descriptor.
  func copy(to target: FileDescriptor) throws(KeychainError) {
    try rewind()
    do throws(Errno) {
      while case let bytes = try DescriptorIO.read(descriptor, 65536), !bytes.isEmpty {
        try DescriptorIO.write(bytes, to: target)
      }
    } catch {
      throw .system(error, "write", "the output")
    }
  }
}
