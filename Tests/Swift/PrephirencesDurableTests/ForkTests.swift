import Foundation
import PrephirencesDurable
import Testing

/// What a program leaves behind that forks without `exec`.
@Suite struct ForkTests {
  /// The child may use nothing of its parent, so it would only keep others from writing.
  @Test func childOfAKilledWriterKeepsNoLock() async {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      // Swift forbids to call it by name.
      let address = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
      var ends: [CInt] = [0, 0]
      #expect(pipe(&ends) == 0)
      let writer = fork()
      if writer == 0 {
        let store = folder.store()
        try? store.transaction { transaction in
          try transaction.set(1, forKey: "key")
          if fork() == 0 {
            close(ends[1])
            var byte: UInt8 = 0
            _ = read(ends[0], &byte, 1)
            _exit(0)
          }
          // As if killed: nothing is unlocked.
          _exit(0)
        }
        _exit(1)
      }
      var status: Int32 = -1
      waitpid(writer, &status, 0)
      #expect(status == 0)
      let store = folder.otherStore()
      try store.storeObject(2, forKey: "key")
      #expect(store["key"] as? Int == 2)
      close(ends[1])
    }
  }
}
