internal import Foundation

/// Runs a function on several threads at the same time, and waits for all.
///
/// Uses plain threads, whose start and end the thread sanitizer recognizes.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let threads = (0..<count).map { number in
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work { body(number) })
    let status = pthread_create(
      &thread, nil,
      { raw in
        raw.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, work.toOpaque())
    precondition(status == 0, "no thread")
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

private final class Work: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
