import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Synchronization
import Testing

/// How a process ends whose threads use the client.
@Suite struct ExitTests {
  private static let server = Mutex<EtcdServer?>(nil)
  private static let calls = Counter()

  @Test func aProcessExitsDuringCalls() async {
    await #expect(processExitsWith: .success) {
      // Registered before libcurl is loaded, it runs after the libraries have freed what they have.
      atexit {
        usleep(300_000)
        ExitTests.server.withLock { $0?.end() }
      }
      let server = try EtcdServer(usesTLS: true)
      ExitTests.server.withLock { $0 = server }
      let configuration = server.configuration
      for _ in 0..<4 {
        try DetachedThread.start(named: "calls") {
          while true {
            // Each client has a connection of its own.
            _ = try? EtcdClient(configuration).range(.one([1]), deadline: .test)
            ExitTests.calls.add()
          }
        }
      }
      while ExitTests.calls.value < 8 { usleep(1000) }
      exit(0)
    }
  }

  /// A thread may be about to initialize libcurl, between the handlers of OpenSSL and of the client.
  @Test func openSSLFreesNothingWhenAProcessExits() async {
    await #expect(processExitsWith: .success) {
      // Registered before libcurl is loaded, it runs after the handlers that came with that.
      atexit {
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> CInt
        guard let curl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD),
          let function = dlsym(curl, "OPENSSL_init_crypto")
        else { _exit(2) }
        let initialize = unsafeBitCast(function, to: Initialize.self)
        if initialize(0, nil) != 1 { _exit(3) }
      }
      let server = try EtcdServer(usesTLS: true)
      _ = try EtcdClient(server.configuration).range(.one([1]), deadline: .test)
      server.end()
      exit(0)
    }
  }

  @Test func aProcessExitsWhileACallWaits() async {
    await #expect(processExitsWith: .success) {
      // An exit that waits for the answer ends by the signal.
      let hasRequest = DispatchSemaphore(value: 0)
      let server = try FakeServer { connection, _ in
        _ = connection.request()
        hasRequest.signal()
        sleep(60)
      }
      let client = server.client
      try DetachedThread.start(named: "call") { _ = try? client.range(.one([1]), deadline: .test) }
      hasRequest.wait()
      alarm(8)
      exit(0)
    }
  }
}
