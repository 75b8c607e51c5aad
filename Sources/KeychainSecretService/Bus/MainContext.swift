internal import CLibsecret

/// A queue of GLib's events that one thread works off: answers and signals arrive here.
@safe
final class MainContext {
  private let pointer: OpaquePointer
  private let library: Libsecret

  /// Makes a queue and lets the calling thread's calls answer to it, until ``end()``.
  init?(_ library: Libsecret) {
    guard let pointer = library.functions.g_main_context_new() else { return nil }
    unsafe self.pointer = pointer
    self.library = library
    unsafe library.functions.g_main_context_push_thread_default(pointer)
  }

  deinit { unsafe library.functions.g_main_context_unref(pointer) }

  /// Must be called by the thread that made the queue, after everything in it has ended.
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

  /// Wakes the waiting thread now and then while `body` runs, so that it can look at a clock.
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

// @unchecked Sendable because only `wakeUp` is called by other threads, which GLib allows.
extension MainContext: @unchecked Sendable {}
