internal import Glibc
package import SystemPackage

/// A file without a name, for data that does not fit into memory.
///
/// It is deleted with the value.
package struct SpoolFile: ~Copyable {
  package let descriptor: FileDescriptor

  /// Creates the file in a folder, which is created if needed.
  package init(in folder: String) throws(FileError) {
    try PrivateFile.makeFolder(folder)
    let path = "\(folder)/spool.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    do throws(Errno) {
      descriptor = try PrivateFile.open(path, .readWrite, flags: O_CREAT | O_EXCL)
    } catch {
      throw .failed(error, "make", path)
    }
    unsafe unlink(path)
  }

  deinit { try? descriptor.close() }

  /// Returns to the beginning.
  package func rewind() throws(FileError) {
    guard lseek(descriptor.rawValue, 0, SEEK_SET) == 0 else {
      throw .failed(.current, "read again", "a temporary file")
    }
  }

  /// Writes all of the file to another descriptor.
  package func copy(to target: FileDescriptor) throws(FileError) {
    try rewind()
    do throws(Errno) {
      while case let bytes = try DescriptorIO.read(descriptor, 65536), !bytes.isEmpty {
        try DescriptorIO.write(bytes, to: target)
      }
    } catch {
      throw .failed(error, "write", "the output")
    }
  }
}
