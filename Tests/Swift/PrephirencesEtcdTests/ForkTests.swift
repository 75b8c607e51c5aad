import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Testing

/// What a forked process may do with the clients of its parent.
@Suite struct ForkTests {
  @Test func aForkedProcessIsRefused() async {
    await #expect(processExitsWith: .success) {
      let server = try FakeServer { connection, _ in
        while connection.request() != nil { connection.answer("{\(FakeServer.header)}") }
      }
      let client = server.client
      _ = try client.range(.one([1]), deadline: .test)
      // Swift forbids to call it by name.
      let address = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
      let child = fork()
      if child == 0 {
        do {
          _ = try client.range(.one([1]), deadline: .test)
        } catch { _exit((error as? EtcdError)?.code == .forked ? 0 : 2) }
        _exit(1)
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0)
      _ = try client.range(.one([1]), deadline: .test)
    }
  }
}
