internal import Glibc

/// Writes text to a descriptor.
///
/// Returns `false` if writing failed; the reason is in `errno`.
@discardableResult
package func writeAll(_ text: String, to descriptor: Int32) -> Bool {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno != EINTR {
      return false
    }
  }
  return true
}
