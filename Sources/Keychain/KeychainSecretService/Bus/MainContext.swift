internal import CLibsecret

/// A queue of GLib's events for one thread, in which answers and signals arrive.
@safe
final class MainContext {
  private let pointer: OpaquePointer
  private let library: Libsecret

  /// Creates a queue, which receives the answers to the calling thread's calls until ``end()``.
  init?(_ library: Libsecret) {
    guard let pointer = library.functions.g_main_context_new() else { return nil }
    unsafe self.pointer = pointer
    self.library = library
    unsafe library.functions.g_main_context_push_thread_default(pointer)
  }

  deinit { unsafe library.functions.g_main_context_unref(pointer) }

  /// Ends the queue.
  ///
  /// Call it on the thread that created the queue, after everything in it has ended.
  func end() {
    unsafe library.functions.g_main_context_pop_thread_default(pointer)
  }

  /// Waits for an event and handles it.
  func waitForEvent() {
    _ = unsafe library.functions.g_main_context_iteration(pointer, 1)
  }

  /// Ends a wait, from any thread.
  func wakeUp() {
    unsafe library.functions.g_main_context_wakeup(pointer)
  }

  /// Wakes the waiting thread regularly while `body` runs, so that it can check the time.
  func ticking<Result>(_ milliseconds: UInt32, _ body: () -> Result) -> Result {
    let functions = library.functions
    guard let source = functions.g_timeout_source_new(milliseconds) else { return body() }
    unsafe functions.g_source_set_callback(source, { _ in 1 }, nil, nil)
    _ = unsafe functions.g_source_attach(source, pointer)
    defer {
      unsafe functions.g_source_destroy(source)
      unsafe functions.g_source_unref(source)
    }
    return body()
  }
}

// @unchecked Sendable because other threads call only `wakeUp`, which GLib allows.
extension MainContext: @unchecked Sendable {}
