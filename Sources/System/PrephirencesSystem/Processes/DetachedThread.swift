internal import Glibc
package import SystemPackage

/// Starts threads that nobody waits for.
///
/// Foundation's `Thread` does not report that the system has no more threads.
package enum DetachedThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  package static func start(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) throws(Errno) {
    let body = unsafe Unmanaged.passRetained(
      Body {
        setName(name)
        body()
      })
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    guard code == 0 else {
      unsafe body.release()
      throw Errno(rawValue: code)
    }
    pthread_detach(thread)
  }

  private static func setName(_ name: String) {
    guard
      let file = unsafe try? FileDescriptor.open(
        "/proc/thread-self/comm", .writeOnly, options: .closeOnExec)
    else { return }
    try? DescriptorIO.write(Array(name.utf8), to: file)
    try? file.close()
  }
}
